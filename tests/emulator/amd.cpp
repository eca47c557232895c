// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The builtins of AMD's matrix units, from the formulas that the AMD Matrix Instruction Calculator
// prints: for each element of a matrix the lane and the place in it, which are turned round here.

#include "tests/emulator/sums.hpp"

namespace emulator {
namespace {

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
At mfma_c_doubles(unsigned lane, unsigned item) {
  static const Places<16, 16, 64> places([](unsigned i, unsigned j) {
    return Held{16 * (i % 4) + j, i / 4};
  });
  return places(lane, item);
}

template <unsigned Edge, unsigned K, class Bits, class E, class S, class Sum>
void mfma(const void* a, const void* b, S* sums, E (*decode)(Bits), Sum sum,
          Where in_c = mfma_c<Edge>) {
  constexpr unsigned kItems = Edge * K / 64, kSums = Edge * Edge / 64;
  S in[kSums];
  memcpy(in, sums, sizeof in);
  multiply<Edge, Edge, K, kItems, kItems, kSums>(sums, widened<kItems>(a, decode).data(),
                                                 widened<kItems>(b, decode).data(), in,
                                                 mfma_a<Edge, K>, mfma_b<Edge, K>, in_c, sum);
}

struct MfmaSum {
  float operator()(float c, const float* a, const float* b, unsigned count) const {
    return is_gfx942 ? CutDown()(c, a, b, count) : FlushedPairs()(c, a, b, count);
  }
};
// Subnormals are read as zero but by gfx942.
float mfma_half(uint16_t x) { return is_gfx942 || x & 0x7c00 ? half(x) : half(x & 0x8000); }
float mfma_brain(uint16_t x) { return is_gfx942 ? brain(x) : flushed(brain(x)); }

// ---- WMMA: subgroups of 32, whose halves hold the same of the operands ----
/// A[i][k] Lane: i and i + 16; they follow each other in the registers.
At wmma_a(unsigned lane, unsigned item) {
  static const Places<16, 16, 16> places([](unsigned i, unsigned k) { return Held{i, k}; });
  return places(lane % 16, item);
}
At wmma_b(unsigned lane, unsigned item) {
  const At turned = wmma_a(lane, item);
  return {turned.column, turned.row};
}
/// C or D[i][j] GPR: floor(i / 2), Lane: 16 * i % 32 + j.
At wmma_c(unsigned lane, unsigned item) {
  static const Places<16, 16, 32> places([](unsigned i, unsigned j) {
    return Held{16 * i % 32 + j, i / 2};
  });
  return places(lane, item);
}

template <class A, class B, class E, class S, class Sum>
void wmma(const void* a, E (*decode_a)(A), const void* b, E (*decode_b)(B), S* sums, Sum sum) {
  S in[8];
  memcpy(in, sums, sizeof in);
  multiply<16, 16, 16, 16, 16, 8>(sums, widened<16>(a, decode_a).data(),
                                  widened<16>(b, decode_b).data(), in, wmma_a, wmma_b, wmma_c, sum);
}

}  // namespace
}  // namespace emulator

#define EMULATE_MFMA(NAME, EDGE, K, DECODE, S, SUM, ...)                                \
  void emulate_mfma_##NAME(const void* a, const void* b, void* sums) {                  \
    using namespace emulator;                                                           \
    mfma<EDGE, K>(a, b, static_cast<S*>(sums), DECODE, SUM __VA_OPT__(, ) __VA_ARGS__); \
  }
EMULATE_MFMA(i32_16x16x16i8, 16, 16, signed_byte, int, Wrapped())
EMULATE_MFMA(i32_32x32x8i8, 32, 8, signed_byte, int, Wrapped())
EMULATE_MFMA(i32_16x16x32_i8, 16, 32, signed_byte, int, Wrapped())
EMULATE_MFMA(i32_32x32x16_i8, 32, 16, signed_byte, int, Wrapped())
EMULATE_MFMA(f32_16x16x4f32, 16, 4, same<float>, float, Fused())
EMULATE_MFMA(f32_32x32x2f32, 32, 2, same<float>, float, Fused())
EMULATE_MFMA(f64_16x16x4f64, 16, 4, same<double>, double, Fused(), mfma_c_doubles)
EMULATE_MFMA(f32_16x16x16f16, 16, 16, mfma_half, float, MfmaSum())
EMULATE_MFMA(f32_32x32x8f16, 32, 8, mfma_half, float, MfmaSum())
EMULATE_MFMA(f32_16x16x16bf16_1k, 16, 16, mfma_brain, float, MfmaSum())
EMULATE_MFMA(f32_32x32x8bf16_1k, 32, 8, mfma_brain, float, MfmaSum())

void emulate_wmma_f32_16x16x16_f16_w32(const void* a, const void* b, void* sums) {
  using namespace emulator;
  wmma(a, half, b, half, static_cast<float*>(sums), Complemented<false>());
}
void emulate_wmma_f32_16x16x16_bf16_w32(const void* a, const void* b, void* sums) {
  using namespace emulator;
  wmma(a, brain, b, brain, static_cast<float*>(sums), Complemented<true>());
}
void emulate_wmma_iu8(bool is_a_signed, const void* a, bool is_b_signed, const void* b,
                      void* sums) {
  using namespace emulator;
  const auto multiply_bytes = [&](auto decode_a, auto decode_b) {
    wmma(a, decode_a, b, decode_b, static_cast<int*>(sums), Wrapped());
  };
  if (is_a_signed && is_b_signed) return multiply_bytes(signed_byte, signed_byte);
  if (is_a_signed) return multiply_bytes(signed_byte, unsigned_byte);
  if (is_b_signed) return multiply_bytes(unsigned_byte, signed_byte);
  multiply_bytes(unsigned_byte, unsigned_byte);
}
