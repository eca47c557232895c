// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Derivatives of IF and CALL: adjoint graphs of their bodies.
#include "core/autodiff/backward.hpp"
#include "core/autodiff/rules.hpp"
#include "core/ir/substitute.hpp"

namespace tenon::autodiff {
namespace {

std::vector<bool> present(const std::vector<NodeRef>& nodes) {
  std::vector<bool> out;
  for (const NodeRef& node : nodes) out.push_back(node != nullptr);
  return out;
}

/// For each source from `first` on, whether its adjoint is needed.
std::vector<bool> wanted(const Node& node, size_t first, const Backward& backward) {
  std::vector<bool> out;
  for (size_t i = first; i < node.sources.size(); ++i)
    out.push_back(is_float(node.sources[i]->dtype) && backward.needs_adjoint(node.sources[i]));
  return out;
}

std::vector<NodeRef> with_seeds(std::vector<NodeRef> inputs, const std::vector<NodeRef>& seeds) {
  for (const NodeRef& seed : seeds)
    if (seed) inputs.push_back(seed);
  return inputs;
}

/// Adjoints of a CALL with a custom gradient graph.
void by_graph(const NodeRef& node, const std::vector<NodeRef>& adjoints, Backward& backward) {
  const auto& attr = node->as<CallAttr>();
  Builder& builder = backward.builder();
  std::vector<NodeRef> inputs = node->sources;
  for (size_t r = 0; r < adjoints.size(); ++r)
    inputs.push_back(
        builder.call(node->sources, attr.body, static_cast<int>(r), attr.mode, attr.gradient));
  for (size_t r = 0; r < adjoints.size(); ++r) {
    const NodeRef& output = attr.body->outputs[r];
    inputs.push_back(adjoints[r] ? adjoints[r] : backward.zeros(output, output->dtype));
  }
  int result = 0;
  for (const NodeRef& source : node->sources) {
    if (!is_float(source->dtype)) continue;
    if (backward.needs_adjoint(source))
      backward.accumulate(source, builder.call(inputs, attr.gradient, result));
    ++result;
  }
}

/// Rematerialisation: runs the adjoint graph in a loop of one iteration, so that its values are not
/// shared with those of the forward pass.
std::vector<NodeRef> recompute(const GraphRef& adjoints, const std::vector<NodeRef>& inputs,
                               Backward& backward) {
  Builder& builder = backward.builder();
  Graph body;
  body.name = adjoints->name;
  body.symbols = adjoints->symbols;
  const NodeRef one_trip = builder.constant(Scalar::of_int(DType::kI64, 1));
  fresh_param(builder, "trip", *one_trip, DType::kI64, body);
  std::vector<NodeRef> initial;
  for (const NodeRef& output : adjoints->outputs) {
    initial.push_back(backward.zeros(output, output->dtype));
    fresh_param(builder, "none", *output, output->dtype, body);
  }
  std::vector<NodeRef> taken;
  for (const NodeRef& param : adjoints->params)
    taken.push_back(fresh_param(builder, param->as<ParamAttr>().name, *param, param->dtype, body));
  body.outputs = apply(*adjoints, taken, builder);
  const auto region = std::make_shared<const Graph>(std::move(body));
  std::vector<NodeRef> out;
  for (size_t i = 0; i < initial.size(); ++i)
    out.push_back(
        builder.loop(one_trip, initial, inputs, region, /*is_while=*/false, static_cast<int>(i)));
  return out;
}

}  // namespace

void through_if(const NodeRef& node, const NodeRef& /*adjoint*/, Backward& backward) {
  const auto& attr = node->as<IfAttr>();
  const std::vector<NodeRef> seeds = backward.adjoints_of_results(node);
  const std::vector<bool> wrt = wanted(*node, 1, backward);
  const GraphRef then_graph = backward.adjoint_graph(attr.then_graph, present(seeds), wrt);
  const GraphRef else_graph = backward.adjoint_graph(attr.else_graph, present(seeds), wrt);
  const std::vector<NodeRef> inputs =
      with_seeds({node->sources.begin() + 1, node->sources.end()}, seeds);
  int result = 0;
  for (size_t i = 0; i < wrt.size(); ++i)
    if (wrt[i])
      backward.accumulate(
          node->sources[1 + i],
          backward.builder().if_(node->sources[0], inputs, then_graph, else_graph, result++));
}

void through_call(const NodeRef& node, const NodeRef& /*adjoint*/, Backward& backward) {
  const auto& attr = node->as<CallAttr>();
  const std::vector<NodeRef> seeds = backward.adjoints_of_results(node);
  if (attr.gradient) return by_graph(node, seeds, backward);
  const std::vector<bool> wrt = wanted(*node, 0, backward);
  const GraphRef adjoints = backward.adjoint_graph(attr.body, present(seeds), wrt);
  const std::vector<NodeRef> inputs = with_seeds(node->sources, seeds);
  std::vector<NodeRef> results;
  if (attr.mode == CallMode::kRecompute) {
    results = recompute(adjoints, inputs, backward);
  } else {
    for (size_t r = 0; r < adjoints->outputs.size(); ++r)
      results.push_back(backward.builder().call(inputs, adjoints, static_cast<int>(r)));
  }
  size_t next = 0;
  for (size_t i = 0; i < wrt.size(); ++i)
    if (wrt[i]) backward.accumulate(node->sources[i], results[next++]);
}

}  // namespace tenon::autodiff
