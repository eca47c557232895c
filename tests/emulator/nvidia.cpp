// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the helpers of sdk/render/cuda_helpers.cpp with PTX inside do: lane by lane, from the
// fragment figures of "Parallel Thread Execution ISA".
#include "tests/emulator/sums.hpp"

// ---- cp.async: all arrives when it is waited for, or all at once ----
void emulate_copy(void* to, const void* from, unsigned size) {
  emulator::expect_aligned(to, size);
  emulator::expect_aligned(from, size);
  emulator::touch(to, size, true);
  if (emulator::machine.is_odd) memcpy(to, from, size);
  emulator::machine.current->open.push_back({to, from, size});
}
void tn_copy_async_16(void* to, const void* from) { emulate_copy(to, from, 16); }
void tn_copy_async_8(void* to, const void* from) { emulate_copy(to, from, 8); }
void tn_copy_async_4(void* to, const void* from) { emulate_copy(to, from, 4); }
void tn_async_commit() {
  emulator::Thread& thread = *emulator::machine.current;
  thread.groups.push_back(std::move(thread.open));
  thread.open.clear();
}
void emulate_async_wait(unsigned most) {
  auto& groups = emulator::machine.current->groups;
  for (; groups.size() > most; groups.pop_front()) {
    for (const emulator::Copy& copy : groups.front()) {
      emulator::touch(copy.from, copy.size, false);
      emulator::touch(copy.to, copy.size, true);
      if (!emulator::machine.is_odd) memcpy(copy.to, copy.from, copy.size);
    }
  }
}

// ---- ldmatrix: lanes 8i to 8i+7 give the rows of matrix i; each lane gets two neighbours ----
template <int kMatrices>
void emulate_ldmatrix(void* to, const void* from, bool is_transposed) {
  const auto rows = emulator::gather(from);
  const unsigned lane = emulator::lane();
  for (int matrix = 0; matrix < kMatrices; ++matrix) {
    for (unsigned half = 0; half < 2; ++half) {
      const unsigned row = is_transposed ? lane % 4 * 2 + half : lane / 4;
      const unsigned column = is_transposed ? lane / 4 : lane % 4 * 2 + half;
      const void* address = rows[static_cast<unsigned>(matrix) * 8 + row];
      emulator::expect_aligned(address, 16);
      emulator::touch(static_cast<const uint16_t*>(address) + column, 2, false);
      memcpy(static_cast<uint16_t*>(to) + matrix * 2 + half,
             static_cast<const uint16_t*>(address) + column, 2);
    }
  }
}
void tn_ldmatrix_x1(void* to, const void* from) { emulate_ldmatrix<1>(to, from, false); }
void tn_ldmatrix_x2(void* to, const void* from) { emulate_ldmatrix<2>(to, from, false); }
void tn_ldmatrix_x4(void* to, const void* from) { emulate_ldmatrix<4>(to, from, false); }
void tn_ldmatrix_x1_trans(void* to, const void* from) { emulate_ldmatrix<1>(to, from, true); }
void tn_ldmatrix_x2_trans(void* to, const void* from) { emulate_ldmatrix<2>(to, from, true); }
void tn_ldmatrix_x4_trans(void* to, const void* from) { emulate_ldmatrix<4>(to, from, true); }

