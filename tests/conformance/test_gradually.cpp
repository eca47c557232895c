// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A claimed limit is tried as far as the device gets in time.
#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <cmath>
#include <vector>

#include "conformance/cases/gradually.hpp"

namespace {

/// One that the tests move.
struct Clock {
  using time_point = std::chrono::time_point<Clock, std::chrono::duration<double>>;
  static time_point now() { return time_point(std::chrono::duration<double>(seconds)); }
  static inline double seconds = 0;
};

/// The counts that are tried on a device that takes seconds(count).
template <class Seconds>
std::vector<uint32_t> tried(uint32_t most, const Seconds& seconds) {
  std::vector<uint32_t> counts;
  tenon::conformance::gradually<Clock>(256, most, [&](uint32_t count) {
    counts.push_back(count);
    Clock::seconds += seconds(count);
  });
  return counts;
}

}  // namespace

TEST_CASE("a quick device is tried up to its limit") {
  for (const uint32_t most : {1u, 4u, 255u, 256u, 257u, 70'000u, UINT32_MAX}) {
    const std::vector<uint32_t> counts = tried(most, [](uint32_t) { return 1e-7; });
    CAPTURE(most);
    REQUIRE(!counts.empty());
    CHECK(counts.back() == most);
    for (size_t i = 1; i < counts.size(); ++i) CHECK(counts[i - 1] < counts[i]);
  }
}

TEST_CASE("a slow device is not asked for minutes") {
  // By the count: 7 s for the limit; by its square: 400 s.
  for (const double power : {1.0, 2.0}) {
    Clock::seconds = 0;
    const std::vector<uint32_t> counts =
        tried(70'000, [&](uint32_t count) { return 0.005 * std::pow(count / 256.0, power); });
    REQUIRE(!counts.empty());
    CHECK(counts.back() >= 256);
    CHECK(counts.back() < 70'000);
    CHECK(Clock::seconds < 5);
  }
}

TEST_CASE("a pause of a busy machine is not the device's") {
  const std::vector<uint32_t> counts =
      tried(70'000, [](uint32_t count) { return count == 1024 ? 0.05 : 1e-7; });
  REQUIRE(!counts.empty());
  CHECK(counts.back() == 70'000);
}
