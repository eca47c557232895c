// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rows of tenon/dtypes.def as data.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "sdk/program/narrow_float.hpp"
#include "tenon/program.h"

namespace tenon::sdk {

/// Named as in dtypes.def.
enum class DTypeClass : uint8_t { BOOL, SIGNED, UNSIGNED, FLOAT, SMALL_FLOAT, PACKED };
enum class DTypeClaim : uint8_t { COMPUTE, STORE, NONE };

struct DTypeInfo {
  uint8_t dtype;  ///< tn_dtype
  uint8_t bytes;
  DTypeClass kind;
  DTypeClaim claim;
  std::string_view text;
  NarrowFormat format;                   ///< of floats
  std::string_view c, cuda, glsl, wgsl;  ///< types of variables; empty where there is none
};

namespace dtype_rows {

inline constexpr DTypeInfo kAll[] = {
#define TN_DTYPE(name, code, text, bytes, kind, claim, accumulator, mantissa, bias, most, over, \
                 nan, c, cuda, glsl, wgsl, ...)                                                 \
  {code,                                                                                        \
   bytes,                                                                                       \
   DTypeClass::kind,                                                                            \
   DTypeClaim::claim,                                                                           \
   text,                                                                                        \
   {mantissa, bias, bytes ? uint64_t{1} << ((8 * bytes - 1) & 63) : 0, most, over, nan,         \
    over != most},                                                                              \
   c,                                                                                           \
   cuda,                                                                                        \
   glsl,                                                                                        \
   wgsl},
#include "tenon/dtypes.def"
};

constexpr bool is_usable(const DTypeInfo& row) { return row.kind != DTypeClass::PACKED; }

inline constexpr auto kUsable = [] {
  std::array<DTypeInfo, std::ranges::count_if(kAll, is_usable)> rows{};
  std::ranges::copy_if(kAll, rows.begin(), is_usable);
  return rows;
}();

/// Row of each code; the size of kUsable if there is none.
inline constexpr auto kRowOf = [] {
  std::array<uint8_t, 256> rows{};
  rows.fill(kUsable.size());
  for (size_t i = 0; i < kUsable.size(); ++i) rows[kUsable[i].dtype] = static_cast<uint8_t>(i);
  return rows;
}();

}  // namespace dtype_rows

/// All dtypes except reserved ones, by ascending code.
constexpr const auto& all_dtypes() { return dtype_rows::kUsable; }

/// Index into all_dtypes(); its size if the dtype is unknown or reserved.
constexpr size_t dtype_row(uint8_t dtype) { return dtype_rows::kRowOf[dtype]; }
/// Null if unknown.
constexpr const DTypeInfo* dtype_info(uint8_t dtype) {
  const size_t row = dtype_row(dtype);
  return row < all_dtypes().size() ? &all_dtypes()[row] : nullptr;
}

constexpr bool is_float(const DTypeInfo& row) {
  return row.kind == DTypeClass::FLOAT || row.kind == DTypeClass::SMALL_FLOAT;
}
/// A float in a format of IEEE 754's own: binary16, binary32, binary64.
constexpr bool is_ieee(const DTypeInfo& row) {
  const int fraction = row.bytes == 2 ? 10 : row.bytes == 4 ? 23 : 52;
  const int bias = row.bytes == 2 ? 15 : row.bytes == 4 ? 127 : 1023;
  return row.format.mantissa_bits == fraction && row.format.bias == bias && row.format.has_infinity;
}
constexpr bool is_integer(const DTypeInfo& row) {
  return row.kind == DTypeClass::SIGNED || row.kind == DTypeClass::UNSIGNED;
}

bool is_float(uint8_t dtype);
bool is_narrow_float(uint8_t dtype);           ///< of less than 4 bytes
bool is_signed(uint8_t dtype);                 ///< i8 to i64
bool is_integer(uint8_t dtype);                ///< signed and unsigned, without bool
bool is_usable(uint8_t dtype);                 ///< known and not reserved
uint8_t dtype_by_text(std::string_view text);  ///< TN_DTYPE_VOID if unknown

}  // namespace tenon::sdk
