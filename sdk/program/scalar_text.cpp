// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints and parses values, with a bit-exact round trip.
#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "sdk/program/op_info.hpp"
#include "sdk/program/scalar.hpp"
#include "sdk/program/view.hpp"
#include "sdk/support/scanner.hpp"

namespace tenon::sdk {
namespace {

uint64_t all_ones(uint8_t dtype) { return ~uint64_t{0} >> (64 - dtype_bytes(dtype) * 8); }

std::optional<uint64_t> parse_float(std::string_view text, uint8_t dtype) {
  if (text.starts_with("nan(0x") && text.ends_with(")")) {
    const auto bits = number_of<uint64_t>(text.substr(6, text.size() - 7), 16);
    const bool fits = bits && *bits <= all_ones(dtype) && std::isnan(to_double(*bits, dtype));
    return fits ? bits : std::nullopt;
  }
  if (dtype == TN_DTYPE_F32) {  // parsed as f32, so that it rounds once
    const auto value = number_of<float>(text);
    return value ? std::optional<uint64_t>(std::bit_cast<uint32_t>(*value)) : std::nullopt;
  }
  const auto value = number_of<double>(text);
  return value ? std::optional(from_double(*value, dtype)) : std::nullopt;
}

}  // namespace

std::string scalar_text(uint64_t bits, uint8_t dtype) {
  if (dtype == TN_DTYPE_BOOL) return bits ? "true" : "false";
  if (is_signed(dtype)) {
    return fmt::format("{}", static_cast<int64_t>(convert(bits, dtype, TN_DTYPE_I64)));
  }
  if (is_integer(dtype)) return fmt::format("{}", bits);
  const double value = to_double(bits, dtype);
  if (std::isfinite(value)) {
    std::string text = dtype == TN_DTYPE_F32 ? fmt::format("{}", static_cast<float>(value))
                                             : fmt::format("{}", value);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
  }
  const std::string text = fmt::format("{}", value);  // inf, -inf, nan, -nan
  return parse_scalar(text, dtype) == bits
             ? text
             : fmt::format("nan(0x{:0{}x})", bits, dtype_bytes(dtype) * 2);
}

std::optional<uint64_t> parse_scalar(std::string_view text, uint8_t dtype) {
  if (dtype == TN_DTYPE_BOOL) {
    if (text == "true" || text == "false") return text == "true";
    return std::nullopt;
  }
  if (is_float(dtype)) return parse_float(text, dtype);
  if (!is_integer(dtype)) return std::nullopt;
  if (is_signed(dtype)) {
    const auto value = number_of<int64_t>(text);
    if (!value) return std::nullopt;
    const uint64_t bits = convert(static_cast<uint64_t>(*value), TN_DTYPE_I64, dtype);
    const bool fits = static_cast<int64_t>(convert(bits, dtype, TN_DTYPE_I64)) == *value;
    return fits ? std::optional(bits) : std::nullopt;
  }
  const auto value = number_of<uint64_t>(text);
  return value && *value <= all_ones(dtype) ? value : std::nullopt;
}

}  // namespace tenon::sdk
