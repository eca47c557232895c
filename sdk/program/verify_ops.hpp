// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The second half of verify_program: limits, and checks of the ops of a block with valid header,
// sections and params.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sdk/program/view.hpp"

namespace tenon::sdk {

inline constexpr size_t kMaxProgramBytes = size_t{64} << 20;
inline constexpr uint32_t kMaxProgramOps = 1u << 20;
inline constexpr uint32_t kMaxProgramParams = 1u << 12;
inline constexpr uint32_t kMaxProgramLanes = 1024;
inline constexpr uint32_t kMaxProgramNesting = 64;
inline constexpr uint64_t kMaxProgramThreads = 1u << 16;
inline constexpr uint64_t kMaxAllocationBytes = uint64_t{1} << 31;

/// `out_op`, if not null, gets the number of the op of an error.
std::string verify_ops(const ProgramView& program, uint32_t* out_op = nullptr);
/// A C identifier of at most 255 characters.
bool is_program_name(std::string_view text);

}  // namespace tenon::sdk
