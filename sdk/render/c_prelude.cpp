// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Helper functions of the C dialect, for semantics of ops.def that C leaves open.
#include <fmt/format.h>

#include <string>

#include "sdk/program/dtype_info.hpp"
#include "sdk/render/c_dialect.hpp"

namespace tenon::sdk {

namespace {

bool is_whole(const DTypeInfo& d) { return is_integer(d); }
bool is_narrow(const DTypeInfo& d) { return is_float(d) && d.bytes < 4; }

std::string negation(const DTypeInfo& d) {
  return fmt::format("TN_NEG({}, {}, {:#x})\n", d.text, d.c, d.format.sign);
}

std::string wrapping(const DTypeInfo& d) {
  return fmt::format("TN_INTEGER({}, {}, uint{}_t, {})\n", d.text, d.c, d.bytes == 8 ? 64 : 32,
                     8 * d.bytes);
}

std::string saturation(const DTypeInfo& d) {
  const bool is_signed = d.kind == DTypeClass::SIGNED;
  const int digits = 8 * d.bytes - is_signed;
  return fmt::format("TN_SATURATE({}, {}, 0x1p{}, UINT64_C({:#x}))\n", d.text, d.c, digits,
                     UINT64_MAX >> (64 - digits));
}

std::string conversion(const DTypeInfo& d) {
  const NarrowFormat& f = d.format;
  return fmt::format("TN_NARROW({}, {}, {:#x}, {}, {}, {:#x}, {:#x}, {:#x}, {:d})\n", d.text, d.c,
                     f.sign, f.mantissa_bits, f.bias, f.max_finite, f.overflow, f.quiet_nan,
                     f.has_infinity);
}

/// One line for each dtype that `is_of` accepts.
std::string rows(bool (*is_of)(const DTypeInfo&), std::string (*row)(const DTypeInfo&)) {
  std::string out;
  for (const DTypeInfo& dtype : all_dtypes()) {
    if (is_of(dtype)) out += row(dtype);
  }
  return out;
}

std::string make_helpers() {
  return R"(#define TN_MAX(name, type) \
  static inline type tn_max_##name(type a, type b) { \
    if (a != a || b != b) return a != a ? a : b; \
    if (a == b) return signbit(a) ? b : a; \
    return a < b ? b : a; \
  } \
  static inline type tn_min_##name(type a, type b) { return -tn_max_##name(-a, -b); }
TN_MAX(f32, float)
TN_MAX(f64, double)

/* The sign of a float is a bit, of NaN too. */
static inline float tn_neg_f32(float x) { return tn_bits_f32(tn_bits_of_f32(x) ^ 0x80000000u); }
static inline double tn_neg_f64(double x) {
  return tn_bits_f64(tn_bits_of_f64(x) ^ UINT64_C(0x8000000000000000));
}
#define TN_NEG(name, type, sign) \
  static inline type tn_neg_##name(type x) { return (type)(x ^ (sign)); }
)" + rows(is_narrow, negation) +
         R"(
/* Integers wrap: computed unsigned, at least in 32 bits. */
#define TN_INTEGER(name, type, wide, bits) \
  static inline type tn_add_##name(type a, type b) { return (type)((wide)a + (wide)b); } \
  static inline type tn_sub_##name(type a, type b) { return (type)((wide)a - (wide)b); } \
  static inline type tn_mul_##name(type a, type b) { return (type)((wide)a * (wide)b); } \
  static inline type tn_neg_##name(type a) { return (type)((wide)0 - (wide)a); } \
  static inline type tn_max_##name(type a, type b) { return a < b ? b : a; } \
  static inline type tn_min_##name(type a, type b) { return a < b ? a : b; } \
  static inline type tn_idiv_##name(type a, type b) { \
    if (b == 0) return 0; \
    if ((type)-1 < 0 && b == (type)-1) return tn_neg_##name(a); \
    return (type)(a / b); \
  } \
  static inline type tn_mod_##name(type a, type b) { \
    return tn_sub_##name(a, tn_mul_##name(tn_idiv_##name(a, b), b)); \
  } \
  static inline type tn_shl_##name(type a, type b) { \
    return (uint64_t)b < bits ? (type)((wide)a << (wide)b) : 0; \
  } \
  static inline type tn_shr_##name(type a, type b) { \
    if ((uint64_t)b < bits) return (type)(a >> b); \
    return (type)(a < 0 ? -1 : 0); \
  }
)" + rows(is_whole, wrapping) +
         R"(
