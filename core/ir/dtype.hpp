// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Internal functions on data types: exact conversions and extremes.
#pragma once

#include "tenon/dtype.hpp"

namespace tenon {

/// Whether the dtype is a 64-bit integer.
constexpr bool is_wide(DType dtype) { return dtype == DType::kI64 || dtype == DType::kU64; }
bool has_infinity(DType dtype);
/// Whether the dtype is an IEEE 754 binary16, binary32 or binary64.
bool is_ieee(DType dtype);
DType default_accumulator(DType dtype);  ///< of a REDUCE that names none
/// Whether a sum in `accumulator` of products of that dtype may add them without their rounding.
bool adds_exact_products(DType dtype, DType accumulator);

/// Bits of a narrow float as double, exactly; and back with one rounding to nearest even.
/// Overflow gives infinity, or the largest number where there is none (OCP OFP8). NaN stays NaN.
double narrow_to_double(uint64_t bits, DType dtype);
uint64_t double_to_narrow(double value, DType dtype);

/// Defines CAST on single values. The reference uses it.
Scalar cast(const Scalar& value, DType to);

Scalar zero(DType dtype);
Scalar one(DType dtype);
Scalar lowest(
    DType dtype);  ///< identity of MAX: -Inf (or the smallest number), the smallest integer, false
Scalar highest(DType dtype);  ///< identity of MIN

}  // namespace tenon
