// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sum of products as matrix atoms take it.
#pragma once

#include <array>

#include "core/ir/capabilities.hpp"
#include "core/kernel/tree/kernel.hpp"

namespace tenon {

/// The factor of a product that is a matrix: rows are m (A) or k (B), columns k (A) or n (B).
struct MatrixOperand {
  KValueRef load;
  int64_t stride = 0;  ///< between rows, or between columns if transposed
  bool transposed = false;
  bool lines = false;  ///< rows are cut into lines; then stride is between columns of lines
  int64_t down() const { return transposed ? 1 : stride; }    ///< from row to row, without lines
  int64_t across() const { return transposed ? stride : 1; }  ///< from column to column
};

struct MatrixProduct {
  MatrixOperand a, b;
};

/// Whether what is stored into a kept tile could be stored at points that are not real too: each
/// has a place of its own.
bool can_be_whole(const Kernel& kernel, int tile);

/// Empty if the reduction is a sum of products of loads along these axes, that need no masks; else
/// what was expected.
std::string check_matrix(Kernel& kernel, const Statement& reduction, int m, int n, int k);
/// Of a reduction that check_matrix found in order.
MatrixProduct matrix_product(const Kernel& kernel, const Statement& reduction, int m, int n, int k);

/// m, n and k of a reduction that was tensorized; each -1 if it was not.
std::array<int, 3> matrix_axes(const Kernel& kernel, const Statement& reduction);

/// Whether sums are carried through an ordered iteration that is not real, of a split or padding:
/// what scales them is not stored there.
bool carries_unreal(const Kernel& kernel);

/// An axis of a loop with iterations between sums that are carried and the loop that carries them;
/// -1: there is none.
int loop_around_carried(Kernel& kernel);

/// The device's atom for a reduction whose innermost axes are bound to matrix; null if there is
/// none. `m`, `n`, `k`: extents.
const MatrixAtom* find_atom(const Kernel& kernel, const Statement& reduction,
                            const MatrixProduct& product, int m, int n, int k, int64_t threads,
                            const Capabilities& capabilities);

}  // namespace tenon
