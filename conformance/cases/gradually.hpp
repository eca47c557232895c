// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Limits that a slow device, a driver in software perhaps, claims but does not reach in time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace tenon::conformance {

/// Calls run(count) with a growing count, the last time with `most`; or before that, with the last
/// one that by the pace of the one before it would take no longer than a second.
template <class Run>
void gradually(uint32_t most, const Run& run) {
  constexpr uint64_t kFirst = 512, kFactor = 8;
  constexpr double kSeconds = 1;
  for (uint64_t count = std::min<uint64_t>(kFirst, most);;) {
    const auto begin = std::chrono::steady_clock::now();
    run(static_cast<uint32_t>(count));
    const std::chrono::duration<double> used = std::chrono::steady_clock::now() - begin;
    if (count == most) return;
    const uint64_t next = std::min<uint64_t>(count * kFactor, most);
    if (used.count() * static_cast<double>(next) > kSeconds * static_cast<double>(count)) return;
    count = next;
  }
}

}  // namespace tenon::conformance
