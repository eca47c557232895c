// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How matrix units add c and products, one element of the result at a time, and the product of
// whole matrices from what the lanes hold. Sources: Xie, Wang, Yang, Yang: "MMA-Sim: Bit-Accurate
// Reference Model of Tensor Cores and Matrix Cores", arXiv 2511.10909, 2025; of WMMA the
// measurements of gfx1151 in github.com/ROCm/rocm-systems/issues/12056. Where these differ between
// generations the one that errs most is here.
#pragma once

#include <math.h>

#include <algorithm>
#include <array>

#include "tests/emulator/machine.hpp"

namespace emulator {

/// A chain of fused multiply-adds, in order.
struct Fused {
  template <class T>
  T operator()(T c, const T* a, const T* b, unsigned count) const {
    for (unsigned k = 0; k < count; ++k) c = fma(a[k], b[k], c);
    return c;
  }
};

/// Modulo 2^32.
struct Wrapped {
  int operator()(int c, const int* a, const int* b, unsigned count) const {
    auto sum = static_cast<unsigned>(c);
    for (unsigned k = 0; k < count; ++k) sum += static_cast<unsigned>(a[k] * b[k]);
    return static_cast<int>(sum);
  }
};

inline float flushed(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0.f, x) : x; }

inline float toward_zero(double x) {
  const auto f = static_cast<float>(x);
  return isfinite(f) && fabs(static_cast<double>(f)) > fabs(x) ? nextafterf(f, 0.f) : f;
}

/// c and up to 8 products as whole numbers of 2^-24 of the greatest of their binades.
struct Aligned {
  std::array<double, 9> units{};
  double unit = 0;
  double plain;  ///< their sum, which stands where it is not finite

  Aligned(float c, const float* a, const float* b, unsigned count) : plain(c) {
    int most = c == 0 ? -126 : ilogb(c);
    for (unsigned k = 0; k < count; ++k) {
      plain += double{a[k]} * b[k];
      if (a[k] != 0 && b[k] != 0) most = std::max(most, ilogb(a[k]) + ilogb(b[k]));
    }
    if (!isfinite(plain)) return;
    unit = ldexp(1., most - 24);
    units[0] = c / unit;
    for (unsigned k = 0; k < count; ++k) units[k + 1] = double{a[k]} * b[k] / unit;
  }
};

template <class Group>
float in_groups(float c, const float* a, const float* b, unsigned count, unsigned size,
                Group group) {
  for (unsigned k = 0; k < count; k += size) c = group(c, a + k, b + k, std::min(size, count - k));
  return c;
}

/// NVIDIA's: terms and sum are cut towards zero.
struct Cut {
  float operator()(float c, const float* a, const float* b, unsigned count) const {
    return in_groups(c, a, b, count, 8, [](float sum, const float* x, const float* y, unsigned n) {
      const Aligned terms(sum, x, y, n);
      if (terms.unit == 0) return static_cast<float>(terms.plain);
      double units = 0;
      for (const double term : terms.units) units += trunc(term);
      return toward_zero(units * terms.unit);
    });
  }
};

/// CDNA3's: terms are cut towards -Inf, the sum is rounded.
struct CutDown {
  float operator()(float c, const float* a, const float* b, unsigned count) const {
    return in_groups(c, a, b, count, 8, [](float sum, const float* x, const float* y, unsigned n) {
      const Aligned terms(sum, x, y, n);
      if (terms.unit == 0) return static_cast<float>(terms.plain);
      double units = 0;
      for (const double term : terms.units) units += floor(term);
      return static_cast<float>(units * terms.unit);
    });
  }
};

/// RDNA3's: pairs of products; terms against the sign of c lie a unit further from zero.
template <bool kFlushesOperands>
struct Complemented {
  float operator()(float c, const float* a, const float* b, unsigned count) const {
    return in_groups(c, a, b, count, 2, [](float sum, const float* x, const float* y, unsigned n) {
      float left[2] = {}, right[2] = {};
      for (unsigned k = 0; k < n; ++k) {
        left[k] = kFlushesOperands ? flushed(x[k]) : x[k];
        right[k] = kFlushesOperands ? flushed(y[k]) : y[k];
      }
      sum = flushed(sum);
      const Aligned terms(sum, left, right, n);
      if (terms.unit == 0) return static_cast<float>(terms.plain);
      double units = 0;
      for (const double term : terms.units) {
        const bool is_against = term != 0 && signbit(term) != signbit(sum);
        units += is_against ? trunc(term) + copysign(1., term) : trunc(term);
      }
      return flushed(static_cast<float>(units * terms.unit));
    });
  }
};

