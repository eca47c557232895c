// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints and parses values, with a bit-exact round trip.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/ir/dtype.hpp"
#include "core/support/error.hpp"
#include "sdk/support/scanner.hpp"
#include "tenon/number.hpp"

namespace tenon {
namespace {

Scalar default_nan(DType dtype) {
  return Scalar::of(dtype, std::bit_cast<double>(0x7ff8ull << 48));
}

std::string finite_text(const Scalar& s) {
  const double value = s.as_double();
  std::string text;
  if (s.dtype == DType::kF64) {
    text = fmt::format("{}", value);
  } else if (s.dtype == DType::kF32) {
    text = fmt::format("{}", static_cast<float>(value));
  } else {
    for (int digits = 1; digits <= 17; ++digits) {
      text = fmt::format("{:.{}g}", value, digits);
      if (scalar_from_string(s.dtype, text) == s) break;
    }
  }
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::optional<Scalar> nan_from_string(DType dtype, std::string_view payload) {
  if (!payload.starts_with("(0x") || !payload.ends_with(")")) return std::nullopt;
  const auto bits = sdk::number_of<uint64_t>(payload.substr(3, payload.size() - 4), 16);
  if (!bits || (dtype_bits(dtype) < 64 && *bits >> dtype_bits(dtype))) return std::nullopt;
  const Scalar s{dtype, *bits};
  if (!std::isnan(s.as_double())) return std::nullopt;
  return s;
}

/// For numbers out of range, where from_chars sets no value: an underflow gives what strtod gives,
/// an overflow is not a number of the dtype.
template <class T>
std::optional<T> real(std::string_view text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  T value{};
  const char* begin = text.data() + (hex ? 2 : 0);
  const char* end = text.data() + text.size();
  const auto result =
      std::from_chars(begin, end, value, hex ? std::chars_format::hex : std::chars_format::general);
  if (result.ptr != end || begin == end || *begin == '-') return std::nullopt;
  if (result.ec == std::errc::result_out_of_range) {
    const double magnitude = std::strtod(std::string(text).c_str(), nullptr);
    if (magnitude > std::numeric_limits<T>::max()) return std::nullopt;
    return static_cast<T>(magnitude);
  }
  if (result.ec != std::errc()) return std::nullopt;
  return value;
}

std::optional<Scalar> float_from_string(DType dtype, std::string_view text) {
  if (text.starts_with("nan") && text.size() > 3) return nan_from_string(dtype, text.substr(3));
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  if (text == "nan" && !negative) return default_nan(dtype);
  if (text == "inf") return Number(negative ? -INFINITY : INFINITY).in(dtype);
  if (text.empty() || !(text[0] == '.' || (text[0] >= '0' && text[0] <= '9'))) return std::nullopt;
  if (dtype == DType::kF32) {
    const auto value = real<float>(text);
    if (!value) return std::nullopt;
    return Scalar{dtype, std::bit_cast<uint32_t>(negative ? -*value : *value)};
  }
  const auto value = real<double>(text);
  if (!value) return std::nullopt;
  return Number(negative ? -*value : *value).in(dtype);
}

/// The digits of "12.50e1" without point and exponent, here "125", if it is a whole number.
std::optional<std::string> whole_digits(std::string_view text) {
  const size_t exponent_at = text.find_first_of("eE");
  int64_t exponent = 0;
  if (exponent_at != std::string_view::npos) {
    std::string_view written = text.substr(exponent_at + 1);
    if (written.starts_with('+')) written.remove_prefix(1);
    const auto value = sdk::number_of<int>(written);
    if (!value) return std::nullopt;
    exponent = *value;
    text = text.substr(0, exponent_at);
  }
  const size_t point = text.find('.');
  std::string digits(text.substr(0, point));
  if (point != std::string_view::npos) {
    const std::string_view fraction = text.substr(point + 1);
    digits += fraction;
    exponent -= static_cast<int64_t>(fraction.size());
  }
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  digits.erase(0, digits.find_first_not_of('0'));
  if (digits.empty()) return "0";
  constexpr int kMostDigits = 20;  // of 2^64
  if (exponent > kMostDigits) return std::nullopt;
  digits.append(static_cast<size_t>(std::max<int64_t>(exponent, 0)), '0');
  for (; exponent < 0; ++exponent) {
    if (digits.back() != '0') return std::nullopt;
    digits.pop_back();
  }
  return digits;
}

/// Also for bool, whose numbers are 0 and 1.
std::optional<Scalar> int_from_string(DType dtype, std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const auto digits = hex ? std::string(text.substr(2)) : whole_digits(text);
  if (!digits) return std::nullopt;
  const auto magnitude = sdk::number_of<uint64_t>(*digits, hex ? 16 : 10);
  if (!magnitude) return std::nullopt;
  if (!negative) return Number(*magnitude).in(dtype);
  if (*magnitude > uint64_t{1} << 63) return std::nullopt;
  return Number(static_cast<int64_t>(uint64_t{0} - *magnitude)).in(dtype);
}

}  // namespace

std::string to_string(const Scalar& scalar) {
  if (scalar.dtype == DType::kBool) return scalar.bits ? "true" : "false";
  if (!is_float(scalar.dtype))
    return is_signed(scalar.dtype) ? fmt::format("{}", scalar.as_int())
                                   : fmt::format("{}", scalar.bits);
  const double value = scalar.as_double();
  if (std::isnan(value)) {
    if (scalar == default_nan(scalar.dtype)) return "nan";
    return fmt::format("nan(0x{:0{}x})", scalar.bits, dtype_size(scalar.dtype) * 2);
  }
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return finite_text(scalar);
}

std::optional<Scalar> scalar_from_string(DType dtype, std::string_view text) {
  if (dtype == DType::kBool && (text == "true" || text == "false"))
    return Scalar{dtype, text == "true"};
  return is_float(dtype) ? float_from_string(dtype, text) : int_from_string(dtype, text);
}

}  // namespace tenon
