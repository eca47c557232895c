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
inline constexpr std::array kAtoms = {make_atom(1, 8, TN_DTYPE_F16, TN_DTYPE_F32),
                                      make_atom(2, 16, TN_DTYPE_I8, TN_DTYPE_I32),
                                      make_atom(3, 8, TN_DTYPE_F16, TN_DTYPE_F16)};

constexpr const tn_matrix_atom* find_atom(uint32_t id) {
  for (const tn_matrix_atom& atom : kAtoms)
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
