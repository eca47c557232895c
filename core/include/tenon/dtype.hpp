// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Data types, and single values of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tenon/export.hpp"

namespace tenon {

/// From dtypes.def; values equal tn_dtype.
enum class DType : uint8_t {
  kVoid = 0,
#define TN_DTYPE(name, code, ...) k##name = code,
#include "tenon/dtypes.def"
  kBool = kBOOL,
};

/// Those that tensors may have, in the order of their codes.
TENON_API std::span<const DType> all_dtypes();

TENON_API std::string_view dtype_name(DType dtype);  ///< "f32", "f8e4m3"
TENON_API std::optional<DType> dtype_from_name(std::string_view name);
TENON_API size_t dtype_size(DType dtype);  ///< bytes
TENON_API size_t dtype_bits(DType dtype);
TENON_API bool is_float(DType dtype);
TENON_API bool is_int(DType dtype);          ///< signed or unsigned, not bool
TENON_API bool is_signed(DType dtype);       ///< signed integers and floats
TENON_API bool is_small_float(DType dtype);  ///< fp8: storage and conversion only

/// One value of a dtype as its bits, zero-extended: what CONST holds and the ABI carries.
struct TENON_API Scalar {
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
TENON_API std::string to_string(const Scalar& scalar);
/// Also scientific, hexadecimal floats ("0x1.8p3") and hexadecimal integers. Nothing if it is no
/// such number or an integer that does not fit.
TENON_API std::optional<Scalar> scalar_from_string(DType dtype, std::string_view text);

}  // namespace tenon
