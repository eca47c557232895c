// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions between 64-bit types, which WGSL lacks, and others.
#include <array>

#include "sdk/render/dialect.hpp"
#include "sdk/render/shader_helpers.hpp"

namespace tenon::sdk {
namespace {

void add_rounding(std::vector<ShaderHelper>& out) {
  // The 32 leading bits with a sticky last bit; exact below 2^32.
  out.push_back({"tn_odd_u64", R"(fn tn_odd_u64(x: u64) -> f32 {
  let high: u32 = u32(x >> 32u);
  if (high == 0u) { return tn_odd_u32(u32(x)); }
  let shift: u32 = u32(findMSB(high)) + 1u;
  let lead: u32 = u32(x >> shift);
  let rest: bool = (u64(lead) << shift) != x;
  return tn_odd_u32(rest ? lead | 1u : lead) * bitcast<f32>((127u + shift) << 23u);
}
)"});
  out.push_back({"tn_odd_i64", R"(fn tn_odd_i64(x: i64) -> f32 {
  if (x < i64(0)) { return -tn_odd_u64(u64(0) - u64(x)); }
  return tn_odd_u64(u64(x));
}
)"});
  // Clears the bits below the binary point.
  out.push_back({"tn_trunc_f64", R"(fn tn_trunc_f64(x: f64) -> f64 {
  let bits: u64 = bitcast<u64>(x);
  let exponent: u32 = u32(bits >> 52u) & 0x7ffu;
  if (exponent < 1023u) { return bitcast<f64>(bits & 0x8000000000000000ul); }
  if (exponent >= 1075u) { return x; }
  return bitcast<f64>((bits >> (1075u - exponent)) << (1075u - exponent));
}
)"});
  // To f32, rounded to odd.
  out.push_back({"tn_odd_f64", R"(fn tn_odd_f64(x: f64) -> f32 {
  let near: f32 = f32(x);
  let bits: u32 = bitcast<u32>(near);
  let back: f64 = f64(near);
  if (back == x || (bits & 1u) != 0u || tn_is_nan(near)) { return near; }
  return bitcast<f32>(abs(back) < abs(x) ? bits + 1u : bits - 1u);
}
)"});
}

void add_saturation(std::vector<ShaderHelper>& out) {
  out.push_back({"tn_is_nan64", R"(fn tn_is_nan64(x: f64) -> bool {
  return (bitcast<u64>(x) & 0x7ffffffffffffffful) > 0x7ff0000000000000ul;
}
)"});
  out.push_back({"tn_i32_of_f64", R"(fn tn_i32_of_f64(x: f64) -> i32 {
  if (tn_is_nan64(x)) { return 0; }
  if (x >= 2147483647.0lf) { return 2147483647; }
  if (x <= -2147483648.0lf) { return i32(0x80000000u); }
  return i32(x);
}
)"});
  out.push_back({"tn_u32_of_f64", R"(fn tn_u32_of_f64(x: f64) -> u32 {
  if (tn_is_nan64(x) || x <= 0.0lf) { return 0u; }
  if (x >= 4294967295.0lf) { return 0xffffffffu; }
  return u32(x);
}
)"});
  // {0} is the float, {1} its literals' suffix, {2} the suffix of what tells NaN.
  for (const auto& [type, suffix, nan] :
       {std::array{"f32", "f", ""}, std::array{"f64", "lf", "64"}}) {
    const std::initializer_list<std::string> words = {type, suffix, nan};
    out.push_back(
        {std::string("tn_i64_of_") + type, fill_pattern(R"(fn tn_i64_of_{0}(x: {0}) -> i64 {
  if (tn_is_nan{2}(x)) { return i64(0); }
  if (x >= 9223372036854775808.0{1}) { return i64(0x7ffffffffffffffful); }
  if (x <= -9223372036854775808.0{1}) { return i64(0x8000000000000000ul); }
  return i64(x);
}
)",
                                                        words)});
    out.push_back(
        {std::string("tn_u64_of_") + type, fill_pattern(R"(fn tn_u64_of_{0}(x: {0}) -> u64 {
  if (tn_is_nan{2}(x) || x <= 0.0{1}) { return u64(0); }
  if (x >= 18446744073709551616.0{1}) { return 0xfffffffffffffffful; }
  return u64(x);
}
)",
                                                        words)});
  }
}

void add_wide_order(std::vector<ShaderHelper>& out) {
  // By integers, as for f32.
  out.push_back({"tn_order64", R"(fn tn_order64(x: f64, nan: i64) -> i64 {
  if (tn_is_nan64(x)) { return nan; }
  let bits: i64 = i64(bitcast<u64>(x));
  return bits ^ ((bits >> 63u) & i64(0x7ffffffffffffffful));
}
)"});
  out.push_back({"tn_max_f64", R"(fn tn_max_f64(x: f64, y: f64) -> f64 {
  let nan: i64 = i64(0x7ffffffffffffffful);
  return tn_order64(x, nan) >= tn_order64(y, nan) ? x : y;
}
)"});
  out.push_back({"tn_min_f64", R"(fn tn_min_f64(x: f64, y: f64) -> f64 {
  let nan: i64 = i64(0x8000000000000000ul);
  return tn_order64(x, nan) <= tn_order64(y, nan) ? x : y;
}
)"});
}

}  // namespace

void add_wide_helpers(std::vector<ShaderHelper>& out) {
  add_integer_helpers(out, "64");
  add_rounding(out);
  add_saturation(out);
  add_wide_order(out);
  add_wide_math_helpers(out);
}

}  // namespace tenon::sdk
