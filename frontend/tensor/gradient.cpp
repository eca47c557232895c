// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of tensors, by core/autodiff.
#include "tenon/gradient.hpp"

#include <algorithm>

#include "core/autodiff/autodiff.hpp"
#include "core/ir/substitute.hpp"
#include "core/support/error.hpp"
#include "frontend/tensor/state.hpp"
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

/// Nodes as they were before tensors were read, and the other way round.
class Unread {
 public:
  explicit Unread(Builder& builder) : builder_(builder) {
    const Tape* const tape = Tape::current();
    if (!tape) return;
    for (const Tape::Entry& entry : tape->entries()) {
      NodeRef origin = substitute({entry.origin}, origins_, builder)[0];
      if (!buffer_of(*origin)) read_.try_emplace(origin.get(), entry.buffer);
      origins_.try_emplace(entry.buffer.get(), origin);
      alive_.push_back(std::move(origin));
    }
  }

  std::vector<NodeRef> before(const std::vector<NodeRef>& nodes) const {
    return substitute(nodes, origins_, builder_);
  }
  /// Values that are there need not be computed again.
  NodeRef after(const NodeRef& node) const { return substitute({node}, read_, builder_)[0]; }

 private:
  Builder& builder_;
  FlatMap<const Node*, NodeRef> origins_, read_;
  std::vector<NodeRef> alive_;
};

Context& context_of_all(const char* op, const std::vector<const std::vector<Tensor>*>& lists) {
  Context* context = nullptr;
  for (const auto* list : lists) {
    for (const Tensor& x : *list) {
      if (x.state()->number) continue;
      TN_REQUIRE(!context || context == &x.context(),
                 "[{}] expected tensors of one context, got two", op);
      context = &x.context();
    }
  }
  return context ? *context : Context::standard();
}

std::vector<NodeRef> nodes_of(const std::vector<Tensor>& tensors) {
  std::vector<NodeRef> out;
  for (const Tensor& x : tensors) out.push_back(node_of(x));
  return out;
}

std::string place(size_t i, const Node& node) {
  return fmt::format("argument {} ({})", i, type_string(node));
}

void check_leaf(const char* op, size_t i, const NodeRef& node) {
  TN_REQUIRE(is_float(node->dtype), "[{}] expected a float dtype, got {}", op, place(i, *node));
  TN_REQUIRE(
      node->op != Op::CONST,
      "[{}] expected a tensor with a value of its own, got the constant {}; realize it first", op,
      place(i, *node));
}

/// Gradients of weighted outputs, each there. The outputs' handles are made to share what the
/// gradients need.
std::vector<Tensor> gradients_of(const char* op, Context& context,
                                 const std::vector<Tensor>& outputs,
                                 const std::vector<NodeRef>& seeds, const std::vector<NodeRef>& wrt,
                                 bool zero_if_none) {
  Builder& builder = builder_of(context);
  const Unread unread(builder);
  const std::vector<NodeRef> before = unread.before(nodes_of(outputs));
  const std::vector<NodeRef> leaves = unread.before(wrt);
  const Gradients made = vector_jacobian(before, seeds, leaves, builder, options());
  std::vector<Tensor> out;
  for (size_t i = 0; i < wrt.size(); ++i) {
    const NodeRef& gradient = made.of[i];
    if (!gradient && zero_if_none) {
      out.push_back(make_tensor(context, builder.constant(zero(wrt[i]->dtype), wrt[i]->shape)));
      continue;
    }
    const bool was_read = std::ranges::all_of(
        before, [](const NodeRef& node) { return buffer_of(*node) != nullptr; });
    TN_REQUIRE(gradient, "[{}] expected an output that depends on {}, got one where {}{}", op,
               place(i, *wrt[i]), why_no_gradient(before, leaves[i]),
               was_read ? "; its value was read before, which ends the path: ask for the gradient "
                          "first, or keep a GradientTape"
                        : "");
    out.push_back(make_tensor(context, unread.after(gradient)));
  }
  for (size_t i = 0; i < outputs.size(); ++i)
    if (made.outputs[i] != before[i] && !outputs[i].state()->number)
      outputs[i].state()->node = unread.after(made.outputs[i]);
  return out;
}

/// Arguments as leaves that are told apart: a constant, and what was an argument before, gets a
/// buffer of its own.
std::vector<Tensor> leaves_of(const char* op, Context& context, const std::vector<Tensor>& inputs) {
  std::vector<Tensor> leaves;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const NodeRef& node = node_of(inputs[i]);
    TN_REQUIRE(is_float(node->dtype), "[{}] expected a float dtype, got {}", op, place(i, *node));
    const bool repeats =
        std::ranges::any_of(leaves, [&](const Tensor& leaf) { return node_of(leaf) == node; });
    if (node->op != Op::CONST && !repeats) {
      leaves.push_back(make_tensor(context, node));
      continue;
    }
    Tensor own = make_tensor(context, node);
    Tensor::realize({own});
    leaves.push_back(make_tensor(
        context, buffer_node(context, buffer_of(*node_of(own)), node->dtype, static_shape(*node))));
  }
  return leaves;
}

