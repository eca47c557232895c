// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sequence of choices that makes a case: every decision of the generator is drawn from it, so a
// case is a pure function of its seed and index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tenon::conformance {

/// Mixes two words into one: case seeds, block seeds, attempts.
uint64_t mix(uint64_t a, uint64_t b);

class Choices {
 public:
  explicit Choices(uint64_t seed) : state_(seed) {}

  uint64_t bits();
  uint64_t below(uint64_t n);                         ///< [0, n); 0 if n is 0
  int64_t between(int64_t minimum, int64_t maximum);  ///< both ends included
  bool chance(uint32_t percent) { return below(100) < percent; }
  double unit();  ///< [0, 1)

  template <class T>
  const T& pick(const std::vector<T>& items) {
    return items[below(items.size())];
  }
  template <class T, size_t n>
  const T& pick(const T (&items)[n]) {
    return items[below(n)];
  }

 private:
  uint64_t state_;
};

}  // namespace tenon::conformance
