// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A claimed limit is tried as far as the device gets in time.
#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

#include "conformance/cases/gradually.hpp"

using tenon::conformance::gradually;

TEST_CASE("a quick device is tried up to its limit") {
  for (const uint32_t most : {1u, 4u, 255u, 256u, 257u, 70'000u, UINT32_MAX}) {
    std::vector<uint32_t> tried;
    gradually(256, most, [&](uint32_t count) { tried.push_back(count); });
    CAPTURE(most);
    REQUIRE(!tried.empty());
    CHECK(tried.back() == most);
    for (size_t i = 1; i < tried.size(); ++i) CHECK(tried[i - 1] < tried[i]);
  }
}

TEST_CASE("a slow device is not asked for minutes") {
  // By the count: 7 s for the limit; by its square: 400 s.
  for (const double power : {1.0, 2.0}) {
    uint32_t last = 0;
    const auto begin = std::chrono::steady_clock::now();
    gradually(256, 70'000, [&](uint32_t count) {
      last = count;
      const double turns = count / 256.0;
      std::this_thread::sleep_for(std::chrono::duration<double>(0.005 * std::pow(turns, power)));
    });
    const std::chrono::duration<double> used = std::chrono::steady_clock::now() - begin;
    CHECK(last >= 256);
    CHECK(last < 70'000);
    CHECK(used.count() < 5);
  }
}
