// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// At which index a kernel evaluates a node: for each axis, the loop variables it depends on and a
// signature of the exact expression. Two demands with equal signatures read the same elements.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ir/node.hpp"
#include "core/schedule/node_analysis.hpp"

namespace tenon::scheduling {

struct AxisIndex {
  uint64_t variables = 0;  ///< bit v: depends on loop variable v of the kernel
  uint64_t signature = 0;  ///< 0: the constant position 0
  bool operator==(const AxisIndex&) const = default;
};

struct IndexMap {
  std::vector<AxisIndex> axes;
  bool irregular = false;  ///< went through a gather or a pad: may repeat or skip elements
  int splits = 0;          ///< divisions that reshapes ask for, and bounds that gathers do
  int views = 0;           ///< gone through
  /// The same elements, by whatever way.
  bool operator==(const IndexMap& o) const { return axes == o.axes && irregular == o.irregular; }
  uint64_t variables() const;
};

/// A position whose axes are told from one another: a loop variable each.
IndexMap anywhere(const Shape& shape);
/// Where node i at `map` reads node `below`, by any way of elementwise ops and views; false, and
/// nothing changed, if there is none.
bool find_below(const SchedulerInput& input, int i, int below, IndexMap& map);

/// Where `view` at `map` reads its source.
IndexMap through_view(const Node& view, const IndexMap& map, const SizeEstimate& estimate);
/// Where a TAKE at `map` reads its first source; the index tensor is read at `map` itself.
IndexMap through_take(const Node& take, const IndexMap& map);
/// True if `map` is the loop nest's own position: `identity` but for axes of size 1.
bool is_identity(const IndexMap& map, const IndexMap& identity);

}  // namespace tenon::scheduling
