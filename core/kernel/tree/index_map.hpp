// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where an element of a VIEW comes from.
#pragma once

#include <vector>

#include "core/ir/node.hpp"

namespace tenon {

using IndexTuple = std::vector<Expr>;

/// Row-major position of an index in a shape.
Expr linearise(const IndexTuple& index, const Shape& shape);
/// The index in `source` of element `index` of `shape`, a reshape of it. Groups of dimensions that
/// agree pass through, so little division is left.
IndexTuple reshape_index(const IndexTuple& index, const Shape& shape, const Shape& source);

struct SourceIndex {
  IndexTuple index;
  Expr inside = 1;  ///< of a pad: where the element comes from the source, not the fill
};
SourceIndex view_index(const Node& view, const IndexTuple& index);

}  // namespace tenon
