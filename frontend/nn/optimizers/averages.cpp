// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/nn/optimizers/averages.hpp"

#include "core/support/error.hpp"
#include "frontend/nn/optimizers/piece.hpp"
#include "frontend/nn/optimizers/run_where.hpp"
#include "frontend/nn/option_range.hpp"
#include "frontend/nn/wide.hpp"

namespace tenon::nn {

Optimizer multi_steps(const Optimizer& inner, int64_t every_k) {
  TN_REQUIRE(every_k > 0, "[nn.multi_steps] expected every_k above 0, got {}", every_k);
  return around("multi_steps", {zeros_slot("sum"), count_slot()}, inner, [=](Update& of) {
    Tensor& seen = of.slots[1][0];
    seen = seen + 1;
    const Tensor is_full = seen >= every_k;
    for (size_t i = 0; i < of.updates.size(); ++i) {
      const Tensor sum = of.slots[0][i] + of.updates[i];
      of.slots[0][i] = where(is_full, 0.0, sum);
      of.updates[i] = sum / every_k;
    }
    run_where(is_full, inner, of, 2);
    seen = where(is_full, 0.0, seen);
  });
}

Optimizer ema(double decay) {
  check_options("nn.ema", {{"decay", decay, OptionRange::kPart}});
  Slot mean_of = zeros_slot("parameter");
  mean_of.begin = [zeros = mean_of.begin](const Tensor& w) { return zeros(w) + wide(w); };
  const auto mix = [=](Update& of) {
    Tensor& count = of.slots[1][0];
    const Tensor part = where(count > 0, decay, 0.0);
    count = count + 1;
    for (size_t i = 0; i < of.updates.size(); ++i) {
      Tensor& mean = of.slots[0][i];
      const Tensor now = of.parameters[i].tensor->astype(mean.dtype()) + of.updates[i];
      mean = mean * part + now * (1 - part);
    }
  };
  return Optimizer({Piece{"mean", {mean_of, count_slot()}, mix, /*is_last=*/true}});
}

void fields::set_means(const std::vector<Named>& learned, const Optimizer& optimizer,
                       OptimizerState& state) {
  const std::vector<NamedState> kept = optimizer.named(learned, state);
  for (const Named& named : learned) {
    const std::string name = "mean.parameter." + named.name;
    bool found = false;
    for (const NamedState& one : kept) {
      const size_t at = one.name.size() - std::min(one.name.size(), name.size());
      if (one.name.substr(at) != name || (at > 0 && one.name[at - 1] != '.')) continue;
      *named.tensor = one.tensor->astype(named.tensor->dtype());
      found = true;
    }
    TN_REQUIRE(found, "[nn.averaged] expected an optimizer with ema, got one without");
  }
}

}  // namespace tenon::nn
