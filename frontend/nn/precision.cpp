// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/nn/precision.hpp"

#include <algorithm>
#include <limits>

#include "core/support/error.hpp"
#include "frontend/nn/optimizers/run_where.hpp"

namespace tenon::nn {
namespace {

constexpr const char* kName = "loss_scale";

void check(const LossScaleOptions& options) {
  TN_REQUIRE(
      options.begin > 0 && options.growth >= 1 && 0 < options.backoff && options.backoff <= 1 &&
          options.interval > 0,
      "[nn.scale_loss] expected a begin above 0, a growth of at least 1, a backoff in (0, 1] "
      "and an interval above 0, got {}, {}, {} and {}",
      options.begin, options.growth, options.backoff, options.interval);
}

Slot begin_slot(const LossScaleOptions& options) {
  Slot slot = count_slot("scale");
  slot.begin = [zero = slot.begin, options](const Tensor& w) { return zero(w) + options.begin; };
  return slot;
}

/// Where it shall shrink; never to 0, by which nothing can be divided.
Tensor shrunk(const Tensor& scale, const LossScaleOptions& options) {
  return (scale * options.backoff).maximum(std::numeric_limits<float>::min());
}

/// Where it shall grow, as far as it is finite then.
Tensor grown(const Tensor& scale, const Tensor& grows, const LossScaleOptions& options) {
  const Tensor next = scale * options.growth;
  return where(grows & isfinite(next), next, scale);
}

}  // namespace

Optimizer scale_loss(const Optimizer& inner, const LossScaleOptions& options) {
  check(options);
  return around(kName, {begin_slot(options), count_slot("finite")}, inner, [=](Update& of) {
    Tensor &scale = of.slots[0][0], &finite = of.slots[1][0];
    Tensor is_finite = scale > 0;
    for (Tensor& u : of.updates) {
      u = u / scale;
      is_finite = is_finite & all(isfinite(u));
    }
    run_where(is_finite, inner, of, 2);
    const Tensor grows = is_finite & (finite + 1 >= options.interval);
    scale = where(is_finite, grown(scale, grows, options), shrunk(scale, options));
    finite = where(is_finite & (finite + 1 < options.interval), finite + 1, 0.0);
  });
}

bool scales_loss(const Optimizer& optimizer) {
  return std::ranges::any_of(optimizer.pieces(),
                             [](const Piece& piece) { return piece.name == kName; });
}

Tensor loss_scale(const Optimizer& optimizer, const OptimizerState& state) {
  size_t next = 0;
  for (const Piece& piece : optimizer.pieces()) {
    for (const Slot& slot : piece.slots) {
      TN_REQUIRE(next < state.slots.size(),
                 "[nn.loss_scale] expected a state made by this optimizer's init, got another");
      if (piece.name == kName && slot.name == "scale") return state.slots[next].at(0);
      ++next;
    }
  }
  return 1.0;
}

}  // namespace tenon::nn
