// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of tensors, as tensors: lazy like all others, and of any order.
//
//   auto [loss, g] = value_and_gradient([&](auto& w) { return mean_squared_error(w); })(weights);
//
// The derivative where a function has none is what JAX and PyTorch agree on: equal operands of
// maximum and equal extremes of max share; sqrt has infinity at 0; what `where` does not choose
// contributes nothing, even where its own derivative is infinite. Narrow floats are differentiated
// in f32 and rounded once a tensor.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tenon/export.hpp"
#include "tenon/tensor.hpp"

namespace tenon {

/// Of one or more tensors, to one or more.
using TensorFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;
/// To a tensor of one element.
using LossFunction = std::function<Tensor(const std::vector<Tensor>&)>;

/// The gradient of a loss of one element by each of `wrt`: one tensor each, of its dtype and shape.
/// Throws kInvalid, naming the tensor, for one that is no float, is a constant, or that the loss
/// does not depend on; says where the path to it ends. A value that was read is such an end, unless
/// a GradientTape was there.
TENON_API std::vector<Tensor> gradient(const Tensor& loss, const std::vector<Tensor>& wrt);
/// Of an output of any shape, weighted by `seed` (of its dtype and shape): the vector-Jacobian
/// product.
TENON_API std::vector<Tensor> gradient(const Tensor& output, const std::vector<Tensor>& wrt,
                                       const Tensor& seed);

struct ValueAndGradients {
  Tensor value;
  std::vector<Tensor> gradients;  ///< one for each argument
};
/// A function that gives a loss together with its gradients by all arguments. Arguments count by
/// place, so that two equal constants are two; the function may read values. `names` are what
/// errors call them.
TENON_API std::function<ValueAndGradients(const std::vector<Tensor>&)> value_and_gradient(
    LossFunction loss, std::vector<std::string> names = {});

struct ValuesAndProducts {
  std::vector<Tensor> values;
  std::vector<Tensor> products;
};
/// Reverse mode: values of f, and the sum over its outputs of seed times Jacobian, by each input.
TENON_API ValuesAndProducts vector_jacobian(const TensorFunction& f,
                                            const std::vector<Tensor>& inputs,
                                            const std::vector<Tensor>& seeds);
/// Forward mode: values of f, and how each changes with the inputs along the tangents.
TENON_API ValuesAndProducts jacobian_vector(const TensorFunction& f,
                                            const std::vector<Tensor>& inputs,
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

/// While one lives, reading a tensor on this thread does not end the path of a gradient through
/// it. It keeps alive what such paths need, and is destroyed on the thread that made it.
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
