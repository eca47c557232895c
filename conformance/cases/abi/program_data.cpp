// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/cases/abi/program_data.hpp"

#include <algorithm>
#include <cmath>

#include "conformance/cases/abi/scalars.hpp"
#include "conformance/cases/graphs/boundary_values.hpp"
#include "conformance/cases/random.hpp"
#include "core/ir/narrow_float.hpp"
#include "sdk/program/op_info.hpp"
#include "sdk/program/view.hpp"

namespace tenon::conformance::abi {
namespace {

/// Digits of the significand, the hidden one too, and of the exponent.
struct Format {
  int digits, exponent;
};
Format format_of(uint8_t dtype) {
  const FloatFormat& f = float_format(static_cast<DType>(dtype));
  return {f.mantissa_bits + 1, f.bias - 1};
}

/// A param has its values by its name: they stay when others go.
uint64_t key_of(std::string_view name) {
  uint64_t key = 0;
  for (const char c : name) key = mix(key, static_cast<unsigned char>(c));
  return key;
}

/// A float of about 1 to 2^8 with all its digits: sums and products of such round.
uint64_t ordinary_input(uint64_t random, uint8_t dtype) {
  const double digits = 1 + std::ldexp(static_cast<double>(random % (uint64_t{1} << 52)), -52);
  const int exponent = static_cast<int>(random >> 52 & 7);
  return from_double(std::ldexp(random >> 56 & 1 ? -digits : digits, exponent), dtype);
}

int64_t whole_input(uint64_t random) {
  constexpr int64_t kSpecial[] = {INT64_MIN, INT64_MAX, INT32_MIN, INT32_MAX, UINT32_MAX, -128,
                                  127,       255,       32767,     -32768,    65535,      31,
                                  32,        63,        64,        1 << 30};
  const uint64_t rest = random >> 8;
  switch (random % 4) {
    case 0:
    case 1:
      return static_cast<int64_t>(rest % 17) - 8;
    case 2:
      return kSpecial[rest % std::size(kSpecial)];
    default:
      return static_cast<int64_t>(mix(random, 1));
  }
}

}  // namespace

bool holds(uint8_t dtype, const Exact& exact) {
  const Format format = format_of(dtype);
  return std::ldexp(exact.bound, exact.unit) <= std::ldexp(1, format.digits) &&
         exact.bound <= std::ldexp(1, format.exponent) &&
         exact.unit < std::min(format.exponent, 64);
}

Exact input_exact(uint8_t dtype) {
  return sdk::dtype_bytes(dtype) == 1 ? Exact{1.75, 2} : Exact{4, 2};
}

uint64_t program_input(uint64_t seed, std::string_view name, uint8_t dtype, uint64_t i) {
  if (seed == 0) return 0;
  const uint64_t random = mix(mix(seed, key_of(name)), i);
  if (dtype == TN_DTYPE_BOOL) return random & 1;
  const bool is_mixed = name.starts_with("mixed_");
  const bool is_edge = name.starts_with("edge_") || (is_mixed && mix(random, 9) % 2 == 0);
  if (is_mixed && !is_edge)
    return sdk::is_float(dtype) ? ordinary_input(mix(random, 10), dtype)
                                : convert(mix(random, 10), TN_DTYPE_I64, dtype);
  if (is_edge) {
    const auto& edges = graphs::boundary_values(static_cast<DType>(dtype));
    return edges[random % edges.size()];
  }
  if (name.starts_with("small_") && sdk::is_float(dtype))
    return from_double(static_cast<double>(random % 5) - 2, dtype);
  if (name.starts_with("large_") && sdk::is_float(dtype))
    return from_double(static_cast<double>(random % 255) - 127, dtype);
  if (!sdk::is_float(dtype))
    return convert(static_cast<uint64_t>(whole_input(random)), TN_DTYPE_I64, dtype);
  const Exact exact = input_exact(dtype);
  const auto most = static_cast<int64_t>(std::ldexp(exact.bound, exact.unit));
  const int64_t quarters =
      static_cast<int64_t>(random % static_cast<uint64_t>(2 * most + 1)) - most;
  return from_double(std::ldexp(static_cast<double>(quarters), -exact.unit), dtype);
}

uint64_t program_scalar(uint64_t seed, std::string_view name, const tn_param& param) {
  const auto dtype = static_cast<uint8_t>(param.dtype);
  if (!sdk::is_integer(dtype)) return program_input(seed, name, dtype, 0);
  int64_t value = 0;
  if (seed) {
    const uint64_t random = mix(mix(seed, key_of(name)), 5);
    const uint64_t span =
        static_cast<uint64_t>(param.maximum) - static_cast<uint64_t>(param.minimum) + 1;
    value = static_cast<int64_t>(static_cast<uint64_t>(param.minimum) +
                                 (span ? random % span : random));
  }
  value = std::clamp(value, param.minimum, param.maximum);
  return convert(static_cast<uint64_t>(value), TN_DTYPE_I64, dtype);
}

}  // namespace tenon::conformance::abi
