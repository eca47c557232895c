// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Grid, workgroup and subgroups of a random program.
#pragma once

#include <cstdint>
#include <span>

#include "conformance/cases/choices.hpp"

namespace tenon::conformance::abi {

/// The threads that come to a statement together: in each subgroup, or in the workgroup, all of
/// them or none.
enum class Together { kAlone, kSubgroup, kBlock };

struct ProgramShape {
  std::span<const uint32_t> workgroup, grid;  ///< three axes
  int64_t group = 1, threads = 1;             ///< of a workgroup, of the launch
  uint32_t subgroup = 0;                      ///< 0: none is spoken of
};

/// `is_single`: one thread a workgroup.
ProgramShape draw_shape(Choices& choices, bool is_single);

}  // namespace tenon::conformance::abi
