// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/autodiff/backward.hpp"

#include <algorithm>
#include <utility>

#include "core/autodiff/derivatives.hpp"
#include "core/autodiff/lift_leaves.hpp"
#include "core/autodiff/taping.hpp"
#include "core/ir/formula.hpp"
#include "core/ir/structure.hpp"
#include "core/ir/substitute.hpp"
#include "core/support/error.hpp"
#include "core/support/process.hpp"

namespace tenon::autodiff {
namespace {

bool is_region(const Node& node) {
  return node.op == Op::IF || node.op == Op::LOOP || node.op == Op::CALL;
}

int result_of(const Node& node) {
  if (node.op == Op::IF) return node.as<IfAttr>().result;
  if (node.op == Op::LOOP) return node.as<LoopAttr>().result;
  return node.as<CallAttr>().result;
}

/// Nodes with equal keys are results of one region.
std::pair<std::vector<const void*>, bool> region_key(const Node& node) {
  std::vector<const void*> key;
  for (const Graph* graph : structure::graphs_of(node.attr)) key.push_back(graph);
  for (const NodeRef& source : node.sources) key.push_back(source.get());
  const auto* loop = std::get_if<LoopAttr>(&node.attr);
  return {std::move(key), loop && loop->is_while};
}

size_t results_of(const Node& node) {
  if (node.op == Op::IF) return node.as<IfAttr>().then_graph->outputs.size();
  if (node.op == Op::LOOP) return static_cast<size_t>(node.as<LoopAttr>().carried);
  return node.as<CallAttr>().body->outputs.size();
}

struct Formulas {
  std::array<std::optional<Formula>, 3> of;
};

const Formulas& formulas_of(const Derivative& row) {
  const ForkHold hold;  // before the lock of the static below
  static auto& by_op = *new std::array<std::optional<Formulas>, 256>([] {
    std::array<std::optional<Formulas>, 256> all;
    for (const OpInfo& info : all_ops()) {
      if (info.level == OpLevel::PROGRAM) continue;
      Formulas& formulas = all[static_cast<size_t>(info.op)].emplace();
      const Derivative& derivative = derivative_of(info.op);
      for (size_t i = 0; i < 3; ++i)
        if (!derivative.formulas[i].empty())
          formulas.of[i] = Formula::parse(derivative.formulas[i]);
    }
    return all;
  }());
  return *by_op[static_cast<size_t>(row.op)];
}

/// g * d, but 0 where g is 0 and d is infinite or NaN. Tests d first, so that the test folds where
/// d is known to be finite.
NodeRef scaled(const NodeRef& g, const NodeRef& d, Builder& builder) {
  const ForkHold hold;
  static const auto& formula = *new Formula(Formula::parse(
      "where(cmplt(max(d, neg(d)), inf), mul(g, d), where(cmpne(g, 0), mul(g, d), 0))"));
  Bindings bound{};
  bound['g' - 'a'] = &g;
  bound['d' - 'a'] = &d;
  return build(formula, bound, g->dtype, g->shape, builder);
}

bool is_expand(const Node& node) {
  return node.op == Op::VIEW && node.as<ViewAttr>().kind == ViewKind::kExpand;
}

bool is_expanded(const NodeRef& x) {
  return is_expand(*x) || (x->op == Op::VIEW && is_expanded(x->sources[0]));
}

/// Whether a sum of the node over some axes is a contraction. False for a sum of two products.
bool is_outer_product(const NodeRef& x) {
  return x->op == Op::MUL && is_expanded(x->sources[0]) && is_expanded(x->sources[1]);
}

}  // namespace

DType wide(DType dtype) { return default_accumulator(dtype); }

std::vector<bool> reached(const std::vector<NodeRef>& outputs, const std::vector<NodeRef>& wrt) {
  FlatMap<const Node*, char> active;
  for (const NodeRef& node : wrt) active.try_emplace(node.get());
  for (const NodeRef& node : topological(outputs)) {
    for (size_t i = 0; i < node->sources.size(); ++i) {
      if (!active.contains(node->sources[i].get()) || !is_float(node->dtype) ||
          !propagates_adjoint(*node, i))
        continue;
      active.try_emplace(node.get());
      break;
    }
  }
  std::vector<bool> out;
  for (const NodeRef& output : outputs) out.push_back(active.contains(output.get()));
  return out;
}

void Backward::find_active(const std::vector<NodeRef>& order, const std::vector<NodeRef>& wrt) {
  active_ = {};
  siblings_ = {};
  for (const NodeRef& node : wrt) active_.try_emplace(node.get());
  std::map<std::pair<std::vector<const void*>, bool>, const Node*> first;
  for (const NodeRef& node : order) {
    bool is_active = false;
    for (size_t i = 0; i < node->sources.size() && !is_active; ++i)
      is_active =
          needs_adjoint(node->sources[i]) && is_float(node->dtype) && propagates_adjoint(*node, i);
    if (!is_active) continue;
    active_.try_emplace(node.get());
    if (is_region(*node))
      siblings_.try_emplace(first.emplace(region_key(*node), node.get()).first->second)
          .first->push_back(node);
  }
}

Gradients Backward::run(const std::vector<NodeRef>& outputs, const std::vector<NodeRef>& seeds,
                        const std::vector<NodeRef>& wrt, bool keep_wide) {
  TN_ASSERT(outputs.size() == seeds.size());
  std::vector<NodeRef> leaves = wrt;
  Gradients out{outputs, {}};
  order_ = topological(outputs);
  if (std::ranges::any_of(order_, [](const NodeRef& node) { return is_region(*node); })) {
    Lifted lifted = lift_leaves(outputs, wrt, builder_);
    out.outputs = std::move(lifted.outputs);
    leaves = std::move(lifted.leaves);
    order_ = topological(out.outputs);
  }
  find_active(order_, leaves);
  if (Taping taping(*this); taping.run(order_)) {
    out.outputs = taping.rebuilt(out.outputs);
    leaves = taping.rebuilt(leaves);
    order_ = topological(out.outputs);
    find_active(order_, leaves);
  }
  for (size_t i = 0; i < seeds.size(); ++i)
    if (seeds[i] && needs_adjoint(out.outputs[i])) accumulate(out.outputs[i], seeds[i]);
  for (size_t i = order_.size(); i-- > 0;) {
    const NodeRef& node = order_[i];
    const bool leads_on =
        std::ranges::any_of(node->sources, [&](const NodeRef& s) { return needs_adjoint(s); });
    if (!needs_adjoint(node) || !leads_on) continue;
    if (is_region(*node)) {
      if (!siblings_.contains(node.get())) continue;  // the first result stands for all
      const std::vector<NodeRef> adjoints = adjoints_of_results(node);
      if (std::ranges::any_of(adjoints, [](const NodeRef& a) { return a != nullptr; }))
        differentiate(node, nullptr);
    } else {
      for (const NodeRef& adjoint : adjoints_of(node)) differentiate(node, adjoint);
    }
  }
  for (const NodeRef& leaf : leaves)
    out.of.push_back(total(leaf, keep_wide ? wide(leaf->dtype) : leaf->dtype));
  return out;
}

NodeRef Backward::sum_of(std::span<const NodeRef> given, DType dtype) {
  if (given.empty()) return nullptr;
  NodeRef sum = given.front();
  for (const NodeRef& next : given.subspan(1))
    sum = builder_.binary(Op::ADD, widened(sum), widened(next));
  return sum->dtype == dtype ? sum : builder_.cast(sum, dtype);
}

NodeRef Backward::total(const NodeRef& node, DType dtype) {
  const std::vector<NodeRef>* given = contributions_.find(node.get());
  return given ? sum_of(*given, dtype) : nullptr;
}

std::vector<NodeRef> Backward::adjoints_of(const NodeRef& node) {
  const std::vector<NodeRef>* given = contributions_.find(node.get());
  if (!given) return {};
  std::vector<NodeRef> out, together;
  for (const NodeRef& part : *given) {
    if (is_expand(*node) && is_outer_product(part))
      out.push_back(sum_of({&part, 1}, node->dtype));
    else
      together.push_back(part);
  }
  if (const NodeRef rest = sum_of(together, node->dtype)) out.push_back(rest);
  return out;
}

void Backward::accumulate(const NodeRef& source, NodeRef contribution) {
  TN_ASSERT(same_shape(source->shape, contribution->shape));
  TN_ASSERT(contribution->dtype == source->dtype || contribution->dtype == wide(source->dtype));
  contributions_.try_emplace(source.get()).first->push_back(std::move(contribution));
}

NodeRef Backward::widened(const NodeRef& x) {
  return is_float(x->dtype) && wide(x->dtype) != x->dtype ? builder_.cast(x, wide(x->dtype)) : x;
}

NodeRef Backward::zeros(const NodeRef& like, DType dtype) {
  return builder_.constant(zero(dtype), like->shape);
}

void Backward::differentiate(const NodeRef& node, const NodeRef& adjoint) {
  const Derivative& row = derivative_of(node->op);
  if (row.rule) return row.rule(node, adjoint, *this);
  if (node->op == Op::MUL)
    for (const NodeRef& factor : node->sources) set_precision(*factor, precision_of(*node));
  const NodeRef y = widened(node), g = widened(adjoint);
  std::array<NodeRef, 3> operands;
  Bindings bound{};
  bound['y' - 'a'] = &y;
  bound['g' - 'a'] = &g;
  for (size_t i = 0; i < node->sources.size(); ++i) {
    operands[i] = widened(node->sources[i]);
    bound[i] = &operands[i];
  }
  const Formulas& formulas = formulas_of(row);
  for (size_t i = 0; i < node->sources.size(); ++i) {
    if (!propagates_adjoint(*node, i) || !needs_adjoint(node->sources[i])) continue;
    const Formula& formula = *formulas.of[i];
    const NodeRef made = build(formula, bound, g->dtype, g->shape, builder_);
    accumulate(node->sources[i], formula.mentions('g') ? made : scaled(g, made, builder_));
  }
}

std::vector<NodeRef> Backward::adjoints_of_results(const NodeRef& region) {
  std::vector<NodeRef> adjoints(results_of(*region));
  for (const NodeRef& result : siblings_.at(region.get()))
    adjoints[static_cast<size_t>(result_of(*result))] = total(result, result->dtype);
  return adjoints;
}

const std::string& Backward::device_of(const NodeRef& source) {
  if (devices_.size() == 0) {
    for (const NodeRef& node : order_) {
      std::string device;
      if (const auto* copy = std::get_if<CopyAttr>(&node->attr)) {
        device = copy->device;
      } else if (node->op == Op::PARAM && options_.device_of) {
        device = options_.device_of(*node);
      }
      for (size_t i = 0; i < node->sources.size() && device.empty(); ++i)
        device = devices_.at(node->sources[i].get());
      devices_.try_emplace(node.get(), std::move(device));
    }
  }
  return devices_.at(source.get());
}

const Tape* Backward::tape_of(const NodeRef& region) const {
  const auto at = tapes_.find(region.get());
  return at == tapes_.end() ? nullptr : &at->second;
}

Precision Backward::precision_of(const Node& node) const {
  const Precision* known = precisions_.find(&node);
  return known ? *known : Precision::kDefault;
}

void Backward::set_precision(const Node& node, Precision precision) {
  if (precision != Precision::kDefault) *precisions_.try_emplace(&node).first = precision;
}

GraphRef Backward::adjoint_graph(const GraphRef& graph, const std::vector<bool>& seeded,
                                 const std::vector<bool>& wrt, bool keep_wide) {
  GraphRef& known = adjoint_graphs_[{graph.get(), seeded, wrt, keep_wide}];
  if (known) return known;
  alive_.push_back(graph);
  Graph out;
  out.name = graph->name + "_adjoint";
  out.symbols = graph->symbols;
  out.params = graph->params;
  std::vector<NodeRef> outputs, seeds, leaves;
  for (size_t i = 0; i < graph->outputs.size(); ++i) {
    if (!seeded[i]) continue;
    const NodeRef& output = graph->outputs[i];
    outputs.push_back(output);
    seeds.push_back(fresh_param(builder_, "g" + std::to_string(i), *output, output->dtype, out));
  }
  for (size_t i = 0; i < graph->params.size(); ++i)
    if (wrt[i]) leaves.push_back(graph->params[i]);
  const Gradients gradients = Backward(builder_, options_).run(outputs, seeds, leaves, keep_wide);
  for (size_t i = 0; i < leaves.size(); ++i) {
    const DType dtype = keep_wide ? wide(leaves[i]->dtype) : leaves[i]->dtype;
    out.outputs.push_back(gradients.of[i] ? gradients.of[i] : zeros(leaves[i], dtype));
    out.output_names.emplace_back();
  }
  return known = std::make_shared<const Graph>(std::move(out));
}

}  // namespace tenon::autodiff
