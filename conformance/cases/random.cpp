// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SplitMix64 (Steele, Lea, Flood 2014): one word of state, any seed is a good one.
#include "conformance/cases/random.hpp"

namespace tenon::conformance {
namespace {

constexpr uint64_t kGolden = 0x9E3779B97F4A7C15u;

uint64_t finish(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

}  // namespace

uint64_t mix(uint64_t a, uint64_t b) { return finish(finish(a + kGolden) ^ (b + kGolden)); }

uint64_t Random::bits() { return finish(state_ += kGolden); }

uint64_t Random::below(uint64_t n) {
  if (n == 0) return 0;
  // The high half of the product: no division, and a bias below n / 2^64.
  return static_cast<uint64_t>((static_cast<unsigned __int128>(bits()) * n) >> 64);
}

int64_t Random::between(int64_t minimum, int64_t maximum) {
  const uint64_t width = static_cast<uint64_t>(maximum) - static_cast<uint64_t>(minimum) + 1;
  const uint64_t offset = width == 0 ? bits() : below(width);
  return static_cast<int64_t>(static_cast<uint64_t>(minimum) + offset);
}

double Random::unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

}  // namespace tenon::conformance