/// CDNA2's: four products by pairs, then c; all of it rounded, and flushed.
struct FlushedPairs {
  float operator()(float c, const float* a, const float* b, unsigned count) const {
    const auto group = [](float sum, const float* x, const float* y, unsigned n) {
      float products[4] = {};
      for (unsigned k = 0; k < n; ++k) products[k] = flushed(x[k] * y[k]);
      const float left = flushed(products[0] + products[1]);
      const float right = flushed(products[2] + products[3]);
      return flushed(flushed(sum) + flushed(left + right));
    };
    return in_groups(c, a, b, count, 4, group);
  }
};

struct At {
  unsigned row, column;
};
using Where = At (*)(unsigned lane, unsigned i);

/// Whole matrices from the lanes, then each lane's part of the product. Lanes that hold the same
/// element must agree.
template <unsigned M, unsigned N, unsigned K, unsigned A, unsigned B, unsigned C, class E, class S,
          class Sum>
void multiply(S* d, const E* a, const E* b, const S* c, Where in_a, Where in_b, Where in_c,
              Sum sum) {
  struct Parts {
    E a[A], b[B];
  } mine;
  memcpy(mine.a, a, sizeof mine.a);
  memcpy(mine.b, b, sizeof mine.b);
  E left[M][K], right[N][K];  // columns of b, one after the other
  bool has_left[M][K] = {}, has_right[N][K] = {};
  const auto put = [](E& at, bool& is_there, E value) {
    if (is_there && memcmp(&at, &value, sizeof value) != 0) fail("lanes hold unequal copies");
    at = value;
    is_there = true;
  };
  const auto all = gather(mine);
  for (unsigned l = 0; l < all.size(); ++l) {
    for (unsigned i = 0; i < A; ++i) {
      const At at = in_a(l, i);
      put(left[at.row][at.column], has_left[at.row][at.column], all[l].a[i]);
    }
    for (unsigned i = 0; i < B; ++i) {
      const At at = in_b(l, i);
      put(right[at.column][at.row], has_right[at.column][at.row], all[l].b[i]);
    }
  }
  for (unsigned i = 0; i < C; ++i) {
    const At at = in_c(lane(), i);
    d[i] = sum(c[i], left[at.row], right[at.column], K);
  }
}

// ---- Numbers of operands ----
template <unsigned N, class Bits, class E>
std::array<E, N> widened(const void* from, E (*decode)(Bits)) {
  std::array<E, N> out;
  for (unsigned i = 0; i < N; ++i) {
    Bits bits;
    memcpy(&bits, static_cast<const char*>(from) + i * sizeof(Bits), sizeof(Bits));
    out[i] = decode(bits);
  }
  return out;
}

inline int signed_byte(int8_t x) { return x; }
inline int unsigned_byte(uint8_t x) { return x; }
template <class T>
T same(T x) {
  return x;
}

inline float half(uint16_t x) {
  const uint32_t sign = static_cast<uint32_t>(x & 0x8000) << 16,
                 rest = static_cast<uint32_t>(x & 0x7fff) << 13;
  if (rest >= 0x0f800000) return __builtin_bit_cast(float, sign | rest | 0x7f800000);  // Inf, NaN
  return copysignf(__builtin_bit_cast(float, rest) * 0x1p112f, __builtin_bit_cast(float, sign));
}
inline float brain(uint16_t x) { return __builtin_bit_cast(float, uint32_t{x} << 16); }
inline float e4m3(uint8_t x) {
  const int exponent = x >> 3 & 15, mantissa = x & 7;
  if (exponent == 15 && mantissa == 7) return NAN;
  const double size = exponent ? ldexp(8 + mantissa, exponent - 10) : ldexp(mantissa, -9);
  return static_cast<float>(x & 0x80 ? -size : size);
}
inline float e5m2(uint8_t x) { return half(static_cast<uint16_t>(x << 8)); }

}  // namespace emulator
