// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/reference/region.hpp"

namespace tenon::reference {

size_t result_of(const Node& node) {
  if (node.op == Op::IF) return static_cast<size_t>(node.as<IfAttr>().result);
  if (node.op == Op::CALL) return static_cast<size_t>(node.as<CallAttr>().result);
  return static_cast<size_t>(node.as<LoopAttr>().result);
}

RegionKey region_key(const Node& node) {
  RegionKey key{nullptr, nullptr, false, {}};
  if (node.op == Op::IF) {
    key.first = node.as<IfAttr>().then_graph.get();
    key.second = node.as<IfAttr>().else_graph.get();
  } else if (node.op == Op::CALL) {
    key.first = node.as<CallAttr>().body.get();
  } else {
    key.first = node.as<LoopAttr>().body.get();
    key.is_while = node.as<LoopAttr>().is_while;
  }
  for (const NodeRef& source : node.sources) key.sources.push_back(source.get());
  return key;
}

}  // namespace tenon::reference
