// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a launch must bring, and the checks of commands that every backend makes.
#pragma once

#include <cstdint>
#include <vector>

#include "sdk/backend/backend.hpp"

namespace tenon::sdk {

/// Made from the program, and all of it that a launch needs to be checked.
struct LaunchSignature {
  struct Argument {
    uint32_t kind = 0;       ///< tn_param_kind
    uint32_t alignment = 1;  ///< bytes, of a buffer's first element
    uint64_t bytes = 0;      ///< least size of a buffer
    uint32_t access = 0;     ///< TN_ACCESS_ bits
  };
  LaunchSignature() = default;
  explicit LaunchSignature(const ProgramView& program);
  std::vector<Argument> arguments;
  uint32_t workgroup[3] = {1, 1, 1};
};

/// Throws TN_ERROR_INVALID_ARGUMENT unless [offset, offset + size) is inside the memory; a size of
/// 0 needs none.
void check_range(const tn_memory* memory, uint64_t offset, uint64_t size, const char* what);

/// Throws TN_ERROR_INVALID_ARGUMENT where a launch does not match what it launches: the number,
/// kinds and sizes of its arguments, ranges outside their memory, another block, a cluster or
/// dynamic shared memory. The alignment of buffers is the caller's to check.
void check_launch(const tn_command& command, const LaunchSignature& signature);

}  // namespace tenon::sdk
