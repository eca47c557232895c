// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the core knows of data types beside what everybody sees: exact conversions, extremes.
#pragma once

#include "tenon/dtype.hpp"

namespace tenon {

/// An integer of 64 bits.
constexpr bool is_wide(DType dtype) { return dtype == DType::kI64 || dtype == DType::kU64; }
bool has_infinity(DType dtype);
/// A float in a format of IEEE 754's own: binary16, binary32, binary64.
bool is_ieee(DType dtype);
DType default_accumulator(DType dtype);  ///< of a REDUCE that names none

/// Bits of a narrow float as double, exactly; and back with one rounding to nearest even.
/// Overflow gives infinity, or the largest number where there is none (OCP OFP8). NaN stays NaN.
double narrow_to_double(uint64_t bits, DType dtype);
uint64_t double_to_narrow(double value, DType dtype);

/// The only definition of a value cast (CAST) on single values; the reference uses it.
Scalar cast(const Scalar& value, DType to);

Scalar zero(DType dtype);
Scalar one(DType dtype);
Scalar lowest(
    DType dtype);  ///< identity of MAX: -Inf (or the smallest number), the smallest integer, false
Scalar highest(DType dtype);  ///< identity of MIN

}  // namespace tenon
