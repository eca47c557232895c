// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/number.hpp"

#include <cmath>

#include "core/ir/narrow_float.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

/// Halfway from the largest number to the would-be next one: the largest value that rounds to it.
double end_of(DType dtype) {
  const uint64_t most = float_format(dtype).max_finite;
  const double largest = narrow_to_double(most, dtype);
  return largest + (largest - narrow_to_double(most - 1, dtype)) / 2;
}

bool fits_float(double value, DType dtype) {
  if (!has_infinity(dtype)) return !(std::abs(value) > end_of(dtype));  // NaN fits
  return !std::isfinite(value) || std::isfinite(Scalar::of(dtype, value).as_double());
}

bool fits_int(double value, DType dtype) {
  const double end = std::ldexp(1.0, static_cast<int>(dtype_bits(dtype)) - is_signed(dtype));
  return value == std::trunc(value) && value < end && value >= (is_signed(dtype) ? -end : 0);
}

bool is_negative(const Scalar& s) { return is_signed(s.dtype) && s.as_int() < 0; }

bool fits(const Scalar& s, DType dtype) {
  if (dtype == DType::kBool) return s.is_zero() || s.as_double() == 1;
  if (is_float(s.dtype))
    return is_float(dtype) ? fits_float(s.as_double(), dtype) : fits_int(s.as_double(), dtype);
  if (is_float(dtype)) return fits_float(s.as_double(), dtype);
  const Scalar there = cast(s, dtype);
  return cast(there, s.dtype) == s && is_negative(there) == is_negative(s);
}

}  // namespace

DType Number::dtype() const {
  if (is_float()) return DType::kF32;
  if (exact_.dtype == DType::kBool) return DType::kBool;
  return in(DType::kI64) ? DType::kI64 : DType::kU64;
}

std::optional<Scalar> Number::in(DType dtype) const {
  if (!fits(exact_, dtype)) return std::nullopt;
  return cast(exact_, dtype);
}

Scalar Number::as(const char* op, DType dtype) const {
  TN_REQUIRE(dtype != DType::kVoid, "[{}] expected a dtype, got none", op);
  const auto scalar = in(dtype);
  TN_REQUIRE(scalar, "[{}] expected a value of {}, got {}", op, dtype_name(dtype), text());
  return *scalar;
}

std::string Number::text() const { return to_string(exact_); }

}  // namespace tenon
