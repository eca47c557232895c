// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/data/draws.hpp"

#include "core/support/error.hpp"

namespace tenon::data {
namespace {

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;

uint64_t mix(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

}  // namespace

Draws::Draws(uint64_t seed, uint64_t epoch, uint64_t index)
    : state_(mix(mix(mix(seed + kGolden) + epoch + kGolden) + index + kGolden)) {}

uint64_t Draws::bits() { return mix(state_ += kGolden); }

double Draws::uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

int64_t Draws::below(int64_t count) {
  TN_REQUIRE(count > 0, "[below] expected a count above 0, got {}", count);
  const auto n = static_cast<uint64_t>(count);
  const uint64_t rest = -n % n;  // 2^64 mod n: those would come once too often
  uint64_t value = bits();
  while (value < rest) value = bits();
  return static_cast<int64_t>(value % n);
}

}  // namespace tenon::data
