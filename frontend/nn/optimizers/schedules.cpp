// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/nn/optimizers/schedules.hpp"

#include <cmath>
#include <numbers>

#include "core/support/error.hpp"
#include "frontend/nn/option_range.hpp"
#include "tenon/make.hpp"

namespace tenon::nn {
namespace {

double steps_of(const char* op, int64_t steps) {
  TN_REQUIRE(steps > 0, "[{}] expected steps above 0, got {}", op, steps);
  return static_cast<double>(steps);
}

Tensor part_of(const Tensor& step, double begin, double steps) {
  return ((step - begin) / steps).maximum(0.0).minimum(1.0);
}

}  // namespace

Rate::Rate(double number)
    : rate_(
          [number](const Tensor& step) { return full({}, number, DType::kF32, step.context()); }) {
  check_options("nn.rate", {{"a rate", number, OptionRange::kNotNegative}});
}

Rate::Rate(std::function<Tensor(const Tensor&)> rate) : rate_(std::move(rate)) {
  TN_REQUIRE(rate_, "[nn.rate] expected a function, got none");
}

Rate warmup_cosine(double peak, int64_t warmup, int64_t steps, double end) {
  TN_REQUIRE(0 <= warmup && warmup < steps,
             "[nn.warmup_cosine] expected 0 <= warmup < steps, got {} and {}", warmup, steps);
  check_options("nn.warmup_cosine", {{"peak", peak, OptionRange::kNotNegative},
                                     {"end", end, OptionRange::kNotNegative}});
  return Rate([=](const Tensor& step) {
    const auto up = static_cast<double>(warmup), all = static_cast<double>(steps);
    const Tensor turn = part_of(step, up, all - up) * std::numbers::pi;
    const Tensor down = end + (peak - end) * 0.5 * (1 + turn.cos());
    return warmup == 0 ? down : where(step < up, peak * step / up, down);
  });
}

Rate linear(double begin, double end, int64_t steps) {
  const double all = steps_of("nn.linear", steps);
  check_options("nn.linear", {{"begin", begin, OptionRange::kNotNegative},
                              {"end", end, OptionRange::kNotNegative}});
  return Rate([=](const Tensor& step) { return begin + (end - begin) * part_of(step, 0, all); });
}

Rate exponential_decay(double begin, double factor, int64_t steps, bool stairs) {
  const double all = steps_of("nn.exponential_decay", steps);
  check_options("nn.exponential_decay", {{"begin", begin, OptionRange::kNotNegative},
                                         {"factor", factor, OptionRange::kPositive}});
  return Rate([=](const Tensor& step) {
    const Tensor turns = stairs ? (step / all).floor() : step / all;
    return begin * (turns * std::log(factor)).exp();
  });
}

Rate piecewise(const std::vector<int64_t>& steps, const std::vector<double>& values) {
  TN_REQUIRE(values.size() == steps.size() + 1,
             "[nn.piecewise] expected a value more than steps, got {} and {}", values.size(),
             steps.size());
  for (size_t i = 1; i < steps.size(); ++i)
    TN_REQUIRE(steps[i - 1] < steps[i], "[nn.piecewise] expected steps in order, got {} and {}",
               steps[i - 1], steps[i]);
  const std::vector<Rate> rates(values.begin(), values.end());
  return Rate([=](const Tensor& step) {
    Tensor rate = rates.back()(step);
    for (size_t i = steps.size(); i-- > 0;)
      rate = where(step < static_cast<double>(steps[i]), rates[i](step), rate);
    return rate;
  });
}

Rate inverse_sqrt(double peak, int64_t warmup) {
  const double up = steps_of("nn.inverse_sqrt", warmup);
  check_options("nn.inverse_sqrt", {{"peak", peak, OptionRange::kNotNegative}});
  return Rate([=](const Tensor& step) {
    return peak * ((step + 1) / up).minimum((up / (step + 1)).sqrt());
  });
}

}  // namespace tenon::nn
