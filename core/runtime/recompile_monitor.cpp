// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/runtime/recompile_monitor.hpp"

#include "core/ir/structure.hpp"
#include "core/support/error.hpp"
#include "core/support/hash.hpp"

namespace tenon {
namespace {

/// Hashes ops, dtypes and ranks of all nodes, and sizes of inputs and outputs.
uint64_t computation(const Skeleton& skeleton) {
  uint64_t hash = skeleton.nodes().size();
  const auto add = [&](auto value) { hash = hash_mix(hash, static_cast<uint64_t>(value)); };
  const auto add_type = [&](const Node& node) {
    for (const Dim& dim : node.shape) add(dim.min());
    add(node.shape.size());
  };
  for (const NodeRef& node : skeleton.nodes()) {
    add(node->op);
    add(node->dtype);
    add(node->shape.size());
    if (node->op == Op::PARAM) add_type(*node);
  }
  for (const NodeRef& output : skeleton.graph().outputs) add_type(*output);
  return hash;
}

/// Describes the first node that differs in more than its operands.
std::string difference(const Skeleton& now, const Skeleton& before) {
  structure::SubgraphEquality subgraphs;
  for (size_t i = 0; i < now.nodes().size() && i < before.nodes().size(); ++i) {
    const NodeRef &a = before.nodes()[i], &b = now.nodes()[i];
    if (a == b || structure::same_head(*a, {}, *b, {}, subgraphs)) continue;
    if (a->op == Op::CONST && b->op == Op::CONST &&
        a->as<ConstAttr>().value == b->as<ConstAttr>().value)
      continue;  // its shape follows from another node
    if (a->op == Op::CONST && b->op == Op::CONST)
      return fmt::format("the constant {} was {}", to_string(b->as<ConstAttr>().value),
                         to_string(a->as<ConstAttr>().value));
    return fmt::format("a {} {} has other numbers than the one before", op_info(b->op).text,
                       type_string(*b));
  }
  return "";
}

}  // namespace

std::string RecompileMonitor::note(const std::shared_ptr<const Skeleton>& skeleton) {
  if (known_.size() > kMostKnown) known_.clear();
  Entry& entry = known_[computation(*skeleton)];
  const std::shared_ptr<const Skeleton> before = std::exchange(entry.last, skeleton);
  if (++entry.plans != kMany) {
    if (entry.plans > kMany) entry.last = nullptr;
    return "";
  }
  const std::string what = difference(*skeleton, *before);
  entry.last = nullptr;
  if (what.empty()) return "";
  return fmt::format(
      "a graph of {} nodes is planned and compiled for the {}th time, on tensors of the same "
      "shapes: {}. Numbers that shape code (begins of slices, trip counts, paddings, axes) are "
      "part of a plan: give them as a tensor (take and gather instead of slice, a loop's count), "
      "or keep to "
      "a few",
      skeleton->nodes().size(), kMany, what);
}

}  // namespace tenon
