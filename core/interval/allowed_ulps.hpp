// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How far from the reference's value a device may answer, as a number that people can read.
#pragma once

#include "core/interval/interval.hpp"

namespace tenon {

/// The farther end of the interval of element i from its value, in units in the last place of the
/// array's dtype, as ulp_distance counts them: 0 where only the value's bits are accepted. Infinity
/// where the interval is not bounded or the value is no number.
double allowed_ulps(const IntervalArray& expected, int64_t i);

}  // namespace tenon
