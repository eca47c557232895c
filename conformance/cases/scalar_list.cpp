// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integers in decimal, floats in the shortest decimal form, and as bits ("0x7fc00001") what has
// none.
#include "conformance/cases/scalar_list.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sdk/support/scanner.hpp"

namespace tenon::conformance {
std::string write_scalar(const Scalar& value) {
  if (!is_float(value.dtype))
    return is_signed(value.dtype) ? std::to_string(value.as_int()) : std::to_string(value.bits);
  const double number = value.as_double();
  if (std::isfinite(number)) {
    for (const std::string& text :
         {fmt::format("{}", static_cast<float>(number)), fmt::format("{}", number)})
      if (const auto back = read_scalar(text, value.dtype); back && *back == value) return text;
  }
  return fmt::format("{:#x}", value.bits);
}

std::optional<Scalar> read_scalar(std::string_view text, DType dtype) {
  const int bits = static_cast<int>(dtype_bits(dtype));
  if (text.starts_with("0x")) {
    const auto code = sdk::number_of<uint64_t>(text.substr(2), 16);
    if (!code || (bits < 64 && *code >> bits) || (dtype == DType::kBool && *code > 1))
      return std::nullopt;
    return Scalar{dtype, *code};
  }
  if (is_float(dtype)) {
    const auto number = sdk::number_of<double>(text);
    if (!number || !std::isfinite(*number)) return std::nullopt;
    return Scalar::of(dtype, *number);
  }
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  if (is_signed(dtype)) {
    const auto number = sdk::number_of<int64_t>(text);
    if (!number || (bits < 64 && (*number < -(int64_t{1} << (bits - 1)) ||
                                  *number >= (int64_t{1} << (bits - 1)))))
      return std::nullopt;
    return Scalar{dtype, static_cast<uint64_t>(*number) & mask};
  }
  const auto number = sdk::number_of<uint64_t>(text);
  if (!number || *number > mask || (dtype == DType::kBool && *number > 1)) return std::nullopt;
  return Scalar{dtype, *number};
}

}  // namespace tenon::conformance
