// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of tensors, by core/autodiff.
#include "tenon/gradient.hpp"

#include <algorithm>

#include "core/autodiff/autodiff.hpp"
#include "core/ir/substitute.hpp"
#include "core/support/error.hpp"
#include "frontend/tensor/origin.hpp"
#include "frontend/tensor/sizes.hpp"
#include "frontend/tensor/tape.hpp"

namespace tenon {
namespace {

GradientOptions options() {
  GradientOptions out;
  out.device_of = [](const Node& param) {
    const BufferRef buffer = buffer_of(param);
    return buffer ? buffer->device().id() : std::string();
  };
  return out;
}

/// Who asks, and what the caller calls the arguments.
struct Asked {
  Asked(const char* name, std::vector<std::string> names = {})
      : op(name), arguments(std::move(names)) {}
  std::string place(size_t i, const Node& node) const {
    return fmt::format("{} ({})",
                       i < arguments.size() ? arguments[i] : fmt::format("argument {}", i),
                       type_string(node));
  }
  const char* op;
  std::vector<std::string> arguments;
};

void check_leaf(const Asked& asked, size_t i, const NodeRef& node) {
  TN_REQUIRE(is_float(node->dtype), "[{}] expected a float dtype, got {}", asked.op,
             asked.place(i, *node));
  TN_REQUIRE(
      node->op != Op::CONST,
      "[{}] expected a tensor with a value of its own, got the constant {}; realize it first",
      asked.op, asked.place(i, *node));
}

/// Zeros where there is no node.
std::vector<Tensor> tensors_of(Context& context, const std::vector<NodeRef>& nodes,
                               const std::vector<NodeRef>& like) {
  std::vector<Tensor> out;
  for (size_t i = 0; i < nodes.size(); ++i)
    out.push_back(make_tensor(
        context,
        nodes[i] ? nodes[i] : builder_of(context).constant(zero(like[i]->dtype), like[i]->shape)));
  return out;
}

/// Gradients of weighted outputs, each there. The outputs' handles are made to share what the
/// gradients need.
std::vector<Tensor> gradients_of(const Asked& asked, Context& context,
                                 const std::vector<Tensor>& outputs,
                                 const std::vector<NodeRef>& seeds, const std::vector<NodeRef>& wrt,
                                 bool zero_if_none) {
  Builder& builder = builder_of(context);
  const std::vector<NodeRef> now = nodes_in(context, outputs);
  const History history(asked.op, builder, now, wrt);
  const std::vector<NodeRef> before = history.before(now);
  const std::vector<NodeRef> leaves = history.before(wrt);
  const Gradients made = vector_jacobian(before, seeds, leaves, builder, options());
  for (size_t i = 0; i < wrt.size() && !zero_if_none; ++i)
    TN_REQUIRE(made.of[i], "[{}] expected an output that depends on {}, got one where {}", asked.op,
               asked.place(i, *wrt[i]), why_no_gradient(before, leaves[i]));
  std::vector<NodeRef> found = made.of;
  found.insert(found.end(), made.outputs.begin(), made.outputs.end());
  found = history.after(found);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (made.outputs[i] != before[i] && !outputs[i].state()->number)
      outputs[i].state()->node = found[wrt.size() + i];
  found.resize(wrt.size());
  return tensors_of(context, found, wrt);
}

/// Arguments as leaves that are told apart: a constant, and what was an argument before, gets a
/// buffer of its own.
std::vector<Tensor> leaves_of(const Asked& asked, Context& context,
                              const std::vector<Tensor>& inputs) {
  std::vector<Tensor> leaves;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const NodeRef& node = node_of(inputs[i]);
    TN_REQUIRE(is_float(node->dtype), "[{}] expected a float dtype, got {}", asked.op,
               asked.place(i, *node));
    const bool repeats =
        std::ranges::any_of(leaves, [&](const Tensor& leaf) { return node_of(leaf) == node; });
    if (node->op != Op::CONST && !repeats) {
      leaves.push_back(make_tensor(context, node));
      continue;
    }
    Tensor own = make_tensor(context, node);
    realize({own});
    leaves.push_back(
        make_tensor(context, buffer_node(context, buffer_of(*node_of(own)), node->dtype,
                                         node->shape, symbols_of(*node_of(own)))));
  }
  return leaves;
}

struct Called {
  Context& context;
  std::vector<NodeRef> leaves;
  std::vector<Tensor> values;
};

/// What f gives on leaves in place of the inputs. `others` have its context.
Called call_on_leaves(const Asked& asked, const TensorFunction& f,
                      const std::vector<Tensor>& inputs, const std::vector<Tensor>& others) {
  TN_REQUIRE(f, "[{}] expected a function, got none", asked.op);
  Context& context = context_of(asked.op, {inputs, others});
  const std::vector<Tensor> leaves = leaves_of(asked, context, inputs);
  return {context, nodes_in(context, leaves), f(leaves)};
}

void check_like(const char* op, const char* what, const std::vector<Tensor>& of,
                const std::vector<Tensor>& given) {
  TN_REQUIRE(of.size() == given.size(), "[{}] expected {} {}s, got {}", op, of.size(), what,
             given.size());
  for (size_t i = 0; i < of.size(); ++i)
    TN_REQUIRE(of[i].dtype() == given[i].dtype() && same_shape(dims_of(of[i]), dims_of(given[i])),
               "[{}] expected {} {} of type {}, got {}", op, what, i, type_string(*node_of(of[i])),
               type_string(*node_of(given[i])));
}

void check_outputs(const char* op, const std::vector<Tensor>& values) {
  for (size_t i = 0; i < values.size(); ++i)
    TN_REQUIRE(is_float(values[i].dtype()),
               "[{}] expected outputs of a float dtype, got output {} ({})", op, i,
               type_string(*node_of(values[i])));
}

void check_loss(const char* op, const Tensor& loss) {
  TN_REQUIRE(is_float(loss.dtype()), "[{}] expected a loss of a float dtype, got {}", op,
             type_string(*node_of(loss)));
  TN_REQUIRE(product(dims_of(loss)).is_const(1),
             "[{}] expected a loss of one element or a seed for it, got {} without one", op,
             type_string(*node_of(loss)));
}

}  // namespace

