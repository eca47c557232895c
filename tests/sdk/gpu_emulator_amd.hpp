// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The builtins of AMD's matrix units, from the formulas that the AMD Matrix Instruction Calculator
// prints: for each element of a matrix the lane and the place in it, which are turned round here.
#pragma once

#include "gpu_emulator_sums.hpp"

namespace emulator {

/// A lane, and one of the elements that follow each other in its registers.
struct Held {
  unsigned lane, item;
};

/// The formula of a matrix of rows x columns, turned round: the element of an item of a lane.
template <unsigned Rows, unsigned Columns, unsigned Lanes>
class Places {
 public:
  template <class Formula>
  explicit Places(Formula formula) {
    for (unsigned row = 0; row < Rows; ++row) {
      for (unsigned column = 0; column < Columns; ++column) {
        const Held held = formula(row, column);
        at_[held.lane][held.item] = {row, column};
      }
    }
  }
  At operator()(unsigned lane, unsigned item) const { return at_[lane][item]; }

 private:
  At at_[Lanes][Rows * Columns / Lanes];
};

// ---- MFMA: wavefronts of 64 ----
/// A[i][k].block Lane: edge * floor(k / neighbours) + i; they follow each other in the registers.
template <unsigned Edge, unsigned K>
At mfma_a(unsigned lane, unsigned item) {
  constexpr unsigned kNeighbours = Edge * K / 64;
  static const Places<Edge, K, 64> places([](unsigned i, unsigned k) {
    return Held{Edge * (k / kNeighbours) + i, k % kNeighbours};
  });
  return places(lane, item);
}
/// B[k][j] as A[j][k].
template <unsigned Edge, unsigned K>
At mfma_b(unsigned lane, unsigned item) {
  const At turned = mfma_a<Edge, K>(lane, item);
  return {turned.column, turned.row};
}
/// 16: C or D[i][j] GPR: i % 4, Lane: 16 * floor(i / 4) + j.
/// 32: C or D[i][j] GPR: 4 * floor(i / 8) + i % 4, Lane: 32 * (floor(i / 4) % 2) + j.
template <unsigned Edge>
At mfma_c(unsigned lane, unsigned item) {
  static const Places<Edge, Edge, 64> places([](unsigned i, unsigned j) {
    return Edge == 16 ? Held{16 * (i / 4) + j, i % 4}
                      : Held{32 * (i / 4 % 2) + j, 4 * (i / 8) + i % 4};
  });
  return places(lane, item);
}
/// C or D[i][j] GPR: [2 * floor(i / 4) + 1 : 2 * floor(i / 4)], Lane: 16 * (i % 4) + j.
inline At mfma_c_doubles(unsigned lane, unsigned item) {
  static const Places<16, 16, 64> places([](unsigned i, unsigned j) {
    return Held{16 * (i % 4) + j, i / 4};
  });
  return places(lane, item);
}

template <unsigned Edge, unsigned K, class Bits, class E, class In, class Sums, class Sum>
Sums mfma(In a, In b, Sums c, E (*decode)(Bits), Sum sum, Where in_c = mfma_c<Edge>) {
  constexpr unsigned kItems = Edge * K / 64, kSums = Edge * Edge / 64;
  static_assert(sizeof(In) == kItems * sizeof(Bits));
  using S = std::decay_t<decltype(c[0])>;
  static_assert(sizeof(Sums) == kSums * sizeof(S));
  S in[kSums], out[kSums];
  memcpy(in, &c, sizeof in);
  multiply<Edge, Edge, K, kItems, kItems, kSums>(out, widened<kItems>(&a, decode).data(),
                                                 widened<kItems>(&b, decode).data(), in,
                                                 mfma_a<Edge, K>, mfma_b<Edge, K>, in_c, sum);
  memcpy(&c, out, sizeof out);
  return c;
}

#ifdef EMULATE_gfx942
using MfmaSum = CutDown;
#else
using MfmaSum = FlushedPairs;
#endif
inline double same_double(double x) { return x; }

#ifdef EMULATE_gfx942
inline float mfma_half(uint16_t x) { return half(x); }
inline float mfma_brain(uint16_t x) { return brain(x); }
#else  // subnormals read as zero
inline float mfma_half(uint16_t x) { return x & 0x7c00 ? half(x) : half(x & 0x8000); }
inline float mfma_brain(uint16_t x) { return flushed(brain(x)); }
#endif

// ---- WMMA: subgroups of 32, whose halves hold the same of the operands ----
/// A[i][k] Lane: i and i + 16; they follow each other in the registers.
inline At wmma_a(unsigned lane, unsigned item) {
  static const Places<16, 16, 16> places([](unsigned i, unsigned k) { return Held{i, k}; });
  return places(lane % 16, item);
}
inline At wmma_b(unsigned lane, unsigned item) {
  const At turned = wmma_a(lane, item);
  return {turned.column, turned.row};
}
/// C or D[i][j] GPR: floor(i / 2), Lane: 16 * i % 32 + j.
inline At wmma_c(unsigned lane, unsigned item) {
  static const Places<16, 16, 32> places([](unsigned i, unsigned j) {
    return Held{16 * i % 32 + j, i / 2};
  });
  return places(lane, item);
}

template <class A, class B, class E, class S, class Sums, class Sum>
Sums wmma(const void* a, E (*decode_a)(A), const void* b, E (*decode_b)(B), S, Sums c, Sum sum) {
  S in[8], out[8];
  memcpy(in, &c, sizeof in);
  multiply<16, 16, 16, 16, 16, 8>(out, widened<16>(a, decode_a).data(),
                                  widened<16>(b, decode_b).data(), in, wmma_a, wmma_b, wmma_c, sum);
  memcpy(&c, out, sizeof out);
  return c;
}

/// Off by up to two units, and no subnormals: as rough as both vendors' instructions may be.
inline float fast_exp(float x) {
  const float y = exp2f(x * 0x1.715476p0f);
  if (!(y >= 0x1p-126f) || isinf(y)) return y != y ? y : isinf(y) ? y : 0;
  unsigned bits;
  memcpy(&bits, &y, sizeof bits);
  bits += bits % 5 - (bits >= 0x00800002u ? 2 : 0);
  float rough;
  memcpy(&rough, &bits, sizeof bits);
  return rough;
}

}  // namespace emulator

