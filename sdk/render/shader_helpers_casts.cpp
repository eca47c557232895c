// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions of f32. Narrow floats are bits in a u32, and are rounded once, by integer arithmetic.
#include "sdk/render/shader_helpers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sdk/program/dtype_info.hpp"

namespace tenon::sdk {
namespace {

ShaderHelper encoder(const DTypeInfo& dtype) {
  const NarrowFormat& f = dtype.format;
  return {fmt::format("tn_encode_{}", dtype.text),
          fmt::format(R"(fn tn_encode_{}(x: f32) -> u32 {{
  let sign: u32 = (bitcast<u32>(x) >> {}u) & {:#x}u;
  return sign | tn_encode(x, {}u, {:#x}u, {:.1f}f, {:#x}u, {:#x}u);
}}
)",
                      dtype.text, 32 - 8 * dtype.bytes, f.sign, 23 - f.mantissa_bits,
                      (127 - f.bias) << 23, std::ldexp(1, 24 - f.bias - f.mantissa_bits),
                      f.overflow, f.quiet_nan)};
}

/// Decodes a narrow float without its own helper.
ShaderHelper decoder(const DTypeInfo& dtype) {
  const NarrowFormat& f = dtype.format;
  return {fmt::format("tn_decode_{}", dtype.text),
          fmt::format(R"(fn tn_decode_{}(x: u32) -> f32 {{
  let code: u32 = x & {:#x}u;
  let sign: u32 = (x & {:#x}u) << {}u;
  if (code < {}u) {{ return bitcast<f32>(sign | bitcast<u32>(f32(code) * {:e}f)); }}
  let special: u32 = select(0x7fc00000u, 0x7f800000u, {} && code == {:#x}u);
  return bitcast<f32>(sign | select((code << {}u) + {:#x}u, special, code > {:#x}u));
}}
)",
                      dtype.text, f.sign - 1, f.sign, 32 - 8 * dtype.bytes,
                      uint64_t{1} << f.mantissa_bits, std::ldexp(1, 1 - f.bias - f.mantissa_bits),
                      f.has_infinity, f.overflow, 23 - f.mantissa_bits, (127 - f.bias) << 23,
                      f.max_finite)};
}

}  // namespace

void add_cast_helpers(std::vector<ShaderHelper>& out) {
  const ShaderHelper helpers[] = {
      // Keeps compilers from reassociating or contracting x with its uses.
      {"tn_exact", R"(fn tn_exact(x: f32) -> f32 {
  return bitcast<f32>(tn_opaque(bitcast<u32>(x)));
}
)"},
      // By bits, as compilers assume x == x.
      {"tn_is_nan", R"(fn tn_is_nan(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}
)"},
      {"tn_is_infinite", R"(fn tn_is_infinite(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) == 0x7f800000u;
}
)"},
      // Mesa folds a round trip of an integer through f32 to the integer, though it may round.
      {"tn_i32_of_f32", R"(fn tn_i32_of_f32(x: f32) -> i32 {
  if (tn_is_nan(x)) { return 0; }
  if (x >= 2147483648.0f) { return 2147483647; }
  if (x <= -2147483648.0f) { return i32(0x80000000u); }
  return i32(tn_exact(x));
}
)"},
      {"tn_u32_of_f32", R"(fn tn_u32_of_f32(x: f32) -> u32 {
  if (tn_is_nan(x) || x <= 0.0f) { return 0u; }
  if (x >= 4294967296.0f) { return 0xffffffffu; }
  return u32(tn_exact(x));
}
)"},
      // To f32, rounded to odd, so that a later rounding is correct.
      {"tn_odd_u32", R"(fn tn_odd_u32(x: u32) -> f32 {
  if (x < 0x1000000u) { return f32(x); }
  return f32((x & 0xffffff00u) | select(0u, 0x100u, (x & 0xffu) != 0u));
}
)"},
      {"tn_odd_i32", R"(fn tn_odd_i32(x: i32) -> f32 {
  if (x < 0) { return -tn_odd_u32(0u - u32(x)); }
  return tn_odd_u32(u32(x));
}
)"},
      // x*y+z of floats of at most 12 bits, rounded to odd. The product is exact unless it is near
      // the
      // smallest numbers. If it overflows the sum may still be finite, so the sum is scaled.
      {"tn_fma_odd", R"(fn tn_fma_odd(x: f32, y: f32, z: f32) -> f32 {
  let product: f32 = x * y;
  if (tn_is_infinite(product) && !tn_is_infinite(x) && !tn_is_infinite(y)) {
    let unit: f32 = 5.421010862427522e-20f;
    let scaled: f32 = (x * unit) * (y * unit) + (z * unit) * unit;
    return (scaled / unit) / unit;
  }
  let sum: f32 = product + z;
  let bits: u32 = bitcast<u32>(sum);
  if ((bits & 0x7f800000u) == 0x7f800000u) { return sum; }
  let part: f32 = sum - product;
  let error: f32 = (product - (sum - part)) + (z - part);
  if (error == 0.0f || (bits & 1u) != 0u) { return sum; }
  return bitcast<f32>(select(bits - 1u, bits + 1u, (error > 0.0f) == (sum > 0.0f)));
}
)"},
      {"tn_decode_f16", R"(fn tn_decode_f16(x: u32) -> f32 {
  let code: u32 = x & 0x7fffu;
  let sign: u32 = (x & 0x8000u) << 16u;
  let small: f32 = f32(code) * 5.9604644775390625e-8f;
  if (code < 0x400u) { return bitcast<f32>(sign | bitcast<u32>(small)); }
  let special: u32 = select(0x38000000u, 0x70000000u, code >= 0x7c00u);
  return bitcast<f32>(sign | ((code << 13u) + special));
}
)"},
      {"tn_decode_bf16", R"(fn tn_decode_bf16(x: u32) -> f32 {
  return bitcast<f32>(x << 16u);
}
)"},
      {"tn_decode_f8e4m3", R"(fn tn_decode_f8e4m3(x: u32) -> f32 {
  let code: u32 = x & 0x7fu;
  let sign: u32 = (x & 0x80u) << 24u;
  if (code < 8u) { return bitcast<f32>(sign | bitcast<u32>(f32(code) * 0.001953125f)); }
  return bitcast<f32>(sign | select((code << 20u) + 0x3c000000u, 0x7fc00000u, code == 0x7fu));
}
)"},
      {"tn_decode_f8e5m2", R"(fn tn_decode_f8e5m2(x: u32) -> f32 {
  return tn_decode_f16(x << 8u);
}
)"},
      // Drops `shift` mantissa bits. `rebias` is the difference of the exponent biases, and
      // the last place of `magic` is the smallest subnormal number.
      {"tn_encode",
       R"(fn tn_encode(x: f32, shift: u32, rebias: u32, magic: f32, over: u32, nan: u32) -> u32 {
  let magnitude: u32 = bitcast<u32>(x) & 0x7fffffffu;
  if (magnitude > 0x7f800000u) { return nan; }
  if (magnitude < rebias + 0x800000u) {
    return bitcast<u32>(bitcast<f32>(magnitude) + magic) - bitcast<u32>(magic);
  }
  let up: u32 = ((1u << (shift - 1u)) - 1u) + ((magnitude >> shift) & 1u);
  return min((magnitude - rebias + up) >> shift, over);
}
)"},
      {"tn_encode_bf16", R"(fn tn_encode_bf16(x: f32) -> u32 {
  let bits: u32 = bitcast<u32>(x);
  if (tn_is_nan(x)) { return (bits >> 16u) | 0x40u; }
  return (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;
}
)"}};
  out.insert(out.end(), std::begin(helpers), std::end(helpers));
  for (const DTypeInfo& dtype : all_dtypes()) {
    const bool is_short = dtype.format.bias < 127;  // fewer exponents than f32
    if (!is_narrow_float(dtype.dtype) || !is_short) continue;
    out.push_back(encoder(dtype));
    const std::string own = fmt::format("tn_decode_{}", dtype.text);
    if (std::ranges::find(helpers, own, &ShaderHelper::name) == std::end(helpers))
      out.push_back(decoder(dtype));
  }
}

}  // namespace tenon::sdk