void check_like(const char* op, const char* what, const std::vector<Tensor>& of,
                const std::vector<Tensor>& given) {
  TN_REQUIRE(of.size() == given.size(), "[{}] expected {} {}, got {}", op, of.size(), what,
             given.size());
  for (size_t i = 0; i < of.size(); ++i)
    TN_REQUIRE(of[i].dtype() == given[i].dtype() && of[i].shape() == given[i].shape(),
               "[{}] expected {} {} of type {}, got {}", op, what, i, type_string(*node_of(of[i])),
               type_string(*node_of(given[i])));
}

void check_loss(const char* op, const Tensor& loss) {
  TN_REQUIRE(is_float(loss.dtype()), "[{}] expected a loss of a float dtype, got {}", op,
             type_string(*node_of(loss)));
  TN_REQUIRE(loss.size() == 1,
             "[{}] expected a loss of one element or a seed for it, got {} without one", op,
             type_string(*node_of(loss)));
}

}  // namespace

std::vector<Tensor> gradient(const Tensor& loss, const std::vector<Tensor>& wrt) {
  check_loss("gradient", loss);
  return gradient(loss, wrt, constant_like(loss, 1));
}

std::vector<Tensor> gradient(const Tensor& output, const std::vector<Tensor>& wrt,
                             const Tensor& seed) {
  const std::vector<Tensor> outputs{output}, seeds{seed};
  Context& context = context_of_all("gradient", {&outputs, &wrt, &seeds});
  check_like("gradient", "seed", outputs, seeds);
  const std::vector<NodeRef> leaves = nodes_of(wrt);
  for (size_t i = 0; i < leaves.size(); ++i) {
    check_leaf("gradient", i, leaves[i]);
    for (size_t j = 0; j < i; ++j)
      TN_REQUIRE(leaves[i] != leaves[j],
                 "[gradient] expected different tensors, got argument {} twice, as {} too", j, i);
  }
  return gradients_of("gradient", context, outputs, nodes_of(seeds), leaves,
                      /*zero_if_none=*/false);
}

std::function<ValueAndGradients(const std::vector<Tensor>&)> value_and_gradient(LossFunction loss) {
  return [loss = std::move(loss)](const std::vector<Tensor>& inputs) {
    const GradientTape tape;
    Context& context = context_of_all("value_and_gradient", {&inputs});
    const std::vector<Tensor> leaves = leaves_of("value_and_gradient", context, inputs);
    ValueAndGradients out{loss(leaves), {}};
    check_loss("value_and_gradient", out.value);
    const Tensor seed = constant_like(out.value, 1);
    out.gradients = gradients_of("value_and_gradient", context, {out.value}, {node_of(seed)},
                                 nodes_of(leaves), /*zero_if_none=*/false);
    return out;
  };
}

ValuesAndProducts vector_jacobian(const TensorFunction& f, const std::vector<Tensor>& inputs,
                                  const std::vector<Tensor>& seeds) {
  const GradientTape tape;
  Context& context = context_of_all("vector_jacobian", {&inputs, &seeds});
  const std::vector<Tensor> leaves = leaves_of("vector_jacobian", context, inputs);
  ValuesAndProducts out{f(leaves), {}};
  check_like("vector_jacobian", "seeds", out.values, seeds);
  out.products = gradients_of("vector_jacobian", context, out.values, nodes_of(seeds),
                              nodes_of(leaves), /*zero_if_none=*/true);
  return out;
}

ValuesAndProducts jacobian_vector(const TensorFunction& f, const std::vector<Tensor>& inputs,
                                  const std::vector<Tensor>& tangents) {
  const GradientTape tape;
  Context& context = context_of_all("jacobian_vector", {&inputs, &tangents});
  check_like("jacobian_vector", "tangents", inputs, tangents);
  const std::vector<Tensor> leaves = leaves_of("jacobian_vector", context, inputs);
  ValuesAndProducts out{f(leaves), {}};
  Builder& builder = builder_of(context);
  const Unread unread(builder);
  const std::vector<NodeRef> outputs = unread.before(nodes_of(out.values));
  const std::vector<NodeRef> products = jacobian_vector(outputs, unread.before(nodes_of(leaves)),
                                                        nodes_of(tangents), builder, options());
  for (size_t i = 0; i < outputs.size(); ++i)
    out.products.push_back(make_tensor(
        context, products[i] ? unread.after(products[i])
                             : builder.constant(zero(outputs[i]->dtype), outputs[i]->shape)));
  return out;
}

}  // namespace tenon
