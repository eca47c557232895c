// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transcendental functions of f64, as those of f32 (shader_helpers_math.cpp) with longer
// polynomials.
#include "sdk/render/shader_helpers.hpp"

namespace tenon::sdk {
namespace {

void add_wide_exponentials(std::vector<ShaderHelper>& out) {
  // x * 2^n for n in [-2044, 2046].
  out.push_back({"tn_scale64", R"(fn tn_scale64(x: f64, n: i32) -> f64 {
  let first: i32 = n >> 1u;
  let step: f64 = x * bitcast<f64>(u64(first + 1023) << 52u);
  let result: f64 = step * bitcast<f64>(u64(n - first + 1023) << 52u);
  return result;
}
)"});
  out.push_back({"tn_exp2_part64", R"(fn tn_exp2_part64(r: f64) -> f64 {
  var p: f64 = 4.4558179083360645e-10lf + r * 2.5729324177362305e-11lf;
  p = 1.0178057087733941e-07lf + r * (7.0548973041554995e-09lf + r * p);
  p = 1.5252733841556773e-05lf + r * (1.3215486808705563e-06lf + r * p);
  p = 0.001333355814640647lf + r * (0.00015403530393370734lf + r * p);
  p = 0.055504108664821625lf + r * (0.00961812910762848lf + r * p);
  p = 1.0lf + r * (0.6931471805599453lf + r * (0.24022650695910072lf + r * p));
  return p;
}
)"});
  out.push_back({"tn_exp2_f64", R"(fn tn_exp2_f64(x: f64) -> f64 {
  if (tn_is_nan64(x)) { return x; }
  let t: f64 = clamp(x, -1080.0lf, 1025.0lf);
  let n: f64 = round(t);
  let r: f64 = t - n;
  return tn_scale64(tn_exp2_part64(r), i32(n));
}
)"});
  out.push_back({"tn_exp_f64", R"(fn tn_exp_f64(x: f64) -> f64 {
  if (tn_is_nan64(x)) { return x; }
  let t: f64 = clamp(x, -750.0lf, 710.0lf);
  let n: f64 = round(t * 1.4426950408889634lf);
  let high: f64 = bitcast<f64>(bitcast<u64>(t) & 0xfffffffff8000000ul);
  let rest: f64 = (t - high) * 1.4426950408889634lf + high * 1.9259629911266175e-08lf;
  let r: f64 = (high * 1.44269502162933349609375lf - n) + rest;
  return tn_scale64(tn_exp2_part64(r), i32(n));
}
)"});
}

void add_wide_logarithms(std::vector<ShaderHelper>& out) {
  out.push_back({"tn_log_special64", R"(fn tn_log_special64(x: f64) -> f64 {
  let bits: u64 = bitcast<u64>(x);
  if ((bits & 0x7ffffffffffffffful) == 0ul) { return bitcast<f64>(0xfff0000000000000ul); }
  if (bits == 0x7ff0000000000000ul) { return x; }
  return bitcast<f64>(0x7ff8000000000000ul);
}
)"});
  out.push_back({"tn_log_bits64", R"(fn tn_log_bits64(x: f64) -> u64 {
  let bits: u64 = bitcast<u64>(x);
  if (bits < 0x10000000000000ul) { return bitcast<u64>(f64(bits)); }
  return bits;
}
)"});
  out.push_back({"tn_log_exponent64", R"(fn tn_log_exponent64(x: f64) -> i32 {
  let exponent: i32 = i32(i64(tn_log_bits64(x) - 0x3fe6a09e667f3bcdul) >> 52u);
  return bitcast<u64>(x) < 0x10000000000000ul ? exponent - 1074 : exponent;
}
)"});
  // ln(1 + f) where 1 + f in [sqrt(1/2), sqrt(2)) is the fraction of x: with s = f/(2+f) it is
  // f - (f^2/2 - s*(f^2/2 + s^2 R(s^2))).
  out.push_back({"tn_log_part64", R"(fn tn_log_part64(x: f64) -> f64 {
  let bits: u64 = tn_log_bits64(x);
  let exponent: i64 = i64(bits - 0x3fe6a09e667f3bcdul) >> 52u;
  let f: f64 = bitcast<f64>(bits - (u64(exponent) << 52u)) - 1.0lf;
  let s: f64 = f / (2.0lf + f);
  let z: f64 = s * s;
  var p: f64 = 0.13268773138651677lf + z * 0.13086626147887312lf;
  p = 0.22222222391713917lf + z * (0.181817956401329lf + z * (0.15386239702814888lf + z * p));
  p = z * (0.6666666666666666lf + z * (0.4000000000000088lf + z * (0.28571428570803614lf + z * p)));
  let square: f64 = 0.5lf * f * f;
  let result: f64 = f - (square - s * (square + p));
  return result;
}
)"});
  out.push_back({"tn_log2_f64", R"(fn tn_log2_f64(x: f64) -> f64 {
  if (bitcast<u64>(x) - 1ul >= 0x7feffffffffffffful) { return tn_log_special64(x); }
  let result: f64 = f64(tn_log_exponent64(x)) + tn_log_part64(x) * 1.4426950408889634lf;
  return result;
}
)"});
  out.push_back({"tn_ln_f64", R"(fn tn_ln_f64(x: f64) -> f64 {
  if (bitcast<u64>(x) - 1ul >= 0x7feffffffffffffful) { return tn_log_special64(x); }
  let e: f64 = f64(tn_log_exponent64(x));
  let small: f64 = tn_log_part64(x) + e * 1.9082149292705877e-10lf;
  let result: f64 = e * 0.6931471803691238164901733lf + small;
  return result;
}
)"});
}

void add_wide_sine(std::vector<ShaderHelper>& out) {
  // Words of 2/pi after three words of zeros.
  out.push_back({"tn_two_over_pi64", R"(fn tn_two_over_pi64(word: u32) -> u64 {
  const uint words[40] = uint[40](
    0u, 0u, 0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u,
    0xfe5163abu, 0xdebbc561u, 0xb7246e3au, 0x424dd2e0u, 0x06492eeau, 0x09d1921cu, 0xfe1deb1cu,
    0xb129a73eu, 0xe88235f5u, 0x2ebb4484u, 0xe99c7026u, 0xb45f7e41u, 0x3991d639u, 0x835339f4u,
    0x9c845f8bu, 0xbdf9283bu, 0x1ff897ffu, 0xde05980fu, 0xef2f118bu, 0x5a0a6d1fu, 0x6d367ecfu,
    0x27cb09b7u, 0x4f463f66u, 0x9e5fea2du, 0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u, 0x8a5292eau,
    0x6bfb5fb1u, 0x1f8d5d08u, 0x56033046u);
  return u64(words[word]);
}
)"});
  // Payne-Hanek: |x| * 2/pi modulo 4 from the relevant 192 bits of 2/pi, by schoolbook
  // multiplication.
  out.push_back({"tn_sine64", R"(fn tn_sine64(x: f64, shift: u32) -> f64 {
  let magnitude: u64 = bitcast<u64>(x) & 0x7ffffffffffffffful;
  let mantissa: u64 = (magnitude & 0xffffffffffffful) | 0x10000000000000ul;
  let first: u32 = u32(magnitude >> 52u) - 981u;
  let word: u32 = first >> 5u;
  let bit: u32 = first & 31u;
  uint64_t product[7];
  for (int k = 0; k < 7; ++k) { product[k] = 0ul; }
  for (uint row = 0u; row < 2u; ++row) {
    uint64_t carry = 0ul;
    uint64_t factor = row == 0u ? mantissa & 0xfffffffful : mantissa >> 32u;
    for (int k = 5; k >= 0; --k) {
      uint place = word + uint(k);
      uint64_t pair = (tn_two_over_pi64(place) << 32u) | tn_two_over_pi64(place + 1u);
      int at = k + 1 - int(row);
      uint64_t sum = factor * ((pair >> (32u - bit)) & 0xfffffffful) + product[at] + carry;
      product[at] = sum & 0xfffffffful;
      carry = sum >> 32u;
    }
    if (row == 0u) { product[0] = carry; }
  }
  let top: u64 = (product[1] << 32u) | product[2];
  let next: u64 = (product[3] << 32u) | product[4];
  let quadrant: u32 = u32((top + 0x2000000000000000ul) >> 62u) + shift;
  let sign: u64 = u64(0) - ((top >> 61u) & 1ul);
  let part: u64 = ((top << 2u) | (next >> 62u)) ^ sign;
  let rest: u64 = (next << 2u) ^ sign;
  let t: f64 = (f64(part) + f64(rest) * 5.42101086242752217e-20lf) * 5.42101086242752217e-20lf;
  let u: f64 = t * t;
  var odd: f64 = -6.687858113116081e-10lf + u * 6.023317412360845e-12lf;
  odd = -3.5988432347736978e-06lf + u * (5.692172547759511e-08lf + u * odd);
  odd = -0.0046817541353186875lf + u * (0.00016044118478733194lf + u * odd);
  odd = u * (-0.6459640975062463lf + u * (0.07969262624616705lf + u * odd));
  odd = t * 1.5707963267948966lf + t * (odd + 6.123233995736766e-17lf);
  var even: f64 = -6.3863890969045165e-09lf + u * 6.51322272759281e-11lf;
  even = -2.520204236776104e-05lf + u * (4.710874326431131e-07lf + u * even);
  even = -0.02086348076335295lf + u * (0.0009192602748390894lf + u * even);
  even = 0.25366950790104803lf + u * even;
  even = 1.0lf + u * (-1.2337005501361697lf + u * even);
  let is_even: bool = (quadrant & 1u) != 0u;
  let own: u64 = shift == 0u ? bitcast<u64>(x) : 0ul;
  let flip: u64 = (u64(quadrant) << 62u) ^ (is_even ? 0ul : sign) ^ own;
  return bitcast<f64>(bitcast<u64>(is_even ? even : odd) ^ (flip & 0x8000000000000000ul));
}
)"});
  out.push_back({"tn_sin_f64", R"(fn tn_sin_f64(x: f64) -> f64 {
  let magnitude: u64 = bitcast<u64>(x) & 0x7ffffffffffffffful;
  if (magnitude < 0x3e50000000000000ul) { return x; }
  if (magnitude >= 0x7ff0000000000000ul) { return bitcast<f64>(0x7ff8000000000000ul); }
  return tn_sine64(x, 0u);
}
)"});
  out.push_back({"tn_cos_f64", R"(fn tn_cos_f64(x: f64) -> f64 {
  let magnitude: u64 = bitcast<u64>(x) & 0x7ffffffffffffffful;
  if (magnitude < 0x3e50000000000000ul) { return 1.0lf; }
  if (magnitude >= 0x7ff0000000000000ul) { return bitcast<f64>(0x7ff8000000000000ul); }
  return tn_sine64(x, 1u);
}
)"});
}

}  // namespace

void add_wide_math_helpers(std::vector<ShaderHelper>& out) {
  add_wide_exponentials(out);
  add_wide_logarithms(out);
  add_wide_sine(out);
}

}  // namespace tenon::sdk
