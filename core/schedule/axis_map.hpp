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
  bool irregular = false;  ///< passes a gather or a pad: may repeat or skip elements
  int splits = 0;          ///< divisions of reshapes and bounds checks of gathers on the way
  int views = 0;           ///< views on the way
  bool gathers = false;    ///< irregular by more than pads
  double padded = 1;       ///< positions for each element, by pads on the way
  /// True if both read the same elements, whatever views lie on the way.
  bool operator==(const IndexMap& o) const { return axes == o.axes && irregular == o.irregular; }
  uint64_t variables() const;
};

/// The position of a loop nest over `shape`: one loop variable for each axis longer than 1.
IndexMap identity_map(const Shape& shape);
/// Moves `map` from node i to node `below`, through elementwise ops and views. Returns false and
/// changes nothing if no such path exists.
bool trace_to(const SchedulerInput& input, int i, int below, IndexMap& map);

/// The index at which `view`, evaluated at `map`, reads its source.
IndexMap through_view(const Node& view, const IndexMap& map, const SizeEstimate& estimate);
/// The index at which a TAKE at `map` reads its first source. The index tensor is read at `map`.
IndexMap through_take(const Node& take, const IndexMap& map);
/// True if `map` equals the loop nest's position `identity`, axes of size 1 aside.
bool is_identity(const IndexMap& map, const IndexMap& identity);

}  // namespace tenon::scheduling
