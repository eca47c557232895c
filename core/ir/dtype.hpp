// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Data types: codes shared with the ABI, properties, exact conversions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tenon {

/// From dtypes.def; values equal tn_dtype.
enum class DType : uint8_t {
  kVoid = 0,
#define TN_DTYPE(name, code, ...) k##name = code,
#include "tenon/dtypes.def"
  kBool = kBOOL,
};

/// Those that tensors may have, in the order of their codes.
std::span<const DType> all_dtypes();

std::string_view dtype_name(DType dtype);  ///< "f32", "f8e4m3"
std::optional<DType> dtype_from_name(std::string_view name);
size_t dtype_size(DType dtype);  ///< bytes
size_t dtype_bits(DType dtype);
bool is_float(DType dtype);
bool is_int(DType dtype);  ///< signed or unsigned, not bool
/// An integer of 64 bits.
constexpr bool is_wide(DType dtype) { return dtype == DType::kI64 || dtype == DType::kU64; }
bool is_signed(DType dtype);       ///< signed integers and floats
bool is_small_float(DType dtype);  ///< fp8: storage and conversion only
bool has_infinity(DType dtype);
DType default_accumulator(DType dtype);  ///< of a REDUCE that names none

/// Bits of a narrow float as double, exactly; and back with one rounding to nearest even.
/// Overflow gives infinity, or the largest number where there is none (OCP OFP8). NaN stays NaN.
double narrow_to_double(uint64_t bits, DType dtype);
uint64_t double_to_narrow(double value, DType dtype);

/// One value of a dtype as its bits, zero-extended: what CONST holds and the ABI carries.
struct Scalar {
  DType dtype = DType::kVoid;
  uint64_t bits = 0;

  static Scalar of(DType dtype, double value);  ///< cast by the rules of CAST
  static Scalar of_int(DType dtype, int64_t value);
  double as_double() const;  ///< exact for all but 64-bit integers
  int64_t as_int() const;    ///< u64 as its two's complement bits; floats truncate
  bool is_zero() const;      ///< either sign
  bool operator==(const Scalar&) const = default;
};

/// Text that parses back to the same bits: "1.5", "-0.0", "inf", "nan", "nan(0x7fc01234)", "true".
std::string to_string(const Scalar& scalar);
/// Also scientific, hexadecimal floats ("0x1.8p3") and hexadecimal integers. Nothing if it is no
/// such number or an integer that does not fit.
std::optional<Scalar> scalar_from_string(DType dtype, std::string_view text);

/// The only definition of a value cast (CAST) on single values; the reference uses it.
Scalar cast(const Scalar& value, DType to);

Scalar zero(DType dtype);
Scalar one(DType dtype);
Scalar lowest(
    DType dtype);  ///< identity of MAX: -Inf (or the smallest number), the smallest integer, false
Scalar highest(DType dtype);  ///< identity of MIN

}  // namespace tenon
