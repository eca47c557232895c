// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix fragments in a layout that no device has, where the atom says none: which element is in
// which lane of which thread is nobody's business then, so a program that counts on one is wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/ir/capabilities.hpp"
#include "tenon/program.h"

namespace tenon::test {

/// One operand of an atom, spread over the lanes of a subgroup's threads.
class FragmentLayout {
 public:
  FragmentLayout(const MatrixAtom& atom, uint64_t role);
  int rows() const { return rows_; }
  int columns() const { return columns_; }
  int lanes() const { return lanes_; }
  /// Element number (row * columns + column) in a lane of a thread; some may be there twice.
  int element(int thread, int lane) const;

 private:
  int rows_, columns_, lanes_, threads_;
  std::optional<AtomLayout> told_;
};

/// Of element (r, c) from the index of a MATRIX_LOAD or MATRIX_STORE, in the memory's elements.
int64_t matrix_place(const tn_op& op, int64_t index, int64_t r, int64_t c, int64_t stride);

/// a*b + c of an atom's whole matrices, in the accumulator's dtype.
std::vector<uint64_t> multiply_add(const MatrixAtom& atom, DType dtype,
                                   const std::vector<Scalar>& a, const std::vector<Scalar>& b,
                                   const std::vector<Scalar>& c);

}  // namespace tenon::test
