// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of tensors, as tensors: lazy like all others, and of any order.
//
//   auto [loss, g] = value_and_grad([](Tensor w, Tensor x) {
//     return x.matmul(w).square().mean();
//   })(w, x);
//
// Names are JAX's.
//
// The derivative where a function has none is what JAX and PyTorch agree on: equal operands of
// maximum and equal extremes of max share; sqrt has infinity at 0; what `where` does not choose
// contributes nothing, even where its own derivative is infinite. Narrow floats are differentiated
// in f32 and rounded once a tensor.
#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/compile.hpp"
#include "tenon/export.hpp"
#include "tenon/tensor.hpp"

namespace tenon {

/// Of one or more tensors, to one or more.
using TensorFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;
/// To a tensor of one element.
using LossFunction = std::function<Tensor(const std::vector<Tensor>&)>;

/// The gradient of a loss of one element by each of `wrt`: one tensor each, of its dtype and shape.
/// Throws kInvalid, naming the tensor, for one that is no float, is a constant, or that the loss
/// does not depend on; says where the path to it ends. A path goes on through values that were read
/// to what they were computed from, as long as that is held; where it needs a value that is gone it
/// is an error that names the call that computed it. It ends at stop_gradient and realize_detached.
TENON_API std::vector<Tensor> grad(const Tensor& loss, const std::vector<Tensor>& wrt);
/// Of an output of any shape, weighted by `seed` (of its dtype and shape): the vector-Jacobian
/// product.
TENON_API std::vector<Tensor> grad(const Tensor& output, const std::vector<Tensor>& wrt,
                                   const Tensor& seed);

/// A loss, and its gradients in the structure of what it was differentiated by.
template <class T>
struct ValueAndGrad {
  Tensor value;
  T gradients;
};

namespace compiled {
/// Throws kInvalid where it is not.
TENON_API void check_is_function(bool is_function);
TENON_API ValueAndGrad<std::vector<Tensor>> value_and_grad(const LossFunction& loss,
                                                           const std::vector<Tensor>& wrt,
                                                           const std::vector<std::string>& names);

template <class F>
struct ValueAndGradOf {
  F loss;
  std::vector<std::string> names;

  template <class T, class... Rest>
  ValueAndGrad<T> operator()(const T& wrt, const Rest&... rest) const {
    T out = wrt;
    std::vector<Tensor> leaves;
    visit(
        out, [&](Tensor& x) { leaves.push_back(x); }, [](int64_t) {});
    const auto of_leaves = [&](const std::vector<Tensor>& values) {
      T given = wrt;
      auto next = values.begin();
      visit(
          given, [&](Tensor& x) { x = *next++; }, [](int64_t) {});
      return Tensor(loss(given, rest...));
    };
    const ValueAndGrad<std::vector<Tensor>> found = value_and_grad(of_leaves, leaves, names);
    auto next = found.gradients.begin();
    visit(
        out, [&](Tensor& x) { x = *next++; }, [](int64_t) {});
    return {found.value, std::move(out)};
  }
  ValueAndGrad<std::vector<Tensor>> operator()(const std::vector<Tensor>& wrt) const {
    return value_and_grad(loss, wrt, names);
  }
};
}  // namespace compiled

/// A function that gives a loss of one element together with its gradients by the first argument:
/// a tensor, or what `compile` takes that is made of tensors (a list, a struct with fields()).
/// Tensors count by place, so that two equal constants are two; the function may read values.
/// `names` are what errors call them.
template <class F>
compiled::ValueAndGradOf<F> value_and_grad(F loss, std::vector<std::string> names = {}) {
  if constexpr (std::is_same_v<F, LossFunction>)
    compiled::check_is_function(static_cast<bool>(loss));
  return {std::move(loss), std::move(names)};
}

struct ValuesAndProducts {
  std::vector<Tensor> values;
  std::vector<Tensor> products;
};
/// Reverse mode: values of f, and the sum over its outputs of seed times Jacobian, by each input.
TENON_API ValuesAndProducts vjp(const TensorFunction& f, const std::vector<Tensor>& inputs,
                                const std::vector<Tensor>& seeds);
/// Forward mode: values of f, and how each changes with the inputs along the tangents.
TENON_API ValuesAndProducts jvp(const TensorFunction& f, const std::vector<Tensor>& inputs,
                                const std::vector<Tensor>& tangents);

/// The same values; a gradient ends here.
TENON_API Tensor stop_gradient(const Tensor& x);

/// f as a group of nodes called `name`: shown by it, and differentiated by `gradient` if there is
/// one. That takes the inputs, then the outputs, then an adjoint for each output, and gives one
/// for each input of a float dtype; neither may use other tensors then. f is called once for each
/// use, with tensors that have types but no values.
TENON_API TensorFunction composite(std::string name, TensorFunction f,
                                   TensorFunction gradient = nullptr);

/// f, whose values between inputs and outputs are not kept for the gradient but computed again.
TENON_API TensorFunction checkpoint(TensorFunction f);

/// While one lives, what tensors that are read on this thread were computed from stays alive, so
/// that paths of gradients through them need nobody else to hold it. It is destroyed on the thread
/// that made it.
class TENON_API GradientTape {
 public:
  GradientTape();
  ~GradientTape();
  GradientTape(const GradientTape&) = delete;
  GradientTape& operator=(const GradientTape&) = delete;

 private:
  const void* thread_;
};

}  // namespace tenon
