// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Value range analysis: bounds of integer nodes for all inputs.
#pragma once

#include <unordered_map>
#include <vector>

#include "core/ir/node.hpp"

namespace tenon::rewrite {

/// Every value is in [low, high]. Bounds are integers below 2^53 in magnitude; else `known` is
/// false.
struct Range {
  double low = 0, high = 0;
  bool known = false;
};

/// Whether a dtype holds every value of the range.
bool fits(const Range& range, DType dtype);

/// Caches the ranges of nodes, and keeps the nodes alive.
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
