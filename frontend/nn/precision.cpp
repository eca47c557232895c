// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/nn/precision.hpp"

#include <algorithm>

#include "core/support/error.hpp"
#include "frontend/nn/run_where.hpp"
#include "tenon/logic.hpp"
#include "tenon/reduce.hpp"

namespace tenon::nn {
namespace {

constexpr const char* kName = "loss_scale";

}  // namespace

Optimizer scale_loss(const Optimizer& inner, const LossScaleOptions& options) {
  TN_REQUIRE(
      options.begin > 0 && options.growth >= 1 && 0 < options.backoff && options.backoff <= 1 &&
          options.interval > 0,
      "[nn.scale_loss] expected a begin above 0, a growth of at least 1, a backoff in (0, 1] "
      "and an interval above 0, got {}, {}, {} and {}",
      options.begin, options.growth, options.backoff, options.interval);
  Slot begin = count_slot("scale");
  begin.begin = [zero = begin.begin, options](const Tensor& w) { return zero(w) + options.begin; };
  return around(kName, {begin, count_slot("finite")}, inner, [=](Update& of) {
    Tensor &scale = of.slots[0][0], &finite = of.slots[1][0];
    Tensor is_finite = scale > 0;
    for (Tensor& u : of.updates) {
      u = u / scale;
      is_finite = is_finite & all(isfinite(u));
    }
    run_where(is_finite, inner, of, 2);
    finite = Tensor::where(is_finite, finite + 1, 0.0);
    const Tensor grows = finite >= options.interval, grown = scale * options.growth;
    const Tensor kept = Tensor::where(grows & isfinite(grown), grown, scale);
    scale = Tensor::where(is_finite, kept, scale * options.backoff);
    finite = Tensor::where(grows, 0.0, finite);
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
