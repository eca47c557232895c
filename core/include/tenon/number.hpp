// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A number without a dtype: exactly what was written, until it meets a dtype.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>

#include "tenon/dtype.hpp"

namespace tenon {

class TENON_API Number {
 public:
  Number(bool value) : exact_{DType::kBool, value} {}  // NOLINT: numbers convert
  template <std::integral T>
  Number(T value)  // NOLINT
      : exact_{std::signed_integral<T> ? DType::kI64 : DType::kU64, static_cast<uint64_t>(value)} {}
  template <std::floating_point T>
  requires(sizeof(T) <= sizeof(double)) Number(T value)  // NOLINT
      : exact_(Scalar::of(DType::kF64, static_cast<double>(value))) {}

  /// The dtype of a number that stands alone: bool, i64 (u64 where i64 ends), f32.
  DType dtype() const;
  bool is_float() const { return exact_.dtype == DType::kF64; }

  /// The number in a dtype. A float rounds once, to nearest even; nothing else is lost: nothing if
  /// an integer dtype does not hold it, if it is too large for a float, or if bool gets another
  /// than 0 and 1.
  std::optional<Scalar> in(DType dtype) const;
  /// Throws kInvalid "[op] expected a value of u8, got -1".
  Scalar as(const char* op, DType dtype) const;
  std::string text() const;

 private:
  Scalar exact_;  ///< a bool, i64, u64 or f64
};

}  // namespace tenon
