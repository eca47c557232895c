// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random numbers on the host, for the order of examples and for what transforms choose.
#pragma once

#include <cstdint>

#include "tenon/export.hpp"

namespace tenon::data {

/// A stream of numbers that is a function of (seed, epoch, index) alone, so that no order of
/// threads changes what an example becomes: SplitMix64 (Steele, Lea and Flood, "Fast splittable
/// pseudorandom number generators", 2014) from a state mixed of the three.
class TENON_API Draws {
 public:
  Draws(uint64_t seed, uint64_t epoch, uint64_t index);

  uint64_t bits();
  double uniform();              ///< a multiple of 2^-53 in [0, 1)
  int64_t below(int64_t count);  ///< in [0, count), each with the same chance; count > 0

 private:
  uint64_t state_;
};

}  // namespace tenon::data
