// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The allowed error of an element in units in the last place, for people.
#pragma once

#include "core/interval/interval.hpp"

namespace tenon {

/// Distance of the farther end of element i's interval from its value, as ulp_distance counts. 0 if
/// only the value's bits are accepted; infinity if the interval is unbounded or the value is not
/// finite.
double allowed_ulps(const IntervalArray& expected, int64_t i);

}  // namespace tenon
