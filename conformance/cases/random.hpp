// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random numbers that are the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/support/error.hpp"

namespace tenon::conformance {

/// Mixes two words into one: case seeds, block seeds, attempts.
uint64_t mix(uint64_t a, uint64_t b);

/// `pick`, for what has `below`.
template <class Draws>
class Picks {
 public:
  template <class T>
  const T& pick(const std::vector<T>& items) {
    TN_ASSERT(!items.empty());
    return items[static_cast<Draws*>(this)->below(items.size())];
  }
  template <class T, size_t n>
  const T& pick(const T (&items)[n]) {
    return items[static_cast<Draws*>(this)->below(n)];
  }
};

/// SplitMix64: one word of state, any seed is a good one.
class Random : public Picks<Random> {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t bits();
  uint64_t below(uint64_t n);                         ///< [0, n); 0 if n is 0
  int64_t between(int64_t minimum, int64_t maximum);  ///< both ends included
  bool chance(uint32_t percent) { return below(100) < percent; }
  double unit();  ///< [0, 1)

 private:
  uint64_t state_;
};

}  // namespace tenon::conformance
