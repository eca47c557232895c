// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/schedule/node_analysis.hpp"

#include <algorithm>

#include "core/ir/remap.hpp"
#include "core/schedule/assign_devices.hpp"
#include "core/schedule/patterns/contraction.hpp"
#include "core/schedule/prologue_fusion.hpp"

namespace tenon::scheduling {
namespace {

constexpr int64_t kTypicalSymbol = 256;
constexpr float kMostElementwiseCost = 10000;

/// Casts, sign flips, and a product with a constant.
bool is_trivial_op(const Node& node) {
  if (node.op == Op::VIEW || node.op == Op::CAST || node.op == Op::NEG) return true;
  return node.op == Op::MUL && (is_constant(*node.sources[0]) || is_constant(*node.sources[1]));
}

/// A view that neither repeats nor adds elements.
bool is_reorder(const Node& node) {
  if (node.op != Op::VIEW) return false;
  const ViewKind kind = node.as<ViewAttr>().kind;
  return kind == ViewKind::kReshape || kind == ViewKind::kPermute || kind == ViewKind::kFlip;
}

/// A broadcast so wide that reading its source costs nothing in comparison, as the mean of a row.
bool is_wide_broadcast(const SchedulerInput& input, int i) {
  constexpr double kTimes = 32;
  const Node& node = input.node(i);
  return node.op == Op::VIEW && node.as<ViewAttr>().kind == ViewKind::kExpand &&
         input.estimate.of(node.shape) >= kTimes * input.estimate.of(node.sources[0]->shape);
}

NodeAnalysis analyse_node(const SchedulerInput& input, int i) {
  const Node& node = input.node(i);
  NodeAnalysis out;
  for (int s : input.sources[i]) out.depth = std::max(out.depth, input.analysis[s].depth);
  out.size = std::max(1.0, input.estimate.of(node.shape));
  if (is_leaf(node)) {
    out.needs_buffer = false;
    out.trivial = true;
    return out;
  }
  const double bytes = out.size * static_cast<double>(dtype_size(node.dtype));
  if (is_param(node) || is_command(node) || node.op == Op::STORE) {
    out.read = bytes;
    out.leaves = 1;
    out.trivial = true;
    return out;
  }
  if (node.op == Op::REDUCE) {
    out.read = bytes;
    out.leaves = 2;
    out.epilogue = true;
    ++out.depth;
    out.contraction = is_contraction(node);
    return out;
  }
  out.needs_buffer = false;
  out.trivial = is_trivial_op(node);
  out.elementwise_cost = op_info(node.op).cost;
  const bool keeps_elements = is_elementwise(node.op) || is_reorder(node);
  for (int s : input.sources[i]) {
    const NodeAnalysis& source = input.analysis[s];
    out.elementwise_cost += source.elementwise_cost;
    out.leaves += source.leaves;
    out.needs_buffer |= source.needs_buffer;
    out.trivial &= source.trivial;
    out.epilogue |= keeps_elements && source.epilogue && source.depth == out.depth;
    if (node.op == Op::VIEW) out.views = source.views + 1;
    const bool part = node.op == Op::VIEW && out.size < source.size;
    out.read += part ? source.read * out.size / source.size : source.read;
  }
  if (is_wide_broadcast(input, i)) out.leaves = 0, out.elementwise_cost = 0;
  if (node.op == Op::TAKE) out.leaves = std::max(out.leaves, 2);
  out.elementwise_cost = std::min(out.elementwise_cost, kMostElementwiseCost);
  out.leaves = std::min(out.leaves, 1000);
  return out;
}

}  // namespace

SizeEstimate::SizeEstimate(const std::vector<Expr>& symbols) {
  for (const Expr& s : symbols)
    values_[s.name()] = std::clamp(kTypicalSymbol, s.min(), std::max(s.min(), s.max()));
}

double SizeEstimate::of(const Dim& dim) const {
  return static_cast<double>(dim.is_const() ? dim.value() : dim.evaluate(values_));
}

double SizeEstimate::of(const Shape& shape) const {
  double out = 1;
  for (const Dim& dim : shape) out *= of(dim);
  return out;
}

SchedulerInput::SchedulerInput(const Graph& graph, const ScheduleOptions& options)
    : graph(graph), options(options), estimate(graph.symbols), nodes(topological(graph.outputs)) {
  index.reserve(nodes.size());
  sources.resize(nodes.size());
  analysis.reserve(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    index.try_emplace(nodes[i].get(), static_cast<int>(i));
    for (const NodeRef& s : nodes[i]->sources) sources[i].push_back(at(s));
    analysis.push_back(analyse_node(*this, static_cast<int>(i)));
  }
  device = node_devices(graph, options, nodes, index);
  mark_prologues(*this);
}

const Capabilities& SchedulerInput::capabilities(int i) const {
  return options.devices[std::max(0, device[i])].capabilities;
}

int SchedulerInput::strip_scalar_views(int i) const {
  const auto is_one = [](const Node& node) { return product(node.shape).is_const(1); };
  while (node(i).op == Op::VIEW && is_one(node(i)) && is_one(*node(i).sources[0]))
    i = sources[i][0];
  return i;
}

bool is_leaf(const Node& node) {
  return node.op == Op::CONST || node.op == Op::INDEX ||
         (node.op == Op::PARAM && node.as<ParamAttr>().is_dim);
}

bool is_param(const Node& node) { return node.op == Op::PARAM && !node.as<ParamAttr>().is_dim; }

bool is_command(const Node& node) {
  return node.op == Op::COPY || node.op == Op::IF || node.op == Op::LOOP;
}

bool is_constant(const Node& node) { return strip_casts_and_views(node).op == Op::CONST; }

bool is_pointwise(const Node& node) {
  return node.op == Op::VIEW || is_elementwise(node.op) || node.op == Op::CAST;
}

Graph with_changed_nodes(const SchedulerInput& input, Builder& builder, const ChangeNode& change) {
  Graph out = input.graph;
  out.outputs = remap(out.outputs, builder, {},
                      [&](const NodeRef& node, const std::vector<NodeRef>& sources) {
                        return change(input.at(node), sources);
                      });
  return out;
}

NodeRef with_blocks(Builder& builder, NodeRef x, int axis, int64_t count, int64_t length,
                    const Scalar& fill) {
  Shape shape = x->shape;
  const int64_t more = count * length - shape[axis].value();
  if (more > 0) {
    std::vector<std::pair<Dim, Dim>> pairs(shape.size(), {Dim(0), Dim(0)});
    pairs[static_cast<size_t>(axis)].second = Dim(more);
    x = builder.pad(std::move(x), std::move(pairs), fill);
  }
  shape[axis] = Dim(length);
  shape.insert(shape.begin() + axis, Dim(count));
  return builder.reshape(std::move(x), std::move(shape));
}

}  // namespace tenon::scheduling
