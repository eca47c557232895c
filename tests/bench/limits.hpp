// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The limits that rates are held against: multiply-adds and copied bytes a second.
#pragma once

#include "tests/bench/report.hpp"

namespace tenon::bench {

/// With 1 thread, and with 2 where there are 2 cores.
Limits measure_limits(int most_threads);

}  // namespace tenon::bench
