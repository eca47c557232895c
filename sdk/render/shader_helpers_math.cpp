// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maximum, minimum and transcendental functions of f32, to about 2 units in the last place on
// devices with correctly rounded sums and products. Coefficients: interpolation at Chebyshev nodes,
// errors below 2e-8. No step relies on fused multiply-add, or on a compiler keeping the order of
// float sums.
#include "sdk/render/shader_helpers.hpp"

namespace tenon::sdk {
namespace {

ShaderHelper make(const char* name, const char* text) { return {name, text}; }

void add_order(std::vector<ShaderHelper>& out) {
  // Maps floats to integers of the same order: -0 below +0, NaN above all.
  out.push_back(make("tn_order", R"(fn tn_order(x: f32, nan: i32) -> i32 {
  let bits: i32 = bitcast<i32>(x);
  return select(bits ^ ((bits >> 31u) & 0x7fffffff), nan, (bits & 0x7fffffff) > 0x7f800000);
}
)"));
  out.push_back(make("tn_max_f32", R"(fn tn_max_f32(x: f32, y: f32) -> f32 {
  return select(y, x, tn_order(x, 0x7fffffff) >= tn_order(y, 0x7fffffff));
}
)"));
  out.push_back(make("tn_min_f32", R"(fn tn_min_f32(x: f32, y: f32) -> f32 {
  return select(y, x, tn_order(x, i32(0x80000000u)) <= tn_order(y, i32(0x80000000u)));
}
)"));
}

void add_exponentials(std::vector<ShaderHelper>& out) {
  out.push_back(make("tn_nan", R"(fn tn_nan() -> f32 {
  return bitcast<f32>(tn_opaque(0x7fc00000u));
}
)"));
  out.push_back(make("tn_infinity", R"(fn tn_infinity() -> f32 {
  return bitcast<f32>(tn_opaque(0x7f800000u));
}
)"));
  // x * 2^n for n in [-252, 254], in two steps so that it rounds at most once.
  out.push_back(make("tn_scale", R"(fn tn_scale(x: f32, n: i32) -> f32 {
  let first: i32 = n >> 1u;
  let step: f32 = x * bitcast<f32>(u32(first + 127) << 23u);
  let result: f32 = step * bitcast<f32>(u32(n - first + 127) << 23u);
  return result;
}
)"));
  // 2^r for r in [-1/2, 1/2].
  out.push_back(make("tn_exp2_part", R"(fn tn_exp2_part(r: f32) -> f32 {
  let high: f32 = 0.009618083f + r * (0.0013390863f + r * 0.00015453163f);
  let low: f32 = 0.6931472f + r * (0.2402265f + r * (0.05550357f + r * high));
  let result: f32 = 1.0f + r * low;
  return result;
}
)"));
  out.push_back(make("tn_exp2_f32", R"(fn tn_exp2_f32(x: f32) -> f32 {
  let t: f32 = clamp(x, -152.0f, 129.0f);
  let n: f32 = round(t);
  let r: f32 = t - n;
  return select(tn_scale(tn_exp2_part(r), i32(n)), x, tn_is_nan(x));
}
)"));
  // x*log2(e) as the sum of an exact product of short factors and a small rest.
  out.push_back(make("tn_exp_f32", R"(fn tn_exp_f32(x: f32) -> f32 {
  let t: f32 = clamp(x, -105.0f, 90.0f);
  let n: f32 = round(t * 1.442695f);
  let high: f32 = bitcast<f32>(bitcast<u32>(t) & 0xfffff000u);
  let rest: f32 = (t - high) * 1.442695f + high * 0.0003122284f;
  let r: f32 = (high * 1.4423828125f - n) + rest;
  return select(tn_scale(tn_exp2_part(r), i32(n)), x, tn_is_nan(x));
}
)"));
}

void add_logarithms(std::vector<ShaderHelper>& out) {
  // The logarithm of arguments without a finite one.
  out.push_back(make("tn_log_special", R"(fn tn_log_special(x: f32) -> f32 {
  let bits: u32 = bitcast<u32>(x);
  let no_zero: f32 = select(tn_nan(), x, bits == 0x7f800000u);
  return select(no_zero, -tn_infinity(), (bits & 0x7fffffffu) == 0u);
}
)"));
  // x = 2^exponent * fraction, the fraction in [sqrt(1/2), sqrt(2)); subnormal numbers by their
  // bits.
  out.push_back(make("tn_log_bits", R"(fn tn_log_bits(x: f32) -> u32 {
  let bits: u32 = bitcast<u32>(x);
  return select(bits, bitcast<u32>(f32(bits)), bits < 0x800000u);
}
)"));
  out.push_back(make("tn_log_exponent", R"(fn tn_log_exponent(x: f32) -> i32 {
  let exponent: i32 = (i32(tn_log_bits(x)) - 0x3f3504f3) >> 23u;
  return exponent - select(0, 149, bitcast<u32>(x) < 0x800000u);
}
)"));
  out.push_back(make("tn_log_fraction", R"(fn tn_log_fraction(x: f32) -> f32 {
  let bits: i32 = i32(tn_log_bits(x));
  let exponent: i32 = (bits - 0x3f3504f3) >> 23u;
  return bitcast<f32>(u32(bits) - (u32(exponent) << 23u));
}
)"));
  out.push_back(make("tn_log2_f32", R"(fn tn_log2_f32(x: f32) -> f32 {
  let bits: u32 = bitcast<u32>(x);
  let f: f32 = tn_log_fraction(x) - 1.0f;
  let last: f32 = 0.20485765f + f * (-0.19138838f + f * (0.18476033f - f * 0.10749789f));
  let top: f32 = 0.28855255f + f * (-0.23960812f + f * last);
  let p: f32 = 1.442695f + f * (-0.72134733f + f * (0.48089853f + f * (-0.36069655f + f * top)));
  let result: f32 = f32(tn_log_exponent(x)) + f * p;
  return select(result, tn_log_special(x), bits - 1u >= 0x7f7fffffu);
}
)"));
  // The exponent times ln(2) in two parts, the larger one exact and added last.
  out.push_back(make("tn_ln_f32", R"(fn tn_ln_f32(x: f32) -> f32 {
  let bits: u32 = bitcast<u32>(x);
  let e: f32 = f32(tn_log_exponent(x));
  let f: f32 = tn_log_fraction(x) - 1.0f;
  let last: f32 = -0.124208145f + f * (0.11812136f + f * (-0.11557288f + f * 0.06769024f));
  let top: f32 = -0.16667537f + f * (0.14232318f + f * last);
  let p: f32 = -0.5f + f * (0.33333322f + f * (-0.25000012f + f * (0.20001447f + f * top)));
  let small: f32 = f + (f * f * p + e * 0.0000014286068f);
  let result: f32 = e * 0.693145751953125f + small;
  return select(result, tn_log_special(x), bits - 1u >= 0x7f7fffffu);
}
)"));
}

void add_sine(std::vector<ShaderHelper>& out) {
  // Words of 2/pi after two words of zeros.
  out.push_back(make("tn_two_over_pi", R"(fn tn_two_over_pi(word: u32) -> u32 {
  if (word < 2u) { return 0u; }
  if (word == 2u) { return 0xa2f9836eu; }
  if (word == 3u) { return 0x4e441529u; }
  if (word == 4u) { return 0xfc2757d1u; }
  if (word == 5u) { return 0xf534ddc0u; }
  if (word == 6u) { return 0xdb629599u; }
  if (word == 7u) { return 0x3c439041u; }
  return 0xfe5163abu;
}
)"));
  out.push_back(make("tn_mul_high", R"(fn tn_mul_high(x: u32, y: u32) -> u32 {
  let middle: u32 = (x & 0xffffu) * (y >> 16u);
  let other: u32 = (x >> 16u) * (y & 0xffffu);
  let low: u32 = ((x & 0xffffu) * (y & 0xffffu)) >> 16u;
  let carry: u32 = (low + (middle & 0xffffu) + (other & 0xffffu)) >> 16u;
  return (x >> 16u) * (y >> 16u) + (middle >> 16u) + (other >> 16u) + carry;
}
)"));
  // Payne-Hanek reduction: |x| * 2/pi modulo 4 in fixed point, from the relevant 96 bits of 2/pi.
  out.push_back(make("tn_sine", R"(fn tn_sine(x: f32, shift: u32) -> f32 {
  let magnitude: u32 = bitcast<u32>(x) & 0x7fffffffu;
  let mantissa: u32 = (magnitude & 0x7fffffu) | 0x800000u;
  let first: u32 = (magnitude >> 23u) - 88u;
  let word: u32 = first >> 5u;
  let bit: u32 = first & 31u;
  let a: u32 = tn_two_over_pi(word);
  let b: u32 = tn_two_over_pi(word + 1u);
  let c: u32 = tn_two_over_pi(word + 2u);
  let d: u32 = tn_two_over_pi(word + 3u);
  let high: u32 = (a << bit) | ((b >> 1u) >> (31u - bit));
  let middle: u32 = (b << bit) | ((c >> 1u) >> (31u - bit));
  let low: u32 = (c << bit) | ((d >> 1u) >> (31u - bit));
  let carried: u32 = tn_mul_high(mantissa, low);
  let second: u32 = mantissa * middle + carried;
  let carry: u32 = select(0u, 1u, second < carried);
  let top: u32 = mantissa * high + tn_mul_high(mantissa, middle) + carry;
  let quadrant: u32 = ((top + 0x20000000u) >> 30u) + shift;
  let sign: u32 = 0u - ((top >> 29u) & 1u);
  let part: u32 = ((top << 2u) | (second >> 30u)) ^ sign;
  let rest: u32 = (second << 2u) ^ sign;
  let t: f32 = (f32(part) + f32(rest) * 2.3283064365386963e-10f) * 2.3283064365386963e-10f;
  let u: f32 = t * t;
  let sine: f32 = 0.07969261f + u * (-0.004681475f + u * 0.00015865151f);
  let odd: f32 = t * 1.5707964f + t * (u * (-0.6459641f + u * sine) - 4.371139e-8f);
  let cosine: f32 = 0.2536694f + u * (-0.020861529f + u * 0.0009067399f);
  let even: f32 = 1.0f + u * (-1.2337005f + u * cosine);
  let negative: u32 = (select(0u, bitcast<u32>(x), shift == 0u) ^ (quadrant << 30u)) & 0x80000000u;
  let is_even: bool = (quadrant & 1u) != 0u;
  let flip: u32 = negative ^ select(sign & 0x80000000u, 0u, is_even);
  return bitcast<f32>(bitcast<u32>(select(odd, even, is_even)) ^ flip);
}
)"));
  out.push_back(make("tn_sin_f32", R"(fn tn_sin_f32(x: f32) -> f32 {
  let magnitude: u32 = bitcast<u32>(x) & 0x7fffffffu;
  if (magnitude < 0x39800000u) { return x; }
  if (magnitude >= 0x7f800000u) { return tn_nan(); }
  return tn_sine(x, 0u);
}
)"));
  out.push_back(make("tn_cos_f32", R"(fn tn_cos_f32(x: f32) -> f32 {
  let magnitude: u32 = bitcast<u32>(x) & 0x7fffffffu;
  if (magnitude < 0x39800000u) { return 1.0f; }
  if (magnitude >= 0x7f800000u) { return tn_nan(); }
  return tn_sine(x, 1u);
}
)"));
}

}  // namespace

void add_math_helpers(std::vector<ShaderHelper>& out) {
  add_order(out);
  add_exponentials(out);
  add_logarithms(out);
  add_sine(out);
}

}  // namespace tenon::sdk
