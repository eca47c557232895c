// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Properties of data types, from dtypes.def.
#include "core/ir/dtype.hpp"

#include <algorithm>
#include <array>

#include "core/ir/narrow_float.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

enum class Class : uint8_t { BOOL, SIGNED, UNSIGNED, FLOAT, SMALL_FLOAT, PACKED };

struct DTypeRow {
  DType dtype;
  std::string_view name;
  uint8_t size;
  Class kind;
  DType accumulator;
  FloatFormat format;
};

constexpr uint64_t sign_bit(int bytes) { return bytes == 0 ? 0 : uint64_t{1} << (8 * bytes - 1); }

constexpr DTypeRow kDTypeRows[] = {
#define TN_DTYPE(name, code, text, bytes, kind, claim, accumulator, mantissa, bias, most, over, \
                 nan, ...)                                                                      \
  {DType::k##name,                                                                              \
   text,                                                                                        \
   bytes,                                                                                       \
   Class::kind,                                                                                 \
   DType::k##accumulator,                                                                       \
   {mantissa, bias, sign_bit(bytes), most, over, nan, over != most}},
#include "tenon/dtypes.def"
};

constexpr bool is_usable(const DTypeRow& row) { return row.kind != Class::PACKED; }

constexpr auto kCodes = [] {
  std::array<DType, std::ranges::count_if(kDTypeRows, is_usable)> codes{};
  size_t i = 0;
  for (const DTypeRow& row : kDTypeRows)
    if (is_usable(row)) codes[i++] = row.dtype;
  return codes;
}();

/// Row of each code. A table, as it is read for each element of an array.
constexpr auto kRowOf = [] {
  std::array<uint8_t, 256> rows{};
  rows.fill(0xFF);
  for (size_t i = 0; i < std::size(kDTypeRows); ++i)
    if (is_usable(kDTypeRows[i]))
      rows[static_cast<uint8_t>(kDTypeRows[i].dtype)] = static_cast<uint8_t>(i);
  return rows;
}();

const DTypeRow* find_row(DType dtype) {
  const uint8_t row = kRowOf[static_cast<uint8_t>(dtype)];
  return row == 0xFF ? nullptr : &kDTypeRows[row];
}

const DTypeRow& row_of(DType dtype) {
  const DTypeRow* row = find_row(dtype);
  TN_REQUIRE(row != nullptr, "[dtype] expected a dtype, got code {}", static_cast<int>(dtype));
  return *row;
}

}  // namespace

std::span<const DType> all_dtypes() { return kCodes; }

std::string_view dtype_name(DType dtype) {
  const DTypeRow* row = find_row(dtype);
  return row ? row->name : "void";
}

std::optional<DType> dtype_from_name(std::string_view name) {
  const auto* row = std::ranges::find(kDTypeRows, name, &DTypeRow::name);
  if (row == std::end(kDTypeRows) || !is_usable(*row)) return std::nullopt;
  return row->dtype;
}

size_t dtype_size(DType dtype) { return row_of(dtype).size; }

size_t dtype_bits(DType dtype) { return 8 * dtype_size(dtype); }

bool is_float(DType dtype) {
  const DTypeRow* row = find_row(dtype);
  return row && (row->kind == Class::FLOAT || row->kind == Class::SMALL_FLOAT);
}

bool is_int(DType dtype) {
  const DTypeRow* row = find_row(dtype);
  return row && (row->kind == Class::SIGNED || row->kind == Class::UNSIGNED);
}

bool is_signed(DType dtype) {
  const DTypeRow* row = find_row(dtype);
  return row && row->kind != Class::UNSIGNED && row->kind != Class::BOOL;
}

bool is_small_float(DType dtype) {
  const DTypeRow* row = find_row(dtype);
  return row && row->kind == Class::SMALL_FLOAT;
}

bool is_ieee(DType dtype) {
  if (!is_float(dtype)) return false;
  const FloatFormat& f = float_format(dtype);
  switch (dtype_size(dtype)) {
    case 2:
      return f.mantissa_bits == 10 && f.bias == 15 && f.has_infinity;
    case 4:
      return f.mantissa_bits == 23 && f.bias == 127 && f.has_infinity;
    default:
      return f.mantissa_bits == 52 && f.bias == 1023 && f.has_infinity;
  }
}

bool has_infinity(DType dtype) { return is_float(dtype) && float_format(dtype).has_infinity; }

DType default_accumulator(DType dtype) { return row_of(dtype).accumulator; }

const FloatFormat& float_format(DType dtype) {
  TN_ASSERT(is_float(dtype));
  return row_of(dtype).format;
}

bool adds_exact_products(DType dtype, DType accumulator) {
  return is_float(dtype) && dtype_size(dtype) == 2 && is_float(accumulator) &&
         dtype_size(accumulator) > 2;
}

}  // namespace tenon
