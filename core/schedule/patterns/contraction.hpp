// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of products: matrix products, batched ones, and convolutions written as such.
#pragma once

#include <optional>

#include "core/ir/node.hpp"

namespace tenon::scheduling {

class SizeEstimate;

/// The MUL whose results a sum adds, through casts; null if it adds something else.
const Node* product_of(const Node& reduce);

/// True for a sum of products whose factors are both broadcast: each is read for many results.
bool is_contraction(const Node& reduce);

/// The first node below `node` that is no cast; or that is neither a cast nor a view.
const Node& strip_casts(const Node& node);
const Node& strip_casts_and_views(const Node& node);

/// Sizes of a matrix product's result: rows of one factor, columns of the other, batch of both.
struct ProductSizes {
  double rows = 1, columns = 1, batch = 1;

  /// Number of tiles of size x size that cover the result.
  double tiles(double size) const;
};
/// Nothing if a factor is not an expand.
std::optional<ProductSizes> product_sizes(const Node& reduce, const SizeEstimate& estimate);

}  // namespace tenon::scheduling
