// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Learning in narrow dtypes: parameters stay f32, what is computed with them is bf16 or f16.
//
//   const nn::Optimizer optimizer = nn::scale_loss(nn::adamw());
//   const Tensor scale = nn::loss_scale(optimizer, state);
//   auto [loss, gradients] = nn::value_and_grad(model, [&](Net& m) {
//     return scale * nn::compute_in(DType::kF16, m, [&](Net& narrow) {
//       return nn::cross_entropy(narrow(x.astype(DType::kF16)).astype(DType::kF32), y);
//     });
//   });
//   optimizer.update(model, gradients, state);  // left out where a gradient is not finite
#pragma once

#include "tenon/export.hpp"
#include "tenon/nn/module.hpp"
#include "tenon/nn/optimizers/optimizer.hpp"

namespace tenon::nn {

struct LossScaleOptions {
  double begin = 65536, growth = 2, backoff = 0.5;
  int64_t interval = 2000;  ///< updates in a row after which the scale grows
};
/// Gradients of a loss that was multiplied by loss_scale. Where all are finite `inner` gets them
/// divided by it; elsewhere parameters and what inner keeps stay, and the scale shrinks, to 2^-126
/// at least (Micikevicius et al., 2017, as PyTorch's GradScaler has it). Throws kInvalid for an
/// inner that has one.
TENON_API Optimizer scale_loss(const Optimizer& inner, const LossScaleOptions& options = {});
/// Whether it has such a scale.
TENON_API bool scales_loss(const Optimizer& optimizer);
/// The scale now, f32 []; of an optimizer without one the number 1.
TENON_API Tensor loss_scale(const Optimizer& optimizer, const OptimizerState& state);

/// f of a copy whose float parameters are of the dtype, through which gradients go. What the copy
/// leaves in buffers is kept in the model, in the dtype that it has there.
template <Module M, class F>
auto compute_in(DType dtype, M& model, const F& f) {
  M narrow = model;
  for (const Named& named : parameters(narrow))
    if (is_float(named.tensor->dtype())) named.parameter->redeclare(named.tensor->astype(dtype));
  auto out = f(narrow);
  const std::vector<Named> from = tensors(narrow), to = tensors(model);
  for (size_t i = 0; i < to.size(); ++i)
    if (!to[i].is_learned) *to[i].tensor = from[i].tensor->astype(to[i].tensor->dtype());
  return out;
}

}  // namespace tenon::nn
