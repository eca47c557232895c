// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// IF, LOOP and CALL: nodes that differ only in `result` share one evaluation. Evaluated apart,
// nested ones would take exponential time.
#pragma once

#include <vector>

#include "core/ir/node.hpp"

namespace tenon::reference {

inline bool is_region(const Node& node) {
  return node.op == Op::IF || node.op == Op::LOOP || node.op == Op::CALL;
}

/// The output of its graph that an IF, LOOP or CALL is.
size_t result_of(const Node& node);

/// Equal for IF, LOOP and CALL nodes that differ only in `result`: these have equal graphs and
/// sources.
struct RegionKey {
  const Graph *first, *second;
  bool is_while;
  std::vector<const Node*> sources;
  auto operator<=>(const RegionKey&) const = default;
};
RegionKey region_key(const Node& node);

}  // namespace tenon::reference
