// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/tensor/trace.hpp"

#include <algorithm>
#include <atomic>
#include <set>

#include "core/ir/substitute.hpp"
#include "core/support/error.hpp"
#include "frontend/tensor/sizes.hpp"

namespace tenon {
namespace {

/// The last of the smallest values that this one is a view of: what is repeated is so inside.
NodeRef below_views(const NodeRef& node) {
  const auto size = [](const NodeRef& x) { return product(x->shape).max(); };
  NodeRef smallest = node;
  for (NodeRef at = node; at->op == Op::VIEW;) {
    at = at->sources[0];
    if (size(at) < size(smallest)) smallest = at;
  }
  return smallest;
}

/// Of each node that is asked after all below it: whether buffers of outside tell every size of its
/// graph.
class KnownSizes {
 public:
  bool of(const NodeRef& node) {
    SymbolsUsed own("trace");
    own.add(*node);
    std::set<std::string> used, told;
    for (const Expr& symbol : own.list()) used.insert(symbol.name());
    if (buffer_of(*node)) told = used;
    for (const NodeRef& source : node->sources)
      if (const Names* const below = known_.find(source.get())) {
        used.insert(below->used.begin(), below->used.end());
        told.insert(below->told.begin(), below->told.end());
      }
    const bool all = std::ranges::includes(told, used);
    if (!used.empty()) known_.try_emplace(node.get(), {std::move(used), std::move(told)});
    return all;
  }

 private:
  struct Names {
    std::set<std::string> used, told;
  };
  FlatMap<const Node*, Names> known_;
};

/// Nodes that do not depend on the params but on others, as they enter the rest.
std::vector<NodeRef> captured_by(const std::vector<NodeRef>& outputs,
                                 const std::vector<NodeRef>& params, bool ahead) {
  FlatMap<const Node*, char> own, outer;
  for (const NodeRef& param : params) own.try_emplace(param.get());
  std::vector<NodeRef> captured;
  FlatMap<const Node*, char> seen;
  KnownSizes sizes;
  const auto capture = [&](const NodeRef& node) {
    if (!outer.contains(node.get()) || own.contains(node.get())) return;
    const NodeRef value = below_views(node);
    if (seen.try_emplace(value.get()).second) captured.push_back(value);
  };
  for (const NodeRef& node : topological(outputs)) {
    if (own.contains(node.get())) continue;
    if (node->op == Op::PARAM && !node->as<ParamAttr>().is_dim) outer.try_emplace(node.get());
    const auto is_in = [&](const FlatMap<const Node*, char>& set) {
      return std::ranges::any_of(node->sources,
                                 [&](const NodeRef& s) { return set.contains(s.get()); });
    };
    if (is_in(outer)) outer.try_emplace(node.get());
    if (is_in(own) || (ahead && !sizes.of(node) && outer.contains(node.get())))
      own.try_emplace(node.get());
    if (own.contains(node.get()))
      for (const NodeRef& source : node->sources) capture(source);
  }
  for (const NodeRef& output : outputs) capture(output);
  return captured;
}

/// Functions that are traced on this thread, within each other.
int& depth() {
  thread_local int count = 0;
  return count;
}

}  // namespace

bool depends_on_arguments(const std::vector<Tensor>& tensors) {
  if (depth() == 0) return false;
  std::vector<NodeRef> nodes;
  for (const Tensor& x : tensors)
    if (!is_number(x)) nodes.push_back(node_of(x));
  return std::ranges::any_of(topological(nodes), [](const NodeRef& node) {
    return node->op == Op::PARAM && !node->as<ParamAttr>().is_dim && !buffer_of(*node);
  });
}

Traced trace(const std::string& name, const TensorFunction& f, const std::vector<NodeRef>& like,
             Context& context, const std::vector<bool>& is_number, bool ahead) {
  static std::atomic<uint64_t> next{1};
  constexpr uint64_t kTraced = 0x7472616300000000;
  Builder& builder = builder_of(context);
  std::vector<Tensor> arguments;
  std::vector<NodeRef> params;
  for (const NodeRef& node : like) {
    params.push_back(builder.param("argument", node->dtype, node->shape, kTraced + next++));
    arguments.push_back(make_tensor(context, params.back()));
    const size_t i = arguments.size() - 1;
    if (i >= is_number.size() || !is_number[i]) continue;
    Tensor::State& state = *arguments.back().state();
    state.exact = params.back();
    // Alone it is what a number alone is.
    if (state.node->dtype == DType::kF64) state.node = builder.cast(state.node, DType::kF32);
  }
  std::vector<Tensor> results;
  {
    const Deeper hold(depth());
    results = f(arguments);
  }
  TN_REQUIRE(!results.empty(), "[{}] expected a function that gives tensors, got none", name);
  const std::vector<NodeRef> outputs = nodes_in(context, results);
  Traced out;
  out.captured = captured_by(outputs, params, ahead);
  params.insert(params.end(), out.captured.begin(), out.captured.end());
  FlatMap<const Node*, NodeRef> own;
  Graph body;
  body.name = name;
  for (size_t i = 0; i < params.size(); ++i)
    own.try_emplace(params[i].get(), fresh_param(builder, "x" + std::to_string(i), *params[i],
                                                 params[i]->dtype, body));
  body.outputs = substitute(outputs, own, builder);
  body.output_names.resize(outputs.size());
  body.symbols = symbols_in(name.c_str(), body);
  out.body = context.impl().bodies.one_of(std::move(body));
  return out;
}

}  // namespace tenon
