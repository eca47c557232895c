// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one driver of all graph rewriting: rules are data, this applies them until none fits.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "core/ir/build.hpp"
#include "core/ir/node.hpp"

namespace tenon::rewrite {

/// Replaces a node whose op is among `roots`. `apply` gives the replacement, or null where the
/// pattern or its condition does not hold. The replacement never contains the node itself, and its
/// new nodes are rewritten in turn.
struct Rule {
  std::string_view name;
  std::vector<Op> roots;
  std::function<NodeRef(const NodeRef&, Builder&)> apply;
};
using Rules = std::vector<Rule>;

Rules operator+(Rules a, const Rules& b);

/// Rewrites every node below the outputs, operands first, the graphs of IF and LOOP too. Nodes are
/// made anew in `builder`, so equal ones become one. Takes time linear in the nodes that there are
/// and that rules make; does not recurse over nodes. Rules that undo each other end by a budget,
/// and the graph stays as it is then.
Graph run(const Graph& graph, const Rules& rules, Builder& builder);

/// The same with rules from outside: throws kInvalid, naming the rule, for those that do not come
/// to an end.
Graph run_bounded(const Graph& graph, const Rules& rules, Builder& builder);

}  // namespace tenon::rewrite
