// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rates that change with the step, which counts from 0. All are computed on the device, so that no
// step is traced anew.
#pragma once

#include <functional>
#include <vector>

#include "tenon/export.hpp"
#include "tenon/tensor.hpp"

namespace tenon::nn {

/// A number in [0, inf), or a function of the number of updates made before, f32 []. What is no
/// such number throws kInvalid, in schedules too.
class TENON_API Rate {
 public:
  Rate(double number);                                   // NOLINT: a number is a rate
  Rate(std::function<Tensor(const Tensor& step)> rate);  // NOLINT
  Rate(const Rate&) = default;                           // a move is a copy: none is left empty
  Rate& operator=(const Rate&) = default;
  Tensor operator()(const Tensor& step) const { return rate_(step); }

 private:
  std::function<Tensor(const Tensor& step)> rate_;
};

/// From 0 up to `peak` in `warmup` steps, then down half a cosine to `end` at `steps`, and that
/// from there on: Loshchilov and Hutter, 2016.
TENON_API Rate warmup_cosine(double peak, int64_t warmup, int64_t steps, double end = 0);
/// From `begin` to `end` on a line of so many steps.
TENON_API Rate linear(double begin, double end, int64_t steps);
/// begin factor^(step / steps), in stairs or smooth.
TENON_API Rate exponential_decay(double begin, double factor, int64_t steps, bool stairs = false);
/// values[0] before steps[0], values[1] before steps[1], .., the last one from then on.
TENON_API Rate piecewise(const std::vector<int64_t>& steps, const std::vector<double>& values);
/// peak min((step + 1) / warmup, sqrt(warmup / (step + 1))): Vaswani et al., 2017, but for the
/// size.
TENON_API Rate inverse_sqrt(double peak, int64_t warmup);

}  // namespace tenon::nn
