// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Single values, and CAST on them.
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "core/ir/dtype.hpp"
#include "core/ir/narrow_float.hpp"
#include "core/ir/scalar_op.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

/// The value of an integer dtype; u64 is reinterpreted as i64.
int64_t int_value(const Scalar& s) {
  if (!is_signed(s.dtype)) return static_cast<int64_t>(s.bits);
  const size_t unused = 64 - dtype_bits(s.dtype);
  return static_cast<int64_t>(s.bits << unused) >> unused;
}

double float_value(const Scalar& s) {
  if (s.dtype == DType::kF64) return std::bit_cast<double>(s.bits);
  if (s.dtype == DType::kF32)
    return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(s.bits)));
  return narrow_to_double(s.bits, s.dtype);
}

Scalar float_to_float(double value, DType to) {
  if (to == DType::kF64) return {to, std::bit_cast<uint64_t>(value)};
  if (to == DType::kF32) return {to, std::bit_cast<uint32_t>(static_cast<float>(value))};
  return {to, double_to_narrow(value, to)};
}

/// Rounds once, also from 64 bits to 8.
Scalar int_to_float(const Scalar& s, DType to) {
  const int64_t value = int_value(s);
  const bool negative = is_signed(s.dtype) && value < 0;
  const uint64_t magnitude =
      negative ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  if (to == DType::kF64) {
    const auto d = static_cast<double>(magnitude);
    return {to, std::bit_cast<uint64_t>(negative ? -d : d)};
  }
  if (to == DType::kF32) {
    const auto f = static_cast<float>(magnitude);
    return {to, std::bit_cast<uint32_t>(negative ? -f : f)};
  }
  return {to, round_to_format(negative, magnitude, 0, float_format(to))};
}

Scalar float_to_int(double value, DType to) {
  if (std::isnan(value)) return {to, 0};
  const int bits = static_cast<int>(dtype_bits(to));
  if (!is_signed(to)) {
    if (value < 1) return {to, 0};
    if (value >= std::ldexp(1.0, bits)) return {to, low_bits(~uint64_t{0}, to)};
    return {to, static_cast<uint64_t>(value)};
  }
  const double limit = std::ldexp(1.0, bits - 1);
  if (value >= limit) return {to, (uint64_t{1} << (bits - 1)) - 1};
  if (value < -limit) return {to, uint64_t{1} << (bits - 1)};
  return {to, low_bits(static_cast<uint64_t>(static_cast<int64_t>(value)), to)};
}

}  // namespace

Scalar cast(const Scalar& value, DType to) {
  TN_ASSERT(value.dtype != DType::kVoid && to != DType::kVoid);
  if (value.dtype == to) return value;
  if (to == DType::kBool) return {to, value.is_zero() ? uint64_t{0} : uint64_t{1}};
  const bool from_float = is_float(value.dtype);
  if (is_float(to))
    return from_float ? float_to_float(float_value(value), to) : int_to_float(value, to);
  if (from_float) return float_to_int(float_value(value), to);
  return {to, low_bits(static_cast<uint64_t>(int_value(value)), to)};
}

Scalar Scalar::of(DType dtype, double value) {
  return cast({DType::kF64, std::bit_cast<uint64_t>(value)}, dtype);
}

Scalar Scalar::of_int(DType dtype, int64_t value) {
  return cast({DType::kI64, static_cast<uint64_t>(value)}, dtype);
}

double Scalar::as_double() const {
  if (dtype == DType::kF32)  // fast path: called for each element of an array
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  return is_float(dtype) ? float_value(*this)
                         : std::bit_cast<double>(cast(*this, DType::kF64).bits);
}

int64_t Scalar::as_int() const {
  return static_cast<int64_t>(is_float(dtype) ? cast(*this, DType::kI64).bits
                                              : static_cast<uint64_t>(int_value(*this)));
}

bool Scalar::is_zero() const { return is_float(dtype) ? float_value(*this) == 0 : bits == 0; }

Scalar zero(DType dtype) { return {dtype, 0}; }

Scalar one(DType dtype) { return Scalar::of_int(dtype, 1); }

Scalar lowest(DType dtype) {
  if (is_float(dtype)) return Scalar::of(dtype, -std::numeric_limits<double>::infinity());
  if (!is_signed(dtype)) return {dtype, 0};
  return {dtype, uint64_t{1} << (dtype_bits(dtype) - 1)};
}

Scalar highest(DType dtype) {
  if (dtype == DType::kBool) return {dtype, 1};
  if (is_float(dtype)) return Scalar::of(dtype, std::numeric_limits<double>::infinity());
  const uint64_t ones = low_bits(~uint64_t{0}, dtype);
  return {dtype, is_signed(dtype) ? ones >> 1 : ones};
}

}  // namespace tenon
