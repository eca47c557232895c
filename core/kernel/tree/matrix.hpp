// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recognises sums of products that matrix atoms compute.
#pragma once

#include <array>

#include "core/ir/capabilities.hpp"
#include "core/kernel/tree/kernel.hpp"

namespace tenon {

/// An operand of a matrix atom. A has rows m and columns k, B has rows k and columns n.
struct MatrixOperand {
  KValueRef load;
  int64_t stride = 0;  ///< elements between rows, or between columns if transposed
  bool transposed = false;
  bool lines = false;  ///< a swizzled tile, whose stride is between columns of lines
  int64_t down() const { return transposed ? 1 : stride; }    ///< row stride, if not lines
  int64_t across() const { return transposed ? stride : 1; }  ///< column stride, if not lines
};

struct MatrixProduct {
  MatrixOperand a, b;
};

/// True if the stores to a materialised tile may run at out-of-range points too: each point has an
/// element of its own in the tile.
bool can_zero_fill(const Kernel& kernel, int tile);

/// Checks that the reduction is a sum of products of loads along these axes that need no masks.
/// Returns what was expected, or an empty string.
std::string check_matrix(Kernel& kernel, const Statement& reduction, int m, int n, int k);
/// The operands of a reduction that passed check_matrix.
MatrixProduct matrix_product(const Kernel& kernel, const Statement& reduction, int m, int n, int k);

/// Axes m, n and k of a tensorized reduction; all -1 for others.
std::array<int, 3> matrix_axes(const Kernel& kernel, const Statement& reduction);

/// True if a loop that carries accumulators has out-of-range iterations: their scale is not stored
/// there.
bool carries_out_of_range(const Kernel& kernel);

/// Axis of a loop, of more than one iteration, between a carried reduction and the loop that
/// carries it; -1 if there is none.
int loop_around_carried(Kernel& kernel);

/// The device's atom for a reduction along axes `m`, `n`, `k`; null if there is none.
const MatrixAtom* find_atom(const Kernel& kernel, const Statement& reduction,
                            const MatrixProduct& product, int m, int n, int k, int64_t threads,
                            const Capabilities& capabilities);

}  // namespace tenon
