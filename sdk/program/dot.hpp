// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DOT of a program: sums of products of neighbouring lanes.
#pragma once

#include <algorithm>
#include <string>

#include "sdk/program/view.hpp"

namespace tenon::sdk {

/// Lanes of x and y for each lane of the sum. An operand with only these lanes is used for every
/// lane.
inline uint32_t dot_neighbours(const ProgramView& program, const tn_op& op) {
  const auto operands = program.operands(op);
  return std::max(program.op(operands[0]).lanes, program.op(operands[1]).lanes) /
         std::max<uint32_t>(op.lanes, 1);
}

/// Checks a DOT with three visible operands. Returns an error, or "".
std::string check_dot(const ProgramView& program, const tn_op& op);

}  // namespace tenon::sdk