/* Float to integer: truncates, saturates, NaN gives 0. */
#define TN_SATURATE(name, type, end, most) \
  static inline type tn_saturate_##name(double x) { \
    if (x != x) return 0; \
    if (x >= end) return (type)(most); \
    if ((type)-1 > 0) return x <= 0 ? 0 : (type)x; \
    return x <= -end ? (type)~(type)(most) : (type)x; \
  }
)" + rows(is_whole, saturation) +
         R"(
/* 64-bit integers to a double whose last bit is sticky, so that rounding it again rounds once. */
static inline double tn_odd_u64(uint64_t x) {
  if (x >> 53) x = (x & ~UINT64_C(0x7ff)) | (x & 0x7ff ? 0x800 : 0);
  return (double)x;
}
static inline double tn_odd_i64(int64_t x) {
  return x < 0 ? -tn_odd_u64(-(uint64_t)x) : tn_odd_u64((uint64_t)x);
}
/* x*y+z of narrow floats, rounded to odd in the same way; x*y is exact. */
static inline double tn_fma_odd(double x, double y, double z) {
  const double product = x * y, sum = product + z;
  if (!isfinite(sum)) return sum;
  const double part = sum - product;
  const double error = (product - (sum - part)) + (z - part);
  const uint64_t bits = tn_bits_of_f64(sum);
  if (error == 0 || (bits & 1)) return sum;
  return tn_bits_f64((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

/* Narrow floats by mantissa bits m, bias, largest finite code, overflow code, quiet NaN. */
static inline double tn_decode(uint32_t x, uint32_t sign, int m, int bias, uint32_t most,
                               uint32_t infinity) {
  const uint32_t code = x & (sign - 1), field = code >> m;
  const uint64_t fraction = ((uint64_t)code << (52 - m)) & ((UINT64_C(1) << 52) - 1);
  const uint64_t s = x & sign ? UINT64_C(1) << 63 : 0;
  if (code > most) return tn_bits_f64(s | (UINT64_C(0x7ff) << 52) |
                                      (code == infinity ? 0 : (UINT64_C(1) << 51) | fraction));
  if (field == 0) return (s ? -1.0 : 1.0) * ldexp((double)code, 1 - bias - m);
  return tn_bits_f64(s | ((uint64_t)(field + 1023 - bias) << 52) | fraction);
}
static inline uint32_t tn_encode(double x, uint32_t sign, int m, int bias, uint32_t most,
                                 uint32_t over, uint32_t nan, int keeps) {
  const uint64_t bits = tn_bits_of_f64(x);
  const uint32_t s = bits >> 63 ? sign : 0;
  if (x != x) {
    const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    return keeps ? s | nan | (uint32_t)(fraction >> (52 - m)) : nan;
  }
  const int exponent = (int)(bits >> 52 & 0x7ff) - 1023, least = 1 - bias;
  if (exponent > bias + 1) return s | over;
  const int top = exponent > least ? exponent : least;
  const double units = nearbyint(ldexp(fabs(x), m - top));
  const uint32_t code = ((uint32_t)(top - least) << m) + (uint32_t)units;
  return s | (code > most ? over : code);
}
#define TN_NARROW(name, type, sign, m, bias, most, over, nan, keeps) \
  static inline double tn_decode_##name(type x) { \
    return tn_decode(x, sign, m, bias, most, keeps ? over : 0xffff); \
  } \
  static inline type tn_encode_##name(double x) { \
    return (type)tn_encode(x, sign, m, bias, most, over, nan, keeps); \
  }
)" + rows(is_narrow, conversion) +
         "\n";
}

}  // namespace

std::string_view c_helpers() {
  static const auto& text = *new std::string(make_helpers());
  return text;
}

}  // namespace tenon::sdk
