// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks of a graph, without recursion: graphs may be a million nodes deep.
#include "core/ir/node.hpp"

#include "core/support/flat_map.hpp"

namespace tenon {

std::string type_string(DType dtype, const Shape& shape) {
  return std::string(dtype_name(dtype)) + to_string(shape);
}

std::string type_string(const Node& node) { return type_string(node.dtype, node.shape); }

std::vector<NodeRef> topological(const std::vector<NodeRef>& outputs) {
  std::vector<NodeRef> order;
  FlatSet<const Node*> seen;
  struct Visit {
    const NodeRef* node;
    size_t next = 0;
  };
  std::vector<Visit> stack;
  for (const NodeRef& output : outputs) {
    if (!output || !seen.try_emplace(output.get()).second) continue;
    stack.push_back({&output});
    while (!stack.empty()) {
      Visit& top = stack.back();
      const auto& sources = (*top.node)->sources;
      if (top.next == sources.size()) {
        order.push_back(*top.node);
        stack.pop_back();
        continue;
      }
      const NodeRef& source = sources[top.next++];
      if (source && seen.try_emplace(source.get()).second) stack.push_back({&source});
    }
  }
  return order;
}

}  // namespace tenon
