// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Formats of floats narrower than binary32, and their conversions to and from double.
#pragma once

#include <cstdint>

#include "tenon/program.h"

namespace tenon::sdk {

struct NarrowFormat {
  int mantissa_bits;
  int bias;
  uint64_t sign;        ///< mask
  uint64_t max_finite;  ///< code of the largest finite value
  uint64_t overflow;    ///< code for overflow: infinity, or max_finite where there is none
  uint64_t quiet_nan;
  bool has_infinity;
};

/// Exact. NaN keeps its payload if the format has one.
double decode_narrow(uint64_t bits, const NarrowFormat& format);
/// NEG by flipping the sign bit, also of NaN.
uint64_t negate_narrow(uint64_t bits, const NarrowFormat& format);
/// Rounded once, to nearest even.
uint64_t encode_narrow(double value, const NarrowFormat& format);

}  // namespace tenon::sdk