inline float __ocml_native_exp_f32(float x) { return emulator::fast_exp(x); }
#define EMULATE_MFMA(NAME, EDGE, K, DECODE, SUM)                                \
  template <class In, class Sums>                                               \
  Sums __builtin_amdgcn_mfma_##NAME(In a, In b, Sums c, int, int, int) {        \
    return emulator::mfma<EDGE, K>(a, b, c, emulator::DECODE, emulator::SUM()); \
  }
EMULATE_MFMA(f32_16x16x16f16, 16, 16, mfma_half, MfmaSum)
EMULATE_MFMA(f32_32x32x8f16, 32, 8, mfma_half, MfmaSum)
EMULATE_MFMA(f32_16x16x16bf16_1k, 16, 16, mfma_brain, MfmaSum)
EMULATE_MFMA(f32_32x32x8bf16_1k, 32, 8, mfma_brain, MfmaSum)
EMULATE_MFMA(f32_16x16x4f32, 16, 4, same, Fused)
EMULATE_MFMA(f32_32x32x2f32, 32, 2, same, Fused)
EMULATE_MFMA(i32_16x16x16i8, 16, 16, signed_byte, Wrapped)
EMULATE_MFMA(i32_32x32x8i8, 32, 8, signed_byte, Wrapped)
EMULATE_MFMA(i32_16x16x32_i8, 16, 32, signed_byte, Wrapped)
EMULATE_MFMA(i32_32x32x16_i8, 32, 16, signed_byte, Wrapped)
#undef EMULATE_MFMA
template <class Sums>
Sums __builtin_amdgcn_mfma_f64_16x16x4f64(double a, double b, Sums c, int, int, int) {
  return emulator::mfma<16, 4>(a, b, c, emulator::same_double, emulator::Fused(),
                               emulator::mfma_c_doubles);
}

template <class Half, class Sums>
Sums __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(Half a, Half b, Sums c) {
  return emulator::wmma(&a, emulator::half, &b, emulator::half, 0.f, c,
                        emulator::Complemented<false>());
}
template <class Half, class Sums>
Sums __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(Half a, Half b, Sums c) {
  return emulator::wmma(&a, emulator::brain, &b, emulator::brain, 0.f, c,
                        emulator::Complemented<true>());
}
template <class Bytes, class Sums>
Sums __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(bool is_a_signed, Bytes a, bool is_b_signed,
                                                Bytes b, Sums c, bool) {
  using namespace emulator;
  const Wrapped sum;
  if (is_a_signed && is_b_signed) return wmma(&a, signed_byte, &b, signed_byte, 0, c, sum);
  if (is_a_signed) return wmma(&a, signed_byte, &b, unsigned_byte, 0, c, sum);
  if (is_b_signed) return wmma(&a, unsigned_byte, &b, signed_byte, 0, c, sum);
  return wmma(&a, unsigned_byte, &b, unsigned_byte, 0, c, sum);
}
