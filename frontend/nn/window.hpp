// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The positions that attention sees at once.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tenon::nn {

/// More positions than scores can be of; sums with it stay below 2^31.
inline int64_t clamped_window(int64_t window) { return std::min(window, int64_t{1} << 29); }

}  // namespace tenon::nn
