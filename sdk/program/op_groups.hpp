// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Groups of optional ops that backends claim together. Groups are explicit lists: a new row of
// ops.def is in no group, so no backend claims it until it is listed.
#pragma once

#include <algorithm>
#include <array>

#include "tenon/program.h"

namespace tenon::sdk {

/// Arithmetic that every processor has.
inline constexpr std::array kArithmeticOps = {TN_OP_NEG, TN_OP_SUB,   TN_OP_FDIV,
                                              TN_OP_SHL, TN_OP_SHR,   TN_OP_CMPEQ,
                                              TN_OP_MIN, TN_OP_TRUNC, TN_OP_FLOOR};
/// Functions of a math library.
inline constexpr std::array kMathOps = {TN_OP_EXP, TN_OP_LN, TN_OP_COS};
/// Rounded once.
inline constexpr std::array kFusedOps = {TN_OP_FMA};
inline constexpr std::array kVectorOps = {TN_OP_BROADCAST, TN_OP_EXTRACT, TN_OP_COMPOSE,
                                          TN_OP_LANE_REDUCE};
inline constexpr std::array kWorkgroupOps = {TN_OP_BARRIER};
inline constexpr std::array kSubgroupOps = {TN_OP_SUBGROUP_SHUFFLE, TN_OP_SUBGROUP_REDUCE,
                                            TN_OP_SUBGROUP_BROADCAST};
inline constexpr std::array kMatrixOps = {TN_OP_MATRIX_LOAD, TN_OP_MATRIX_MULTIPLY,
                                          TN_OP_MATRIX_STORE};
inline constexpr std::array kAsyncOps = {TN_OP_ASYNC_COPY, TN_OP_ASYNC_COMMIT, TN_OP_ASYNC_WAIT};

/// The ops of all groups.
template <size_t... Counts>
constexpr auto concat(const std::array<tn_opcode, Counts>&... groups) {
  std::array<tn_opcode, (Counts + ...)> all{};
  auto at = all.begin();
  ((at = std::ranges::copy(groups, at).out), ...);
  return all;
}

constexpr bool is_matrix_op(uint16_t op) {
  return std::ranges::find(kMatrixOps, op) != kMatrixOps.end();
}

}  // namespace tenon::sdk
