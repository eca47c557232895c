// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bounds of integer nodes: what their values can be, whatever the inputs hold.
#pragma once

#include <unordered_map>
#include <vector>

#include "core/ir/node.hpp"

namespace tenon::rewrite {

/// Every value is in [low, high]. The bounds are whole numbers below 2^53; beyond that nothing is
/// known.
struct Range {
  double low = 0, high = 0;
  bool known = false;
};

/// True if every value of a dtype is one of the range's.
bool fits(const Range& range, DType dtype);

/// Remembers the ranges of nodes, and keeps these alive.
class Ranges {
 public:
  Range of(const NodeRef& node);

 private:
  Range at(const NodeRef& node) const { return known_.at(node.get()); }
  Range exact(const Node& node) const;
  Range binary(const Node& node) const;
  Range reduce(const Node& node) const;

  std::unordered_map<const Node*, Range> known_;
  std::vector<NodeRef> keep_;
};

}  // namespace tenon::rewrite
