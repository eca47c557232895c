// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/lower/fragments.hpp"

#include <stdexcept>
#include <utility>

#include "core/ir/scalar_op.hpp"
#include "sdk/program/view.hpp"
#include "tenon/program.h"

namespace tenon::test {

FragmentLayout::FragmentLayout(const MatrixAtom& atom, uint64_t role)
    : rows_(role == TN_MATRIX_B ? atom.k : atom.m),
      columns_(role == TN_MATRIX_A ? atom.k : atom.n),
      lanes_(role == TN_MATRIX_A   ? atom.a_lanes
             : role == TN_MATRIX_B ? atom.b_lanes
                                   : atom.c_lanes),
      threads_(atom.subgroup),
      told_(atom.layouts[role >> 32]) {
  if (lanes_ * threads_ % (rows_ * columns_) != 0)
    throw std::runtime_error("expected fragments that hold each element equally often");
}

int FragmentLayout::element(int thread, int lane) const {
  if (told_) {
    const auto along = [&](const FragmentDigits& d) {
      const int low = lane / d.lane_step % d.lanes, high = lane / d.more_step % d.more;
      return low + d.lanes * (thread / d.thread_step % d.threads + d.threads * high);
    };
    return along(told_->rows) * columns_ + along(told_->columns);
  }
  const int count = rows_ * columns_;
  // Sizes are powers of two, so an odd factor only changes the order.
  return (lane * threads_ + thread) * 5 % count ^ 1;
}

int64_t matrix_place(const tn_op& op, int64_t index, int64_t r, int64_t c, int64_t stride) {
  if (op.imm & TN_MATRIX_TRANSPOSED) std::swap(r, c);
  if (!(op.imm & TN_MATRIX_LINES)) return index + r * stride + c;
  const int64_t size = sdk::dtype_bytes(op.dtype);  // of a load: operands have no others
  const int64_t line = 128 / size, piece = 16 / size;
  if (index / line % 8 != 0 || stride % (8 * line) != 0)
    throw std::runtime_error("expected a matrix that begins in the first of eight lines");
  const int64_t plain = index + c / line * stride + r * line + c % line;
  return plain ^ plain / line % 8 * piece;
}

std::vector<uint64_t> multiply_add(const MatrixAtom& atom, DType dtype,
                                   const std::vector<Scalar>& a, const std::vector<Scalar>& b,
                                   const std::vector<Scalar>& c) {
  const auto at = [](const std::vector<Scalar>& matrix, int columns, int row, int column) {
    return matrix[static_cast<size_t>(row * columns + column)];
  };
  std::vector<uint64_t> out;
  for (int row = 0; row < atom.m; ++row) {
    for (int column = 0; column < atom.n; ++column) {
      Scalar total = at(c, atom.n, row, column);
      for (int k = 0; k < atom.k; ++k) {
        const Scalar product =
            evaluate_scalar(Op::MUL, dtype, {at(a, atom.k, row, k), at(b, atom.n, k, column)});
        total = evaluate_scalar(Op::ADD, dtype, {total, product});
      }
      out.push_back(total.bits);
    }
  }
  return out;
}

}  // namespace tenon::test
