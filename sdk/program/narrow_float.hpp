// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floats narrower than binary32 as data, and their exact conversions from and to double.
#pragma once

#include <cstdint>

#include "tenon/program.h"

namespace tenon::sdk {

struct NarrowFormat {
  int mantissa_bits;
  int bias;
  uint32_t sign;        ///< mask
  uint32_t max_finite;  ///< code of the largest finite value
  uint32_t overflow;    ///< code of what is larger: infinity, or 448 where there is none
  uint32_t quiet_nan;
  bool has_infinity;
};

inline constexpr NarrowFormat kFormatF16{10, 15, 0x8000, 0x7bff, 0x7c00, 0x7e00, true};
inline constexpr NarrowFormat kFormatBF16{7, 127, 0x8000, 0x7f7f, 0x7f80, 0x7fc0, true};
inline constexpr NarrowFormat kFormatF8E4M3{3, 7, 0x80, 0x7e, 0x7e, 0x7f, false};
inline constexpr NarrowFormat kFormatF8E5M2{2, 15, 0x80, 0x7b, 0x7c, 0x7e, true};

/// Exact. NaN keeps its payload where the format has one.
double decode_narrow(uint64_t bits, const NarrowFormat& format);
/// Rounded once, to nearest even.
uint64_t encode_narrow(double value, const NarrowFormat& format);

}  // namespace tenon::sdk
