// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of products: matrix products, batched ones, and convolutions written as such.
#pragma once

#include <optional>

#include "core/ir/node.hpp"

namespace tenon::scheduling {

class SizeEstimate;

/// The MUL whose results a sum adds, which may be cast first; null if it adds something else.
const Node* product_of(const Node& reduce);

/// Whether both factors of such a product are repeated: each is read for many results.
bool is_contraction(const Node& reduce);

/// What a node reads by casts, or by casts and views, alone.
const Node& behind_casts(const Node& node);
const Node& behind_moves(const Node& node);

/// Results of a matrix product: rows that one factor has, columns that the other has, times what
/// both have.
struct ProductSizes {
  double rows = 1, columns = 1, batch = 1;

  /// Tiles of the results, `size` each way or as wide as they are.
  double tiles(double size) const;
};
/// Nothing where a factor is no plain expansion.
std::optional<ProductSizes> product_sizes(const Node& reduce, const SizeEstimate& estimate);

}  // namespace tenon::scheduling
