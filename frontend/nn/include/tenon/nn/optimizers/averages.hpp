// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients gathered over several steps, and means of parameters.
#pragma once

#include "tenon/export.hpp"
#include "tenon/nn/module.hpp"
#include "tenon/nn/optimizers/optimizer.hpp"

namespace tenon::nn {

/// At each `every_k`-th step `inner` gets the mean of the gradients since the last; at the others
/// parameters and what inner keeps stay. So batches may be larger than memory. Throws kInvalid for
/// an inner that has scale_loss, which goes around this.
TENON_API Optimizer multi_steps(const Optimizer& inner, int64_t every_k);

/// The last piece: keeps m = decay m + (1-decay) w of the new parameters. Before the first step m
/// is w, as it is after it (Polyak
/// and Juditsky, 1992, with weights that fade). Updates stay as they are.
TENON_API Optimizer ema(double decay);

namespace fields {
TENON_API void set_means(const std::vector<Named>& learned, const Optimizer& optimizer,
                         OptimizerState& state);
}
/// The model with those means for its parameters. Throws kInvalid for an optimizer that keeps none.
template <Module M>
M averaged(M model, const Optimizer& optimizer, OptimizerState& state) {
  fields::set_means(learned(model), optimizer, state);
  return model;
}

}  // namespace tenon::nn
