// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What decides whether sums of floats round.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace tenon::conformance::abi {

/// The lowest bit that is set in a finite number but 0.
inline double lowest_bit(double value) {
  int exponent = 0;
  const double fraction = std::ldexp(std::frexp(std::fabs(value), &exponent), 53);
  return std::ldexp(1, exponent - 53 + std::countr_zero(static_cast<uint64_t>(fraction)));
}

}  // namespace tenon::conformance::abi
