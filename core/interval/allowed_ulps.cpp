// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/interval/allowed_ulps.hpp"

#include <algorithm>
#include <cmath>

#include "core/interval/ops.hpp"

namespace tenon {
namespace {

/// Units from the value to the last number of its dtype within `end`.
double steps_to(double end, const Scalar& value) {
  const Scalar last = Scalar::of(value.dtype, end);
  const double outward = end < value.as_double() ? end - last.as_double() : last.as_double() - end;
  return std::max(0.0, ulp_distance(last, value) - (outward > 0 ? 1 : 0));
}

}  // namespace

double allowed_ulps(const IntervalArray& expected, int64_t i) {
  if (expected.exact()) return 0;
  if (!is_float(expected.value.dtype) && !expected.doubt[static_cast<size_t>(i)]) return 0;
  const Interval range = expected.at(i);
  const Scalar value = expected.value.at(i);
  if (range.any || !std::isfinite(value.as_double()) || !std::isfinite(range.low) ||
      !std::isfinite(range.high))
    return reference::kInfinity;
  return std::max(steps_to(range.high, value), steps_to(range.low, value));
}

}  // namespace tenon