std::vector<Tensor> grad(const Tensor& loss, const std::vector<Tensor>& wrt) {
  check_loss("grad", loss);
  return grad(loss, wrt, constant_like(loss, 1));
}

std::vector<Tensor> grad(const Tensor& output, const std::vector<Tensor>& wrt, const Tensor& seed) {
  const std::vector<Tensor> outputs{output}, seeds{seed};
  Context& context = context_of("grad", {outputs, wrt, seeds});
  check_like("grad", "seed", outputs, seeds);
  const std::vector<NodeRef> leaves = nodes_in(context, wrt);
  for (size_t i = 0; i < leaves.size(); ++i) {
    check_leaf("grad", i, leaves[i]);
    for (size_t j = 0; j < i; ++j)
      TN_REQUIRE(leaves[i] != leaves[j],
                 "[grad] expected different tensors, got argument {} twice, as {} too", j, i);
  }
  return gradients_of("grad", context, outputs, nodes_in(context, seeds), leaves,
                      /*zero_if_none=*/false);
}

void compiled::check_is_function(bool is_function) {
  TN_REQUIRE(is_function, "[value_and_grad] expected a function, got none");
}

ValueAndGrad<std::vector<Tensor>> compiled::value_and_grad(const LossFunction& loss,
                                                           const std::vector<Tensor>& wrt,
                                                           const std::vector<std::string>& names) {
  const Asked asked("value_and_grad", names);
  const GradientTape tape;
  const auto of_loss = [&](const std::vector<Tensor>& x) { return std::vector{loss(x)}; };
  const Called called = call_on_leaves(asked, of_loss, wrt, {});
  const Tensor& value = called.values[0];
  check_loss(asked.op, value);
  return {value,
          gradients_of(asked, called.context, called.values, {node_of(constant_like(value, 1))},
                       called.leaves, /*zero_if_none=*/false)};
}

ValuesAndProducts vjp(const TensorFunction& f, const std::vector<Tensor>& inputs,
                      const std::vector<Tensor>& seeds) {
  const char* const op = "vjp";
  const GradientTape tape;
  const Called called = call_on_leaves(op, f, inputs, seeds);
  check_outputs(op, called.values);
  check_like(op, "seed", called.values, seeds);
  return {called.values,
          gradients_of(op, called.context, called.values, nodes_in(called.context, seeds),
                       called.leaves, /*zero_if_none=*/true)};
}

ValuesAndProducts jvp(const TensorFunction& f, const std::vector<Tensor>& inputs,
                      const std::vector<Tensor>& tangents) {
  const char* const op = "jvp";
  check_like(op, "tangent", inputs, tangents);
  const GradientTape tape;
  const Called called = call_on_leaves(op, f, inputs, tangents);
  check_outputs(op, called.values);
  Builder& builder = builder_of(called.context);
  const std::vector<NodeRef> now = nodes_in(called.context, called.values);
  const History history(op, builder, now, called.leaves);
  const std::vector<NodeRef> outputs = history.before(now);
  const std::vector<NodeRef> products =
      jacobian_vector(outputs, history.before(called.leaves), nodes_in(called.context, tangents),
                      builder, options());
  return {called.values, tensors_of(called.context, history.after(products), outputs)};
}

}  // namespace tenon
