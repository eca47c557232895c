// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The matrix atoms of the variants that have some.
#pragma once

#include <array>

#include "tenon/plugin.h"

namespace tenon::planted {

constexpr tn_matrix_atom make_atom(uint32_t id, uint32_t k, tn_dtype from, tn_dtype to) {
  constexpr uint32_t kThreads = 8, kSide = 8;
  tn_matrix_atom atom{};
  atom.struct_size = sizeof atom;
  atom.id = id;
  atom.m = atom.n = kSide;
  atom.k = k;
  atom.a_dtype = atom.b_dtype = from;
  atom.accumulator_dtype = to;
  atom.scope = TN_SCOPE_SUBGROUP;
  atom.subgroup = kThreads;
  atom.a_lanes = atom.b_lanes = kSide * k / kThreads;
  atom.c_lanes = kSide * kSide / kThreads;
  return atom;
}
/// Of two subgroups; operands stay in shared memory.
constexpr tn_matrix_atom make_tile_atom(uint32_t id, uint32_t n, uint32_t k, tn_dtype from) {
  constexpr uint32_t kThreads = 16;
  tn_matrix_atom atom = make_atom(id, k, from, TN_DTYPE_F32);
  atom.n = n;
  atom.scope = TN_SCOPE_BLOCK;
  atom.subgroup = kThreads;
  atom.a_lanes = atom.b_lanes = 1;
  atom.c_lanes = atom.m * n / kThreads;
  return atom;
}
constexpr tn_matrix_atom make_dot(uint32_t k, tn_dtype x, tn_dtype y, tn_dtype to) {
  tn_matrix_atom atom = make_atom(0, k, x, to);
  atom.b_dtype = y;
  atom.m = atom.n = 1;
  atom.scope = TN_SCOPE_THREAD;
  atom.a_lanes = atom.b_lanes = k;
  atom.c_lanes = atom.subgroup = 1;
  return atom;
}
inline constexpr std::array kAtoms = {make_atom(1, 8, TN_DTYPE_F16, TN_DTYPE_F32),
                                      make_atom(2, 16, TN_DTYPE_I8, TN_DTYPE_I32),
                                      make_atom(3, 8, TN_DTYPE_F16, TN_DTYPE_F16)};
/// The second one has rows of b in two columns of lines.
inline constexpr std::array kTileAtoms = {make_tile_atom(4, 16, 16, TN_DTYPE_F16),
                                          make_tile_atom(5, 64, 8, TN_DTYPE_F32)};
inline constexpr std::array kDots = {make_dot(4, TN_DTYPE_U8, TN_DTYPE_I8, TN_DTYPE_I32),
                                     make_dot(2, TN_DTYPE_BF16, TN_DTYPE_BF16, TN_DTYPE_F32),
                                     make_dot(4, TN_DTYPE_I8, TN_DTYPE_I8, TN_DTYPE_I32),
                                     make_dot(2, TN_DTYPE_I16, TN_DTYPE_I16, TN_DTYPE_I32)};

/// Of a subgroup, or of several.
constexpr const tn_matrix_atom* find_atom(uint32_t id) {
  for (const tn_matrix_atom& atom : kAtoms)
    if (atom.id == id) return &atom;
  for (const tn_matrix_atom& atom : kTileAtoms)
    if (atom.id == id) return &atom;
  return nullptr;
}

struct MatrixShape {
  uint32_t rows, columns, lanes;
};
constexpr MatrixShape shape_of(const tn_matrix_atom& a, uint64_t role) {
  if (role == TN_MATRIX_A) return {a.m, a.k, a.a_lanes};
  if (role == TN_MATRIX_B) return {a.k, a.n, a.b_lanes};
  return {a.m, a.n, a.c_lanes};
}

}  // namespace tenon::planted
