// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Helpers of CUDA and HIP, for semantics of ops.def that C++ leaves open.
#include "sdk/render/gpu_prelude.hpp"

namespace tenon::sdk {
namespace {

constexpr GpuHelper kGpuHelpers[] = {
    {"tn_fma",
     "TN float tn_fma(float a, float b, float c) { return fmaf(a, b, c); }\n"
     "TN double tn_fma(double a, double b, double c) { return fma(a, b, c); }\n"},
    {"tn_bits_f32", "TN float tn_bits_f32(unsigned b) { return __uint_as_float(b); }\n"},
    {"tn_bits_f64",
     "TN double tn_bits_f64(unsigned long long b) { return __longlong_as_double((long long)b); "
     "}\n"},
    {"tn_bits_of_f32", "TN unsigned tn_bits_of_f32(float f) { return __float_as_uint(f); }\n"},
    {"tn_bits_of_f64",
     "TN unsigned long long tn_bits_of_f64(double f) {\n"
     "  return (unsigned long long)__double_as_longlong(f);\n}\n"},

    // Integers wrap, so compute them unsigned in at least 32 bits.
    {"tn_short", "TN short tn_short(int x) { return (short)x; }\n"},
    {"tn_add_i16", "TN short tn_add_i16(short a, short b) { return tn_short(a + b); }\n"},
    {"tn_sub_i16", "TN short tn_sub_i16(short a, short b) { return tn_short(a - b); }\n"},
    {"tn_mul_i16", "TN short tn_mul_i16(short a, short b) { return tn_short(a * b); }\n"},
    {"tn_neg_i16", "TN short tn_neg_i16(short a) { return tn_short(-(int)a); }\n"},
    {"tn_shl_i16",
     "TN short tn_shl_i16(short a, short b) {\n"
     "  return (unsigned long long)b < 16 ? tn_short((int)((unsigned)a << b)) : (short)0;\n}\n"},
    {"tn_add_{}", "TN {t} tn_add_{n}({t} a, {t} b) { return ({t})(({u})a + ({u})b); }\n"},
    {"tn_sub_{}", "TN {t} tn_sub_{n}({t} a, {t} b) { return ({t})(({u})a - ({u})b); }\n"},
    {"tn_mul_{}", "TN {t} tn_mul_{n}({t} a, {t} b) { return ({t})(({u})a * ({u})b); }\n"},
    {"tn_neg_{}", "TN {t} tn_neg_{n}({t} a) { return ({t})(({u})0 - ({u})a); }\n"},
    // NEG flips the sign bit, also of NaN. On bits, as a compiler may turn -x into 0 - x.
    {"tn_neg_{f}", "TN {t} tn_neg_{n}({t} x) { return ({t})(x ^ {sign}); }\n"},
    {"tn_neg_f32",
     "TN float tn_neg_f32(float x) { return tn_bits_f32(tn_bits_of_f32(x) ^ 0x80000000u); }\n"},
    {"tn_neg_f64",
     "TN double tn_neg_f64(double x) {\n"
     "  return tn_bits_f64(tn_bits_of_f64(x) ^ 0x8000000000000000ull);\n}\n"},
    {"tn_idiv_{}",
     "TN {t} tn_idiv_{n}({t} a, {t} b) {\n  if (b == 0) return 0;\n"
     "  if (({t})-1 < 0 && b == ({t})-1) return tn_neg_{n}(a);\n"
     "  return ({t})(a / b);\n}\n"},
    {"tn_mod_{}",
     "TN {t} tn_mod_{n}({t} a, {t} b) {\n  if (b == 0) return a;\n"
     "  return ({t})-1 < 0 && b == ({t})-1 ? ({t})0 : ({t})(a % b);\n}\n"},
    {"tn_shl_{}",
     "TN {t} tn_shl_{n}({t} a, {t} b) {\n"
     "  return (unsigned long long)b < {bits} ? ({t})(({u})a << ({u})b) : ({t})0;\n}\n"},
    {"tn_shr_{}",
     "TN {t} tn_shr_{n}({t} a, {t} b) {\n"
     "  return (unsigned long long)b < {bits} ? ({t})(a >> b) : ({t})(a < 0 ? -1 : 0);\n}\n"},

    // +0 is larger than -0, and NaN stays.
    {"tn_plain_max_{}",
     "TN {t} tn_plain_max_{n}({t} a, {t} b) {\n"
     "  const {t} larger = (a < b) | ((a == b) & (signbit(a) != 0)) ? b : a;\n"
     "  return (a != a) | (b != b) ? a + b : larger;\n}\n"},
    {"tn_max_f32", "TN float tn_max_f32(float a, float b) { return tn_plain_max_f32(a, b); }\n"},
    {"tn_max_f64", "TN double tn_max_f64(double a, double b) { return tn_plain_max_f64(a, b); }\n"},
    {"tn_min_f32", "TN float tn_min_f32(float a, float b) { return -tn_plain_max_f32(-a, -b); }\n"},
    {"tn_min_f64",
     "TN double tn_min_f64(double a, double b) { return -tn_plain_max_f64(-a, -b); }\n"},
    {"tn_max_{}", "TN {t} tn_max_{n}({t} a, {t} b) { return a < b ? b : a; }\n"},
    {"tn_min_{}", "TN {t} tn_min_{n}({t} a, {t} b) { return a < b ? a : b; }\n"},

    {"tn_sqrt_f32", "TN float tn_sqrt_f32(float x) { return sqrtf(x); }\n"},

    // Float to integer: truncates, saturates, NaN gives 0. The ends are exact in both floats.
    {"tn_saturate_{}",
     "template <class F> TN {t} tn_saturate_{n}(F x) {\n  if (x != x) return 0;\n"
     "  const F end = (F)2 * (F)(1ull << ({bits} - (({t})-1 < 0) - 1));\n"
     "  if (x >= end) return {most};\n"
     "  return x <= (F)({least}) ? ({t}){least} : ({t})x;\n}\n"},

    // To f32, rounded to odd, so that a later rounding to a narrower float is correct.
    {"tn_odd_f64",
     "TN float tn_odd_f64(double x) {\n  const float f = (float)x;\n"
     "  const unsigned b = tn_bits_of_f32(f);\n"
     "  if (x != x || (double)f == x || (b & 1)) return f;\n"
     "  return tn_bits_f32(fabs((double)f) < fabs(x) ? b + 1 : b - 1);\n}\n"},
    {"tn_odd_u64",
     "TN float tn_odd_u64(unsigned long long x) {\n"
     "  if (x >> 53) x = (x & ~0x7ffull) | (x & 0x7ff ? 0x800 : 0);\n"
     "  return tn_odd_f64((double)x);\n}\n"},
    {"tn_odd_i64",
     "TN float tn_odd_i64(long long x) {\n"
     "  return x < 0 ? -tn_odd_u64(-(unsigned long long)x) : tn_odd_u64((unsigned long long)x);\n"
     "}\n"},
    {"tn_odd_u32", "TN float tn_odd_u32(unsigned x) { return tn_odd_f64((double)x); }\n"},
    {"tn_odd_i32", "TN float tn_odd_i32(int x) { return tn_odd_f64((double)x); }\n"},
    // x*y+z of narrow floats in f64, rounded to odd. x*y is exact.
    {"tn_fma_odd",
     "TN double tn_fma_odd(double x, double y, double z) {\n"
     "  const double product = x * y, sum = product + z;\n  if (!isfinite(sum)) return sum;\n"
     "  const double part = sum - product;\n"
     "  const double error = (product - (sum - part)) + (z - part);\n"
     "  const unsigned long long bits = tn_bits_of_f64(sum);\n"
     "  if (error == 0 || (bits & 1)) return sum;\n"
     "  return tn_bits_f64((error > 0) == (sum > 0) ? bits + 1 : bits - 1);\n}\n"},

    {"tn_decode_bf16",
     "TN float tn_decode_bf16(unsigned short x) { return tn_bits_f32((unsigned)x << 16); }\n"},
    {"tn_plain_encode_bf16",
     "TN unsigned short tn_plain_encode_bf16(float x) {\n"
     "  const unsigned b = tn_bits_of_f32(x);\n"
     "  if (x != x) return (unsigned short)(b >> 16 | 0x40);\n"
     "  return (unsigned short)((b + 0x7fff + (b >> 16 & 1)) >> 16);\n}\n"},
    {"tn_encode_bf16",
     "TN unsigned short tn_encode_bf16(float x) { return tn_plain_encode_bf16(x); }\n"},
    {"tn_decode_f8e4m3",
     "TN float tn_decode_f8e4m3(unsigned char x) {\n"
     "  const unsigned code = x & 0x7fu, sign = (x & 0x80u) << 24;\n"
     "  if (code == 0x7f) return tn_bits_f32(0x7fc00000u);\n"
     "  return tn_bits_f32(sign | code << 20) * 0x1p120f;\n}\n"},
    {"tn_decode_f8e5m2",
     "TN float tn_decode_f8e5m2(unsigned char x) { return tn_decode_f16((unsigned short)(x << 8)); "
     "}\n"},
    // Decodes other narrow floats: scales by the difference of the biases, also subnormals.
    {"tn_decode_{f}",
     "TN float tn_decode_{n}({t} x) {\n"
     "  const unsigned code = x & ({sign} - 1), sign = (x & {sign}) << (32 - {bits});\n"
     "  if (code > {most}) return tn_bits_f32(sign | ({over} > {most} && code == {over} ? "
     "0x7f800000u : 0x7fc00000u));\n"
     "  return tn_bits_f32(sign | code << (23 - {m})) * tn_bits_f32((254u - {bias}) << 23);\n}\n"},
    // From mantissa bits, bias, largest finite code, overflow code, NaN; units below the normals
    // are counted by adding 2^23.
    {"tn_narrow",
     "TN unsigned char tn_narrow(float x, int m, int bias, unsigned most, unsigned over,\n"
     "                           unsigned nan) {\n"
     "  const unsigned b = tn_bits_of_f32(x), a = b & 0x7fffffffu, sign = b >> 24 & 0x80;\n"
     "  if (x != x) return (unsigned char)nan;\n"
     "  const float scale = tn_bits_f32((unsigned)(127 + bias - 1 + m) << 23);\n"
     "  const unsigned low = tn_bits_of_f32(tn_bits_f32(a) * scale + 0x1p23f) - 0x4b000000u;\n"
     "  const unsigned rounded = a + ((1u << (22 - m)) - 1) + (a >> (23 - m) & 1);\n"
     "  const unsigned high = (rounded >> (23 - m)) - ((unsigned)(127 - bias) << m);\n"
     "  const unsigned code = a < (unsigned)(128 - bias) << 23 ? low : high;\n"
     "  return (unsigned char)(sign | (code > most ? over : code));\n}\n"},
    {"tn_encode_{f}",
     "TN {t} tn_encode_{n}(float x) {\n  return tn_narrow(x, {m}, {bias}, {most}, {over}, "
     "{nan});\n}\n"},

    // Runs of elements moved as one access. The address is aligned to the size.
    {"tn_b16", "struct __attribute__((may_alias, aligned(16))) tn_b16 { unsigned w[4]; };\n"},
    {"tn_b8", "struct __attribute__((may_alias, aligned(8))) tn_b8 { unsigned w[2]; };\n"},
    {"tn_b4", "struct __attribute__((may_alias, aligned(4))) tn_b4 { unsigned w; };\n"},
    {"tn_b2", "struct __attribute__((may_alias, aligned(2))) tn_b2 { unsigned short w; };\n"},
    {"tn_move_16",
     "TN void tn_move_16(void* to, const void* from) { *(tn_b16*)to = *(const tn_b16*)from; }\n"},
    {"tn_move_8",
     "TN void tn_move_8(void* to, const void* from) { *(tn_b8*)to = *(const tn_b8*)from; }\n"},
    {"tn_move_4",
     "TN void tn_move_4(void* to, const void* from) { *(tn_b4*)to = *(const tn_b4*)from; }\n"},
    {"tn_move_2",
     "TN void tn_move_2(void* to, const void* from) { *(tn_b2*)to = *(const tn_b2*)from; }\n"},

    // Atomics return the old value. Those that the hardware lacks are compare-exchange loops.
    {"tn_atomic_add_{}", "TN {t} tn_atomic_add_{n}({t}* p, {t} v) { return atomicAdd(p, v); }\n"},
    {"tn_atomic_add_i64",
     "TN long long tn_atomic_add_i64(long long* p, long long v) {\n"
     "  return (long long)atomicAdd((unsigned long long*)p, (unsigned long long)v);\n}\n"},
    {"tn_atomic_exchange_{}",
     "TN {t} tn_atomic_exchange_{n}({t}* p, {t} v) { return atomicExch(p, v); }\n"},
    {"tn_atomic_exchange_i64",
     "TN long long tn_atomic_exchange_i64(long long* p, long long v) {\n"
     "  return (long long)atomicExch((unsigned long long*)p, (unsigned long long)v);\n}\n"},
    {"tn_atomic_exchange_f64",
     "TN double tn_atomic_exchange_f64(double* p, double v) {\n"
     "  return tn_bits_f64(atomicExch((unsigned long long*)p, tn_bits_of_f64(v)));\n}\n"},
    {"tn_atomic_compare_exchange_{}",
     "TN {t} tn_atomic_compare_exchange_{n}({t}* p, {t} v, {t} c) { return atomicCAS(p, c, v); "
     "}\n"},
    {"tn_atomic_compare_exchange_i64",
     "TN long long tn_atomic_compare_exchange_i64(long long* p, long long v, long long c) {\n"
     "  return (long long)atomicCAS((unsigned long long*)p, (unsigned long long)c,\n"
     "                              (unsigned long long)v);\n}\n"},
    {"tn_atomic_compare_exchange_f32",
     "TN float tn_atomic_compare_exchange_f32(float* p, float v, float c) {\n"
     "  return tn_bits_f32(atomicCAS((unsigned*)p, tn_bits_of_f32(c), tn_bits_of_f32(v)));\n}\n"},
    {"tn_atomic_compare_exchange_f64",
     "TN double tn_atomic_compare_exchange_f64(double* p, double v, double c) {\n"
     "  return tn_bits_f64(atomicCAS((unsigned long long*)p, tn_bits_of_f64(c),\n"
     "                               tn_bits_of_f64(v)));\n}\n"},
    {"tn_atomic_max_i32", "TN int tn_atomic_max_i32(int* p, int v) { return atomicMax(p, v); }\n"},
    {"tn_atomic_max_u32",
     "TN unsigned tn_atomic_max_u32(unsigned* p, unsigned v) { return atomicMax(p, v); }\n"},
    {"tn_atomic_min_i32", "TN int tn_atomic_min_i32(int* p, int v) { return atomicMin(p, v); }\n"},
    {"tn_atomic_min_u32",
     "TN unsigned tn_atomic_min_u32(unsigned* p, unsigned v) { return atomicMin(p, v); }\n"},
    {"tn_atomic_max_{}",
     "TN {t} tn_atomic_max_{n}({t}* p, {t} v) {\n  {t} old = *p;\n"
     "  for (;;) {\n    const {t} seen = tn_atomic_compare_exchange_{n}(p, tn_max_{n}(old, v), "
     "old);\n"
     "    if (tn_same_{n}(seen, old)) return seen;\n    old = seen;\n  }\n}\n"},
    {"tn_atomic_min_{}",
     "TN {t} tn_atomic_min_{n}({t}* p, {t} v) {\n  {t} old = *p;\n"
     "  for (;;) {\n    const {t} seen = tn_atomic_compare_exchange_{n}(p, tn_min_{n}(old, v), "
     "old);\n"
     "    if (tn_same_{n}(seen, old)) return seen;\n    old = seen;\n  }\n}\n"},
    {"tn_same_f32",
     "TN bool tn_same_f32(float a, float b) { return tn_bits_of_f32(a) == tn_bits_of_f32(b); }\n"},
    {"tn_same_f64",
     "TN bool tn_same_f64(double a, double b) { return tn_bits_of_f64(a) == tn_bits_of_f64(b); "
     "}\n"},
    {"tn_same_{}", "TN bool tn_same_{n}({t} a, {t} b) { return a == b; }\n"},
};

}  // namespace

std::span<const GpuHelper> common_gpu_helpers() { return kGpuHelpers; }

}  // namespace tenon::sdk
