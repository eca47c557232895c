// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/rewrite/passes.hpp"
#include "core/rewrite/rules/rules.hpp"
#include "core/support/process.hpp"

namespace tenon {

Graph simplify(const Graph& graph, Builder& builder) {
  using namespace rewrite;
  const ForkHold hold;  // before the lock of the static below
  static const auto& rules = *new Rules(fold_rules() + movement_rules() + cast_rules() +
                                        reduce_rules() + one_place_rules() + algebra_rules());
  return run(graph, rules, builder);
}

Graph allow_precision(const Graph& graph, Precision precision, Builder& builder) {
  if (precision == Precision::kDefault) return graph;
  const rewrite::Rule allow{
      "allow precision", {Op::REDUCE}, [precision](const NodeRef& node, Builder& b) -> NodeRef {
        const auto& attr = node->as<ReduceAttr>();
        const Node* x = node->sources[0].get();
        while (x->op == Op::VIEW) x = x->sources[0].get();
        const bool contracts = attr.op == Op::ADD && x->op == Op::MUL && x->dtype == DType::kF32;
        if (!contracts || attr.precision != Precision::kDefault) return nullptr;
        return b.reduce(Op::ADD, node->sources[0], attr.axes, attr.accumulator, precision);
      }};
  return rewrite::run(graph, {allow}, builder);
}

}  // namespace tenon
