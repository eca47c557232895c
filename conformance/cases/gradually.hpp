// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Limits that a slow device, a driver in software perhaps, claims but does not reach in time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace tenon::conformance {

/// Calls run(count) with a count that grows from `first`, the last time with `most`; or before
/// that, with the last one that as the two before it grew would take no longer than a second.
template <class Clock = std::chrono::steady_clock, class Run>
void gradually(uint32_t first, uint32_t most, const Run& run) {
  constexpr uint64_t kFactor = 4;
  constexpr double kSeconds = 1, kLeast = 0.01;  // beyond less, a busy machine's pause is no growth
  double before = 0;
  for (uint64_t count = std::min(first, most);; count = std::min<uint64_t>(count * kFactor, most)) {
    const auto begin = Clock::now();
    run(static_cast<uint32_t>(count));
    const std::chrono::duration<double> used = Clock::now() - begin;
    const double growth = before > 0 ? used.count() / before : 0;
    if (count == most || used.count() * std::max<double>(kFactor, growth) > kSeconds) return;
    before = std::max(used.count(), kLeast);
  }
}

}  // namespace tenon::conformance
