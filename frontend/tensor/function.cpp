// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions from text, and their calls on tensors.
#include "tenon/function.hpp"

#include "core/autodiff/autodiff.hpp"
#include "core/ir/text/text.hpp"
#include "core/ir/verify.hpp"
#include "core/runtime/run_inputs.hpp"
#include "core/support/error.hpp"
#include "frontend/tensor/donation.hpp"
#include "frontend/tensor/origin.hpp"
#include "frontend/tensor/sizes.hpp"
#include "frontend/tensor/tape.hpp"
#include "tenon/compile.hpp"

namespace tenon {
namespace {

/// What a call is made of, once its inputs have values.
struct Call {
  std::vector<Tensor> inputs;
  std::vector<bool> gives;
  SymbolValues symbols;
};

std::vector<BufferRef> buffers_of(const Call& call) {
  std::vector<BufferRef> out;
  for (const Tensor& x : call.inputs) out.push_back(buffer_of(*node_of(x)));
  return out;
}

Call begin_call(Context& context, const Graph& graph, std::vector<Tensor> inputs,
                const CallOptions& options) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (is_number(inputs[i])) {
      const DType dtype = i < graph.params.size() ? graph.params[i]->dtype : inputs[i].dtype();
      inputs[i] = make_tensor(context, builder_of(context).constant(inputs[i].state()->number->as(
                                           graph.name.c_str(), dtype)));
    }
    node_in(context, inputs[i]);
  }
  realize(inputs);
  Call out;
  std::vector<ArrayType> types;
  for (const Tensor& x : inputs) types.push_back({x.dtype(), shape_of_value(x)});
  out.symbols = infer_symbols(graph, types, options.symbols);
  check_types(graph, types, out.symbols);
  out.gives.resize(inputs.size());
  for (const size_t place : options.donate) {
    compiled::check_donated_place(graph.name, place, inputs.size());
    out.gives[place] = true;
  }
  out.inputs = std::move(inputs);
  return out;
}

/// Of other values of symbols it would be another graph.
std::shared_ptr<const Origin> origin_of(const Function& function, const Call& call) {
  std::vector<NodeRef> given;
  for (const Tensor& x : call.inputs) given.push_back(node_of(x));
  if (Tape* const tape = Tape::current())
    for (size_t i = 0; i < given.size(); ++i)
      if (!call.gives[i]) tape->hold({given[i]});
  return make_origin(function.name(), call.symbols.empty() ? function.shared_graph() : nullptr,
                     given);
}

std::vector<FunctionValue> values_of(const std::vector<NodeRef>& nodes,
                                     const std::vector<std::string>& names) {
  std::vector<FunctionValue> out;
  for (size_t i = 0; i < nodes.size(); ++i)
    out.push_back({i < names.size() ? names[i] : "", nodes[i]->dtype, to_sizes(nodes[i]->shape)});
  return out;
}

}  // namespace

Function Function::parse(std::string_view text, Context& context, std::string_view origin) {
  return Function(std::make_shared<Graph>(parse_graph(text, builder_of(context), origin)));
}

const std::string& Function::name() const { return graph_->name; }

std::string Function::text() const { return print(*graph_); }

std::vector<FunctionValue> Function::inputs() const {
  std::vector<std::string> names;
  for (const NodeRef& param : graph_->params) names.push_back(param->as<ParamAttr>().name);
  return values_of(graph_->params, names);
}

std::vector<FunctionValue> Function::outputs() const {
  return values_of(graph_->outputs, graph_->output_names);
}

Function Function::gradient(const std::vector<std::string>& inputs, Context& context,
                            const std::string& output) const {
  auto graph = std::make_shared<Graph>(
      gradient_graph(*graph_, output_number(*graph_, output), inputs, builder_of(context)));
  verify(*graph);
  return Function(std::move(graph));
}

std::vector<Tensor> Context::call(const Function& function, const std::vector<Tensor>& inputs,
                                  const CallOptions& options) {
  const Graph& graph = function.graph();
  const Call call = begin_call(*this, graph, inputs, options);
  Donation donation(*this, graph.name, call.inputs, call.gives);
  std::vector<BufferRef> results =
      impl_->runtime.run(graph, buffers_of(call), call.symbols, nullptr, call.gives);
  const std::shared_ptr<const Origin> origin = origin_of(function, call);
  donation.complete();
  std::vector<Tensor> out;
  for (size_t o = 0; o < results.size(); ++o) {
    const Node& node = *graph.outputs[o];
    Shape shape;
    for (const Dim& dim : node.shape) shape.emplace_back(dim.evaluate(call.symbols));
    out.push_back(
        make_tensor(*this, buffer_node(*this, std::move(results[o]), node.dtype, std::move(shape),
                                       {}, is_float(node.dtype) ? Made{origin, o} : Made())));
  }
  return out;
}

void Context::prepare(const Function& function, const std::vector<Tensor>& inputs,
                      const CallOptions& options) {
  const Call call = begin_call(*this, function.graph(), inputs, options);
  impl_->runtime.planned(function.graph(), buffers_of(call), nullptr, call.gives);
}

}  // namespace tenon
