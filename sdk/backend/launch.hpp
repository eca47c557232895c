// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The signature of a launch, and checks of commands for all backends.
#pragma once

#include <cstdint>
#include <vector>

#include "sdk/backend/backend.hpp"

namespace tenon::sdk {

/// The data of a program that checks of its launches need.
struct LaunchSignature {
  struct Argument {
    uint32_t kind = 0;       ///< tn_param_kind
    uint32_t alignment = 1;  ///< bytes, of a buffer's first element
    uint64_t bytes = 0;      ///< minimum size of a buffer
    uint32_t access = 0;     ///< TN_ACCESS_ bits
  };
  LaunchSignature() = default;
  explicit LaunchSignature(const ProgramView& program);
  std::vector<Argument> arguments;
  uint32_t workgroup[3] = {1, 1, 1};
};

/// Throws TN_ERROR_INVALID_ARGUMENT unless [offset, offset + size) is inside the memory. A size of
/// 0 needs no memory.
void check_range(const tn_memory* memory, uint64_t offset, uint64_t size, const char* what);

/// Throws TN_ERROR_INVALID_ARGUMENT if a launch does not match its executable: number, kinds or
/// sizes of arguments, ranges outside their memory, the block, a cluster or dynamic shared memory.
/// The caller must check the alignment of buffers.
void check_launch(const tn_command& command, const LaunchSignature& signature);

}  // namespace tenon::sdk
