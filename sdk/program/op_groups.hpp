// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Optional ops that backends claim together. A group is written out and closed: who claims it knows
// what it holds, and a new row of ops.def, being in none, is claimed by nobody until it is listed.
#pragma once

#include <algorithm>
#include <array>

#include "tenon/program.h"

namespace tenon::sdk {

/// Arithmetic that every processor has.
inline constexpr std::array kArithmeticOps = {TN_OP_NEG, TN_OP_SUB,   TN_OP_FDIV,
                                              TN_OP_SHL, TN_OP_SHR,   TN_OP_CMPEQ,
                                              TN_OP_MIN, TN_OP_TRUNC, TN_OP_FLOOR};
/// Functions of a library.
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

/// The ops of all groups, and more ops by their codes.
template <size_t... Counts>
constexpr auto joined(const std::array<tn_opcode, Counts>&... groups) {
  std::array<tn_opcode, (Counts + ...)> all{};
  auto at = all.begin();
  ((at = std::ranges::copy(groups, at).out), ...);
  return all;
}

constexpr bool is_matrix_op(uint16_t op) {
  return std::ranges::find(kMatrixOps, op) != kMatrixOps.end();
}

}  // namespace tenon::sdk