// ---- mma: groupID = lane >> 2, threadID_in_group = lane % 4 ----
namespace emulator {
namespace {

At mma_c(unsigned lane, unsigned i) {
  return {i < 2 ? lane / 4 : lane / 4 + 8, lane % 4 * 2 + i % 2};
}
At mma_a_k16(unsigned lane, unsigned i) {
  const bool is_upper = i < 2 || (i >= 4 && i < 6);
  return {is_upper ? lane / 4 : lane / 4 + 8, lane % 4 * 2 + i % 2 + (i >= 4 ? 8 : 0)};
}
At mma_b_k16(unsigned lane, unsigned i) {
  return {lane % 4 * 2 + i % 2 + (i >= 2 ? 8 : 0), lane / 4};
}
At mma_a_tf32(unsigned lane, unsigned i) {
  const bool is_upper = i == 0 || i == 2, is_left = i < 2;
  return {is_upper ? lane / 4 : lane / 4 + 8, is_left ? lane % 4 : lane % 4 + 4};
}
At mma_b_tf32(unsigned lane, unsigned i) { return {i ? lane % 4 + 4 : lane % 4, lane / 4}; }
At mma_a_k32(unsigned lane, unsigned i) {
  const bool is_upper = i < 4 || (i >= 8 && i < 12);
  return {is_upper ? lane / 4 : lane / 4 + 8, lane % 4 * 4 + i % 4 + (i >= 8 ? 16 : 0)};
}
At mma_b_k32(unsigned lane, unsigned i) {
  return {lane % 4 * 4 + i % 4 + (i >= 4 ? 16 : 0), lane / 4};
}

template <float (*decode)(uint16_t)>
void mma_k16(float* d, const void* a, const void* b, const float* c) {
  multiply<16, 8, 16, 8, 4, 4>(d, widened<8>(a, decode).data(), widened<4>(b, decode).data(), c,
                               mma_a_k16, mma_b_k16, mma_c, Cut());
}
template <class A, class B, class E, class S, class Sum>
void mma_k32(S* d, const void* a, E (*decode_a)(A), const void* b, E (*decode_b)(B), const S* c,
             Sum sum) {
  multiply<16, 8, 32, 16, 8, 4>(d, widened<16>(a, decode_a).data(), widened<8>(b, decode_b).data(),
                                c, mma_a_k32, mma_b_k32, mma_c, sum);
}

}  // namespace
}  // namespace emulator

void tn_mma_f16_k16(float* d, const void* a, const void* b, const float* c) {
  emulator::mma_k16<emulator::half>(d, a, b, c);
}
void tn_mma_bf16_k16(float* d, const void* a, const void* b, const float* c) {
  emulator::mma_k16<emulator::brain>(d, a, b, c);
}
void tn_mma_f16_k8(float* d, const void* a, const void* b, const float* c) {
  using namespace emulator;  // the left halves of k16
  multiply<16, 8, 8, 4, 2, 4>(d, widened<4>(a, half).data(), widened<2>(b, half).data(), c,
                              mma_a_k16, mma_b_k16, mma_c, Cut());
}
void tn_mma_tf32_k8(float* d, const float* a, const float* b, const float* c) {
  using namespace emulator;
  const auto rounded = [](float x) {  // to 10 bits of mantissa, ties away
    return __builtin_bit_cast(float, (__builtin_bit_cast(uint32_t, x) + 0x1000) & ~0x1fffu);
  };
  const float left[] = {rounded(a[0]), rounded(a[1]), rounded(a[2]), rounded(a[3])};
  const float right[] = {rounded(b[0]), rounded(b[1])};
  multiply<16, 8, 8, 4, 2, 4>(d, left, right, c, mma_a_tf32, mma_b_tf32, mma_c, Cut());
}
void tn_mma_f64_k4(double* d, double a, double b, const double* c) {
  using namespace emulator;
  multiply<8, 8, 4, 1, 1, 2>(
      d, &a, &b, c,
      [](unsigned lane, unsigned) {
        return At{lane / 4, lane % 4};
      },
      [](unsigned lane, unsigned) {
        return At{lane % 4, lane / 4};
      },
      [](unsigned lane, unsigned i) {
        return At{lane / 4, lane % 4 * 2 + i};
      },
      Fused());
}
#define EMULATE_MMA_K32(NAME, A, B, TYPE, SUM)                                     \
  void tn_mma_##NAME##_k32(TYPE* d, const void* a, const void* b, const TYPE* c) { \
    emulator::mma_k32(d, a, emulator::A, b, emulator::B, c, emulator::SUM());      \
  }
EMULATE_MMA_K32(s8_s8, signed_byte, signed_byte, int, Wrapped)
EMULATE_MMA_K32(u8_u8, unsigned_byte, unsigned_byte, int, Wrapped)
EMULATE_MMA_K32(u8_s8, unsigned_byte, signed_byte, int, Wrapped)
EMULATE_MMA_K32(s8_u8, signed_byte, unsigned_byte, int, Wrapped)
EMULATE_MMA_K32(e4m3_e4m3, e4m3, e4m3, float, Cut)
EMULATE_MMA_K32(e5m2_e5m2, e5m2, e5m2, float, Cut)
EMULATE_MMA_K32(e4m3_e5m2, e4m3, e5m2, float, Cut)
EMULATE_MMA_K32(e5m2_e4m3, e5m2, e4m3, float, Cut)
#undef EMULATE_MMA_K32
