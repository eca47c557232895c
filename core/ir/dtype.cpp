// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Properties of data types, one row each.
#include "core/ir/dtype.hpp"

#include <algorithm>
#include <array>

#include "core/support/error.hpp"

namespace tenon {
namespace {

enum class Class : uint8_t { kBool, kSigned, kUnsigned, kFloat, kSmallFloat };

struct Row {
  DType dtype;
  std::string_view name;
  uint8_t size;
  Class kind;
};

constexpr std::array kRows = {
    Row{DType::kBool, "bool", 1, Class::kBool},
    Row{DType::kI8, "i8", 1, Class::kSigned},
    Row{DType::kI16, "i16", 2, Class::kSigned},
    Row{DType::kI32, "i32", 4, Class::kSigned},
    Row{DType::kI64, "i64", 8, Class::kSigned},
    Row{DType::kU8, "u8", 1, Class::kUnsigned},
    Row{DType::kU16, "u16", 2, Class::kUnsigned},
    Row{DType::kU32, "u32", 4, Class::kUnsigned},
    Row{DType::kU64, "u64", 8, Class::kUnsigned},
    Row{DType::kF16, "f16", 2, Class::kFloat},
    Row{DType::kBF16, "bf16", 2, Class::kFloat},
    Row{DType::kF32, "f32", 4, Class::kFloat},
    Row{DType::kF64, "f64", 8, Class::kFloat},
    Row{DType::kF8E4M3, "f8e4m3", 1, Class::kSmallFloat},
    Row{DType::kF8E5M2, "f8e5m2", 1, Class::kSmallFloat},
};

constexpr auto kCodes = [] {
  std::array<DType, kRows.size()> codes{};
  for (size_t i = 0; i < kRows.size(); ++i) codes[i] = kRows[i].dtype;
  return codes;
}();

/// Asked for each element of an array: row of each code.
constexpr auto kRowOf = [] {
  std::array<uint8_t, 256> rows{};
  rows.fill(0xFF);
  for (size_t i = 0; i < kRows.size(); ++i)
    rows[static_cast<uint8_t>(kRows[i].dtype)] = static_cast<uint8_t>(i);
  return rows;
}();

const Row* find_row(DType dtype) {
  const uint8_t row = kRowOf[static_cast<uint8_t>(dtype)];
  return row == 0xFF ? nullptr : &kRows[row];
}

const Row& row_of(DType dtype) {
  const Row* row = find_row(dtype);
  TN_ASSERT(row != nullptr);
  return *row;
}

}  // namespace

std::span<const DType> all_dtypes() { return kCodes; }

std::string_view dtype_name(DType dtype) {
  const Row* row = find_row(dtype);
  return row ? row->name : "void";
}

std::optional<DType> dtype_from_name(std::string_view name) {
  const auto* row = std::ranges::find(kRows, name, &Row::name);
  if (row == kRows.end()) return std::nullopt;
  return row->dtype;
}

size_t dtype_size(DType dtype) { return row_of(dtype).size; }

size_t dtype_bits(DType dtype) { return 8 * dtype_size(dtype); }

bool is_float(DType dtype) {
  const Row* row = find_row(dtype);
  return row && (row->kind == Class::kFloat || row->kind == Class::kSmallFloat);
}

bool is_int(DType dtype) {
  const Row* row = find_row(dtype);
  return row && (row->kind == Class::kSigned || row->kind == Class::kUnsigned);
}

bool is_signed(DType dtype) {
  const Row* row = find_row(dtype);
  return row && row->kind != Class::kUnsigned && row->kind != Class::kBool;
}

bool is_small_float(DType dtype) {
  const Row* row = find_row(dtype);
  return row && row->kind == Class::kSmallFloat;
}

}  // namespace tenon
