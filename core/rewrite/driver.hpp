// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver of graph rewriting: applies rules, which are data, until none matches.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "core/ir/build.hpp"
#include "core/ir/node.hpp"

namespace tenon::rewrite {

/// A rule for nodes whose op is in `roots`. `apply` returns the replacement, or null if the pattern
/// or its condition does not hold. The replacement must not contain the node itself; its new nodes
/// are rewritten in turn.
struct Rule {
  std::string_view name;
  std::vector<Op> roots;
  std::function<NodeRef(const NodeRef&, Builder&)> apply;
};
using Rules = std::vector<Rule>;

Rules operator+(Rules a, const Rules& b);

/// Rewrites every node below the outputs, operands first, also in graphs of IF and LOOP. Nodes are
/// rebuilt in `builder`, so equal ones are shared (CSE). Linear in the nodes that exist and that
/// rules make, without recursion. A budget stops rules that undo each other; the graph stays as it
/// is then.
Graph run(const Graph& graph, const Rules& rules, Builder& builder);

/// The same with rules of applications. Throws kInvalid, naming the rule, if they do not terminate.
Graph run_bounded(const Graph& graph, const Rules& rules, Builder& builder);

}  // namespace tenon::rewrite
