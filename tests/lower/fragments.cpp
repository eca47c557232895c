// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/lower/fragments.hpp"

#include <stdexcept>
#include <utility>

#include "sdk/program/view.hpp"
#include "tenon/program.h"

namespace tenon::test {

FragmentLayout::FragmentLayout(const MatrixAtom& atom, uint64_t role)
    : rows_(role == TN_MATRIX_B ? atom.k : atom.m),
      columns_(role == TN_MATRIX_A ? atom.k : atom.n),
      lanes_(role == TN_MATRIX_A   ? atom.a_lanes
             : role == TN_MATRIX_B ? atom.b_lanes
                                   : atom.c_lanes),
      threads_(atom.subgroup) {
  if (lanes_ * threads_ % (rows_ * columns_) != 0)
    throw std::runtime_error("expected fragments that hold each element equally often");
}

int FragmentLayout::element(int thread, int lane) const {
  const int count = rows_ * columns_;
  // Sizes are powers of two, so an odd factor only changes the order.
  return (lane * threads_ + thread) * 5 % count ^ 1;
}

int64_t matrix_offset(const tn_op& op, int64_t r, int64_t c, int64_t stride) {
  if (op.imm & TN_MATRIX_TRANSPOSED) std::swap(r, c);
  if (!(op.imm & TN_MATRIX_PIECES)) return r * stride + c;
  const int64_t piece = 16 / sdk::dtype_bytes(op.dtype);  // of a load: operands have no others
  return c / piece * stride + r * piece + c % piece;
}

}  // namespace tenon::test
