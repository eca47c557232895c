// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions as nodes: traced, and called by a CALL.
#include "core/support/error.hpp"
#include "frontend/tensor/trace.hpp"
#include "tenon/gradient.hpp"

namespace tenon {
namespace {

struct Arguments {
  Context& context;
  std::vector<NodeRef> nodes;
};

Arguments arguments_of(const char* op, const std::vector<Tensor>& inputs) {
  TN_REQUIRE(!inputs.empty(), "[{}] expected at least one tensor, got none", op);
  Context& context = context_of(op, {inputs});
  return {context, nodes_in(context, inputs)};
}

std::vector<Tensor> call(Context& context, std::vector<NodeRef> inputs, const Traced& traced,
                         CallMode mode, const GraphRef& gradient) {
  inputs.insert(inputs.end(), traced.captured.begin(), traced.captured.end());
  std::vector<Tensor> out;
  for (size_t r = 0; r < traced.body->outputs.size(); ++r)
    out.push_back(make_tensor(
        context,
        builder_of(context).call(inputs, traced.body, static_cast<int>(r), mode, gradient)));
  return out;
}

void check_alone(const std::string& name, const char* what, const Traced& traced) {
  TN_REQUIRE(traced.captured.empty(),
             "[{}] expected a {} that uses its arguments alone, got one that uses {} too", name,
             what, type_string(*traced.captured[0]));
}

}  // namespace

GraphRef Bodies::one_of(Graph graph) {
  Key key{graph.name, {}};
  for (const NodeRef& node : graph.params) key.second.push_back(node.get());
  for (const NodeRef& node : graph.outputs) key.second.push_back(node.get());
  const std::lock_guard lock(mutex_);
  if (known_.size() > 2 * alive_) {
    std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
    alive_ = known_.size() + 64;
  }
  std::weak_ptr<const Graph>& known = known_[std::move(key)];
  GraphRef body = known.lock();
  if (!body) known = body = std::make_shared<const Graph>(std::move(graph));
  return body;
}

TensorFunction composite(std::string name, TensorFunction f, TensorFunction gradient) {
  TN_REQUIRE(!name.empty() && name.size() <= kMaxName,
             "[composite] expected a name of 1 to {} bytes, got {}", kMaxName, name.size());
  TN_REQUIRE(f, "[composite] expected a function for {}, got none", name);
  return [name = std::move(name), f = std::move(f),
          gradient = std::move(gradient)](const std::vector<Tensor>& inputs) {
    const auto [context, nodes] = arguments_of(name.c_str(), inputs);
    const Traced traced = trace(name, f, nodes, context);
    if (!gradient) return call(context, nodes, traced, CallMode::kPlain, nullptr);
    check_alone(name, "function with a gradient", traced);
    std::vector<NodeRef> given = nodes;
    for (int pass = 0; pass < 2; ++pass)
      given.insert(given.end(), traced.body->outputs.begin(), traced.body->outputs.end());
    const Traced adjoint =
        trace(name.substr(0, kMaxName - 9) + "_gradient", gradient, given, context);
    check_alone(name, "gradient", adjoint);
    return call(context, nodes, traced, CallMode::kPlain, adjoint.body);
  };
}

TensorFunction checkpoint(TensorFunction f) {
  TN_REQUIRE(f, "[checkpoint] expected a function, got none");
  return [f = std::move(f)](const std::vector<Tensor>& inputs) {
    const auto [context, nodes] = arguments_of("checkpoint", inputs);
    return call(context, nodes, trace("checkpoint", f, nodes, context), CallMode::kRecompute,
                nullptr);
  };
}

Tensor stop_gradient(const Tensor& x) {
  Context& context = x.context();
  const std::vector<NodeRef> nodes{node_in(context, x)};
  const auto same = [](const std::vector<Tensor>& inputs) { return inputs; };
  return call(context, nodes, trace("stop_gradient", same, nodes, context), CallMode::kStop,
              nullptr)[0];
}

}  // namespace tenon
