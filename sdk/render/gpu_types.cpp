// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A cast to a narrow float rounds once: values that f32 cannot hold are first rounded to odd.
#include "sdk/render/gpu_types.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sdk/program/op_info.hpp"
#include "sdk/program/scalar.hpp"

namespace tenon::sdk {
namespace {

bool is_real(uint8_t dtype) { return dtype == TN_DTYPE_F32 || dtype == TN_DTYPE_F64; }

}  // namespace

std::string_view gpu_type(uint8_t dtype) {
  const DTypeInfo* info = dtype_info(dtype);
  return info ? info->cuda : std::string_view();
}

std::string gpu_integer(uint64_t bits, uint8_t dtype) {
  if (dtype == TN_DTYPE_U64) return fmt::format("{}ull", bits);
  if (!is_signed(dtype)) return fmt::format("{}u", bits);
  const auto value = static_cast<int64_t>(convert(bits, dtype, TN_DTYPE_I64));
  if (value == INT64_MIN) return "(-9223372036854775807ll - 1)";
  if (value == INT32_MIN && dtype == TN_DTYPE_I32) return "(-2147483647 - 1)";
  return fmt::format("{}{}", value, dtype == TN_DTYPE_I64 ? "ll" : "");
}

std::string gpu_literal(uint64_t bits, uint8_t dtype) {
  if (dtype == TN_DTYPE_BOOL) return bits ? "true" : "false";
  if (is_narrow_float(dtype)) return fmt::format("{:#x}", bits);
  if (is_integer(dtype)) return gpu_integer(bits, dtype);
  const double value = to_double(bits, dtype);
  if (std::isfinite(value)) return fmt::format("{:a}{}", value, dtype == TN_DTYPE_F32 ? "f" : "");
  return fmt::format("tn_bits_{}({:#x}{})", dtype_text(dtype), bits,
                     dtype == TN_DTYPE_F32 ? "u" : "ull");
}

std::string gpu_cast(const std::string& value, uint8_t from, uint8_t to) {
  if (from == to) return value;
  std::string wide =
      is_narrow_float(from) ? fmt::format("tn_decode_{}({})", dtype_text(from), value) : value;
  if (to == TN_DTYPE_BOOL) return fmt::format("(({}) != 0)", wide);
  if (is_narrow_float(to)) {
    const bool is_large = from == TN_DTYPE_F64 || (is_integer(from) && dtype_bytes(from) >= 4);
    const std::string odd = is_large ? fmt::format("tn_odd_{}({})", dtype_text(from), value)
                                     : (is_float(from) ? wide : fmt::format("(float)({})", wide));
    return fmt::format("tn_encode_{}({})", dtype_text(to), odd);
  }
  if (is_float(from) && is_integer(to)) {
    return fmt::format("tn_saturate_{}({})", dtype_text(to), wide);
  }
  if (is_narrow_float(from) && to == TN_DTYPE_F32) return wide;
  if (to == TN_DTYPE_I16) return fmt::format("tn_short((int)({}))", wide);
  return fmt::format("({})({})", gpu_type(to), wide);
}

std::string gpu_bit_cast(const std::string& value, uint8_t from, uint8_t to) {
  if (from == to) return value;
  const std::string bits =
      is_real(from) ? fmt::format("tn_bits_of_{}({})", dtype_text(from), value) : value;
  if (to == TN_DTYPE_BOOL) return fmt::format("({} != 0)", bits);
  if (is_real(to)) return fmt::format("tn_bits_{}({})", dtype_text(to), bits);
  if (to == TN_DTYPE_I16) return fmt::format("tn_short((int)({}))", bits);
  return fmt::format("({})({})", gpu_type(to), bits);
}

}  // namespace tenon::sdk
