// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluates a graph with the reference and propagates intervals.
#include "core/interval/interval.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "core/interval/nodes.hpp"
#include "core/interval/online_softmax.hpp"
#include "core/reference/region.hpp"
#include "core/support/error.hpp"

namespace tenon {

Profile Profile::of(const Capabilities& capabilities) {
  Profile profile;
  profile.strict = capabilities.strict;
  profile.numerics = capabilities.numerics;
  profile.native_ops = capabilities.native_ops;
  // The core widens dtypes that memory packs in words.
  for (const DType dtype : all_dtypes())
    profile.arithmetic[static_cast<size_t>(dtype)] =
        capabilities.of(dtype).arithmetic &&
        dtype_size(dtype) >= static_cast<size_t>(capabilities.storage_bytes);
  for (const MatrixAtom& atom : capabilities.atoms)
    profile.cuts_sums |= atom.truncates && atom.accumulator == DType::kF32;
  for (const DotAtom& atom : capabilities.dots)
    profile.dots_flush[static_cast<size_t>(atom.a)] |= atom.flushes;
  return profile;
}

Interval IntervalArray::at(int64_t i) const {
  return exact() ? reference::point(value.at(i).as_double()) : range[i];
}

namespace {

using reference::IntervalOperands;

std::vector<IntervalArray> run(const Graph& graph, std::vector<IntervalArray> inputs,
                               const SymbolValues& given, const Profile& profile);

IntervalArray in_doubt(const NodeRef& like, const SymbolValues& symbols) {
  IntervalArray out{Array::zeros(like->dtype, concrete_shape(like->shape, symbols)), {}, {}, false};
  const auto count = static_cast<size_t>(out.value.count());
  out.range.assign(count, reference::anything());
  out.doubt.assign(count, 1);
  return out;
}

bool doubtful(const IntervalArray& scalar) { return !scalar.exact() && scalar.doubt[0]; }

std::vector<IntervalArray> copies(const IntervalOperands& operands, size_t begin, size_t end) {
  std::vector<IntervalArray> out;
  for (size_t i = begin; i < end; ++i) out.push_back(*operands[i]);
  return out;
}

/// Of outputs, or carried values, that an undecided condition leaves unknown.
std::vector<IntervalArray> all_in_doubt(std::span<const NodeRef> like,
                                        const SymbolValues& symbols) {
  std::vector<IntervalArray> out;
  for (const NodeRef& node : like) out.push_back(in_doubt(node, symbols));
  return out;
}

std::vector<IntervalArray> run_if(const Node& node, const IntervalOperands& operands,
                                  const SymbolValues& symbols, const Profile& profile) {
  const auto& attr = node.as<IfAttr>();
  if (doubtful(*operands[0])) return all_in_doubt(attr.then_graph->outputs, symbols);
  const Graph& taken = operands[0]->value.at(0).bits ? *attr.then_graph : *attr.else_graph;
  return run(taken, copies(operands, 1, operands.size()), symbols, profile);
}

std::vector<IntervalArray> run_loop(const Node& node, const IntervalOperands& operands,
                                    const SymbolValues& symbols, const Profile& profile) {
  const auto& attr = node.as<LoopAttr>();
  const std::span<const NodeRef> initial =
      std::span(node.sources).subspan(1, static_cast<size_t>(attr.carried));
  if (doubtful(*operands[0])) return all_in_doubt(initial, symbols);
  const size_t carried_end = 1 + static_cast<size_t>(attr.carried);
  std::vector<IntervalArray> carried = copies(operands, 1, carried_end);
  const int64_t trips = operands[0]->value.at(0).as_int();
  for (int64_t i = 0; i < trips; ++i) {
    std::vector<IntervalArray> inputs(1);
    inputs[0].value = Array::zeros(DType::kI64, {});
    inputs[0].value.set(0, Scalar::of_int(DType::kI64, i));
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    for (size_t k = carried_end; k < operands.size(); ++k) inputs.push_back(*operands[k]);
    std::vector<IntervalArray> results = run(*attr.body, std::move(inputs), symbols, profile);
    if (attr.is_while) {
      if (doubtful(results[0])) return all_in_doubt(initial, symbols);
      if (!results[0].value.at(0).bits) break;
      results.erase(results.begin());
    }
    carried = std::move(results);
  }
  return carried;
}

/// Every result of an IF, LOOP or CALL.
std::vector<IntervalArray> run_region(const Node& node, const IntervalOperands& operands,
                                      const SymbolValues& symbols, const Profile& profile) {
  if (node.op == Op::IF) return run_if(node, operands, symbols, profile);
  if (node.op == Op::LOOP) return run_loop(node, operands, symbols, profile);
  return run(*node.as<CallAttr>().body, copies(operands, 0, operands.size()), symbols, profile);
}

IntervalArray node_interval(const Node& node, const IntervalOperands& operands,
                            const SymbolValues& symbols, const Profile& profile) {
  std::vector<const Array*> values;
  for (const IntervalArray* x : operands) values.push_back(&x->value);
  IntervalArray out{evaluate_node(node, values, symbols), {}, {}, false};
  if (is_elementwise(node.op)) {
    reference::elementwise_intervals(node, operands, profile, out);
  } else if (node.op == Op::VIEW) {
    reference::view_intervals(node, *operands[0], symbols, out);
  } else if (node.op == Op::REDUCE) {
    reference::reduce_intervals(node, *operands[0], profile, out);
  } else if (node.op == Op::TAKE) {
    reference::take_intervals(node, *operands[0], *operands[1], out);
  } else if (node.op == Op::STORE) {
    reference::store_intervals(node, operands, profile, out);
  } else if (node.op == Op::COPY) {
    out = *operands[0];
  }
  reference::settle(out);
  return out;
}

/// Values that may be widening casts of narrow floats that dot products flush, through views.
std::unordered_set<const Node*> widened_values(const std::vector<NodeRef>& order,
                                               const Profile& profile) {
  std::unordered_set<const Node*> out;
  for (const NodeRef& node : order) {
    const auto is_widened = [&](size_t i) { return out.contains(node->sources[i].get()); };
    const bool moves = node->op == Op::VIEW || node->op == Op::COPY || node->op == Op::TAKE;
    if ((node->op == Op::CAST &&
         profile.dots_flush[static_cast<size_t>(node->sources[0]->dtype)]) ||
        (moves && is_widened(0)) || (node->op == Op::WHERE && (is_widened(1) || is_widened(2))))
      out.insert(node.get());
  }
  return out;
}

/// What a REDUCE adds, through views and ops that give the one value that they take.
const Node* term_of(const Node& sum) {
  const Node* x = sum.sources[0].get();
  for (;;) {
    const size_t first = x->op == Op::WHERE ? 1 : 0;
    const bool chooses = x->op == Op::WHERE || x->op == Op::MIN || x->op == Op::MAX;
    const bool is_one = chooses && x->sources[first] == x->sources[first + 1];
    if (x->op != Op::VIEW && !is_one) return x;
    x = x->sources[first].get();
  }
}

/// Products and their sums that a flushing dot product may compute: those without
/// Precision::kExact.
std::unordered_set<const Node*> flushed_products(const std::vector<NodeRef>& order,
                                                 const Profile& profile) {
  std::unordered_set<const Node*> out;
  const auto widened = widened_values(order, profile);
  for (const NodeRef& node : order) {
    if (node->op != Op::REDUCE || node->as<ReduceAttr>().op != Op::ADD ||
        node->as<ReduceAttr>().precision == Precision::kExact)
      continue;
    const Node* x = term_of(*node);
    if (x->op != Op::MUL || !widened.contains(x->sources[0].get()) ||
        !widened.contains(x->sources[1].get()))
      continue;
    out.insert(x);
    out.insert(node.get());
  }
  return out;
}

/// Products that a REDUCE of reduced precision sums, through views, and the significant bits of
/// their truncated factors.
std::unordered_map<const Node*, int> cut_products(const std::vector<NodeRef>& order) {
  std::unordered_map<const Node*, int> out;
  for (const NodeRef& node : order) {
    const int bits = node->op == Op::REDUCE ? factor_bits(node->as<ReduceAttr>().precision) : 0;
    if (bits == 0) continue;
    const Node* x = term_of(*node);
    if (x->op != Op::MUL || x->dtype != DType::kF32) continue;
    const auto [at, is_new] = out.emplace(x, bits);
    at->second = std::min(at->second, bits);
  }
  return out;
}

std::vector<IntervalArray> run(const Graph& graph, std::vector<IntervalArray> inputs,
                               const SymbolValues& given, const Profile& profile) {
  TN_REQUIRE(inputs.size() == graph.params.size(), "[{}] expected {} inputs, got {}", graph.name,
             graph.params.size(), inputs.size());
  std::vector<std::vector<int64_t>> shapes;
  for (const IntervalArray& input : inputs) shapes.push_back(input.value.shape);
  const SymbolValues symbols = bind_symbols(graph, shapes, given);
  std::unordered_map<const Node*, IntervalArray> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    TN_REQUIRE(inputs[i].value.dtype == graph.params[i]->dtype, "[{}] expected {} for %{}, got {}",
               graph.name, dtype_name(graph.params[i]->dtype),
               graph.params[i]->as<ParamAttr>().name, dtype_name(inputs[i].value.dtype));
    values[graph.params[i].get()] = std::move(inputs[i]);
  }
  const std::vector<NodeRef> order = topological(graph.outputs);
  const auto cut = cut_products(order);
  const reference::OnlineSoftmaxSums chained(order);
  const auto flushed = flushed_products(order, profile);
  Profile flushing = profile;
  flushing.numerics |= kFlushInput | kFlushOutput;
  std::map<reference::RegionKey, std::vector<IntervalArray>> regions;
  for (const NodeRef& node : order) {
    if (values.contains(node.get())) continue;
    IntervalOperands operands;
    for (const NodeRef& source : node->sources) operands.push_back(&values.at(source.get()));
    if (reference::is_region(*node)) {
      const auto [region, is_new] = regions.try_emplace(reference::region_key(*node));
      if (is_new) region->second = run_region(*node, operands, symbols, profile);
      values[node.get()] = region->second[reference::result_of(*node)];
      continue;
    }
    IntervalArray factors[2];
    if (const auto at = cut.find(node.get()); at != cut.end()) {
      for (const size_t k : {0u, 1u}) {
        factors[k] = reference::cut_factors(*operands[k], at->second);
        operands[k] = &factors[k];
      }
    }
    IntervalArray& out = values[node.get()] =
        node_interval(*node, operands, symbols, flushed.contains(node.get()) ? flushing : profile);
    if (chained.is_power(*node)) {
      reference::allow_products(*operands[0], out);
      reference::settle(out);
    } else if (chained.is_rounding(*node)) {
      reference::allow_early_rounding(*operands[0], out);
      reference::settle(out);
    } else if (chained.is_masked_factor(*node)) {
      reference::allow_zero(*operands[0], *operands[1], out);
      reference::settle(out);
    } else if (chained.is_sum(*node) || chained.is_masked(*node)) {
      const Node& product = *node->sources[0];
      const IntervalArray &a = values.at(product.sources[0].get()),
                          &b = values.at(product.sources[1].get());
      if (chained.is_sum(*node)) {
        std::vector<const IntervalArray*> beside;
        for (const Node* factor : chained.factors(*node)) beside.push_back(&values.at(factor));
        reference::allow_late_factors(*node, a, b, beside, out);
      } else {
        reference::allow_left_out(*node, a, b, out);
      }
      reference::settle(out);
    }
  }
  std::vector<IntervalArray> outputs;
  for (const NodeRef& output : graph.outputs) outputs.push_back(values.at(output.get()));
  return outputs;
}

}  // namespace

std::vector<IntervalArray> evaluate_intervals(const Graph& graph, const std::vector<Array>& inputs,
                                              const SymbolValues& symbols, const Profile& profile) {
  std::vector<IntervalArray> exact;
  for (const Array& input : inputs) exact.push_back({input, {}, {}, false});
  return run(graph, std::move(exact), symbols, profile);
}

}  // namespace tenon
