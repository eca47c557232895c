// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What printed CUDA and HIP sources need so that the C++ compiler of the host compiles them: words
// of the languages, builtins, and what stands in for helpers with an asm statement. Included by the
// sources that gpu_kernels.cpp writes, and by nothing else. It includes nothing of the C or C++
// library: each kernel of a campaign is a compilation, and such headers take ten times as long.
#pragma once

#include "calls.hpp"

#define EMULATOR_UNSEEN __attribute__((no_sanitize("thread")))

namespace emulator {

// ---- Calls with what a launch binds: a pointer for each buffer, one to each scalar ----
template <class T>
struct Argument {
  static T of(void* bound) { return *static_cast<T*>(bound); }
};
template <class T>
struct Argument<T*> {
  static T* of(void* bound) { return static_cast<T*>(bound); }
};
template <unsigned... I>
struct Numbers {};
template <class... T, unsigned... I>
void call(void (*kernel)(T...), void* const* bound, Numbers<I...>) {
  kernel(Argument<T>::of(bound[I])...);
}
template <class... T>
void call(void (*kernel)(T...), void* const* bound) {
  call(kernel, bound, Numbers<__integer_pack(sizeof...(T))...>());
}

}  // namespace emulator

#define __device__
#define __global__ static
#define __forceinline__ inline __attribute__((unused))
#define __launch_bounds__(threads)
// A workgroup's threads are fibres of one thread: also legal after extern, as dynamic memory is.
#define __shared__ thread_local

inline void __builtin_amdgcn_fence(int, const char*) {}
inline void __builtin_amdgcn_wave_barrier() { __syncwarp(); }

// Overloads are those of CUDA: narrower integers become int.
#define EMULATE_SHUFFLE(type)                                                                  \
  inline type __shfl_xor(type v, unsigned bits) { return __shfl(v, emulator::lane() ^ bits); } \
  inline type __shfl_sync(unsigned, type v, unsigned l) { return __shfl(v, l); }               \
  inline type __shfl_xor_sync(unsigned, type v, unsigned bits) { return __shfl_xor(v, bits); }
EMULATE_SHUFFLE(int)
EMULATE_SHUFFLE(unsigned)
EMULATE_SHUFFLE(long long)
EMULATE_SHUFFLE(unsigned long long)
EMULATE_SHUFFLE(float)
EMULATE_SHUFFLE(double)
#undef EMULATE_SHUFFLE

inline float __uint_as_float(unsigned b) { return __builtin_bit_cast(float, b); }
inline unsigned __float_as_uint(float f) { return __builtin_bit_cast(unsigned, f); }
inline double __longlong_as_double(long long b) { return __builtin_bit_cast(double, b); }
inline long long __double_as_longlong(double f) { return __builtin_bit_cast(long long, f); }

struct uint2 {
  unsigned x, y;
};
struct uint4 {
  unsigned x, y, z, w;
};
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
template <class T>
T __ldcs(const T* p) {
  emulator::expect_aligned(p, sizeof(T));
  return *p;
}
template <class T>
void __stcs(T* p, T value) {
  emulator::expect_aligned(p, sizeof(T));
  *p = value;
}
template <class T>
T __builtin_nontemporal_load(const T* p) {
  return __ldcs(p);
}
template <class T, class P>
void __builtin_nontemporal_store(T value, P* p) {
  __stcs<P>(p, value);
}

// One thread runs at a time.
#define EMULATE_ATOMIC(NAME, NEW)              \
  template <class T>                           \
  EMULATOR_UNSEEN T NAME(T* p, T v) {          \
    emulator::touch(p, sizeof(T), true, true); \
    const T old = *p;                          \
    *p = NEW;                                  \
    return old;                                \
  }
EMULATE_ATOMIC(atomicAdd, old + v)
EMULATE_ATOMIC(atomicMax, old < v ? v : old)
EMULATE_ATOMIC(atomicMin, old < v ? old : v)
EMULATE_ATOMIC(atomicExch, v)
#undef EMULATE_ATOMIC
template <class T>
EMULATOR_UNSEEN T atomicCAS(T* p, T compare, T v) {
  emulator::touch(p, sizeof(T), true, true);
  const T old = *p;
  if (old == compare) *p = v;
  return old;
}

// ---- Arithmetic ----
#define EMULATE_MATH(NAME) \
  double NAME(double);     \
  float NAME##f(float);
