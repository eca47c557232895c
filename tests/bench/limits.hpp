// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The limits that rates are held against: multiply-adds and copied bytes a second.
#pragma once

#include <functional>

#include "tests/bench/report.hpp"

namespace tenon::bench {

/// With 1 thread, and with 2 where there are 2 cores.
Limits measure_limits(int most_threads);

/// One copy of kCopyBytes with non-temporal stores: to be timed in turn with what is held against
/// it.
std::function<void()> copy_contender(int threads);
inline constexpr double kCopyBytes = 256.0 * (1 << 20);  // beyond any cache of this decade
/// One pass over kReadBytes that reads and does next to nothing else.
std::function<void()> read_contender(int threads);
inline constexpr double kReadBytes = kCopyBytes;

}  // namespace tenon::bench
