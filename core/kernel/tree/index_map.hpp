// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Index arithmetic of views.
#pragma once

#include <vector>

#include "core/ir/node.hpp"

namespace tenon {

using IndexTuple = std::vector<Expr>;

/// Row-major offset of an index in a shape.
Expr linearise(const IndexTuple& index, const Shape& shape);
/// The index in `source` of element `index` of `shape`, a reshape of it. Matching groups of
/// dimensions are mapped apart, which leaves few divisions.
IndexTuple reshape_index(const IndexTuple& index, const Shape& shape, const Shape& source);

struct SourceIndex {
  IndexTuple index;
  Expr in_bounds = 1;  ///< of a pad: true where the element is from the source, not the fill
};
/// The index in its source that element `index` of a VIEW reads.
SourceIndex view_index(const Node& view, const IndexTuple& index);

}  // namespace tenon