extern "C" {
EMULATE_MATH(sqrt)
EMULATE_MATH(exp)
EMULATE_MATH(exp2)
EMULATE_MATH(log)
EMULATE_MATH(log2)
EMULATE_MATH(sin)
EMULATE_MATH(cos)
EMULATE_MATH(trunc)
EMULATE_MATH(floor)
EMULATE_MATH(fabs)
double fma(double, double, double);
float fmaf(float, float, float);
}
#undef EMULATE_MATH
#define NAN __builtin_nanf("")
#define isnan(x) __builtin_isnan(x)
#define isfinite(x) __builtin_isfinite(x)
#define signbit(x) __builtin_signbit(x)

#ifdef EMULATE_ROUGH_SQRT  // AMD's is off by one unit at times
inline float emulate_sqrt(float x) {
  const float root = sqrtf(x);
  const unsigned bits = __float_as_uint(root);
  return x > 0 && isfinite(x) ? __uint_as_float(bits + bits % 3 - 1) : root;
}
#define sqrtf emulate_sqrt
#endif
inline float tn_max_f32(float a, float b) {
  if (isnan(a) || isnan(b)) return NAN;
  if (a == 0 && b == 0) return signbit(a) && signbit(b) ? -0.f : 0.f;
  return a > b ? a : b;
}
inline float tn_min_f32(float a, float b) {
  if (isnan(a) || isnan(b)) return NAN;
  if (a == 0 && b == 0) return signbit(a) || signbit(b) ? -0.f : 0.f;
  return a < b ? a : b;
}
/// Off by up to two units, and without subnormals: as rough as both vendors' instructions may be.
inline float tn_fast_exp(float x) {
  const float y = exp2f(x * 0x1.715476p0f);
  const unsigned bits = __float_as_uint(y);
  if (y < 0x1p-126f) return 0;
  return isfinite(y) ? __uint_as_float(bits + bits % 5 - 2) : y;
}
inline float __ocml_native_exp_f32(float x) { return tn_fast_exp(x); }
inline short tn_short(int x) { return static_cast<short>(x); }
inline float tn_neg_f32(float x) { return __uint_as_float(__float_as_uint(x) ^ 0x80000000u); }
inline double tn_neg_f64(double x) {
  return __longlong_as_double(__double_as_longlong(x) ^ (long long)0x8000000000000000ull);
}
inline float tn_decode_f16(unsigned short x) { return __builtin_bit_cast(_Float16, x); }
inline unsigned short tn_encode_f16(float f) {
  return __builtin_bit_cast(unsigned short, static_cast<_Float16>(f));
}
inline unsigned short tn_encode_bf16(float f) {
  const unsigned bits = __float_as_uint(f);
  if (f != f) return 0x7fff;
  const unsigned low = bits & 0xffff, high = bits >> 16;
  const bool is_up = low > 0x8000 || (low == 0x8000 && (high & 1));
  return static_cast<unsigned short>(high + is_up);
}

// ---- AMD's matrix units ----
#define EMULATE_MATRIX(NAME, IN, SUMS)                                             \
  template <class In, class Sums>                                                  \
  Sums __builtin_amdgcn_##NAME(In a, In b, Sums sums, int = 0, int = 0, int = 0) { \
    static_assert(sizeof(In) == IN && sizeof(Sums) == SUMS);                       \
    emulate_##NAME(&a, &b, &sums);                                                 \
    return sums;                                                                   \
  }
EMULATE_MATRIX(mfma_f32_16x16x16f16, 8, 16)
EMULATE_MATRIX(mfma_f32_32x32x8f16, 8, 64)
EMULATE_MATRIX(mfma_f32_16x16x16bf16_1k, 8, 16)
EMULATE_MATRIX(mfma_f32_32x32x8bf16_1k, 8, 64)
EMULATE_MATRIX(mfma_f32_16x16x4f32, 4, 16)
EMULATE_MATRIX(mfma_f32_32x32x2f32, 4, 64)
EMULATE_MATRIX(mfma_i32_16x16x16i8, 4, 16)
EMULATE_MATRIX(mfma_i32_32x32x8i8, 4, 64)
EMULATE_MATRIX(mfma_i32_16x16x32_i8, 8, 16)
EMULATE_MATRIX(mfma_i32_32x32x16_i8, 8, 64)
EMULATE_MATRIX(mfma_f64_16x16x4f64, 8, 32)
EMULATE_MATRIX(wmma_f32_16x16x16_f16_w32, 32, 32)
EMULATE_MATRIX(wmma_f32_16x16x16_bf16_w32, 32, 32)
#undef EMULATE_MATRIX
template <class Bytes, class Sums>
Sums __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(bool is_a_signed, Bytes a, bool is_b_signed,
                                                Bytes b, Sums sums, bool) {
  static_assert(sizeof(Bytes) == 16 && sizeof(Sums) == 32);
  emulate_wmma_iu8(is_a_signed, &a, is_b_signed, &b, &sums);
  return sums;
}
