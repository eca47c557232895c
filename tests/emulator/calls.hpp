// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What compiled kernels and the emulator call of each other.
#pragma once

namespace emulator {

struct Place {
  unsigned x, y, z;
};

struct Kernel {
  void (*body)(void* const*);
  Place workgroup;
  unsigned subgroup_size;
};

// Of the source that gpu_kernels.cpp writes.
extern const Kernel kernels[];
extern const bool is_gfx942;  ///< its matrix units add otherwise than those of others

void touch(const void* p, unsigned long size, bool is_write, bool is_atomic = false);
void expect_aligned(const void* p, unsigned bytes);
unsigned lane();

}  // namespace emulator

extern emulator::Place blockIdx, threadIdx;
extern int warpSize;

void __syncthreads();
void __syncwarp();
int __shfl(int v, unsigned l);
unsigned __shfl(unsigned v, unsigned l);
long long __shfl(long long v, unsigned l);
unsigned long long __shfl(unsigned long long v, unsigned l);
float __shfl(float v, unsigned l);
double __shfl(double v, unsigned l);
unsigned long __cvta_generic_to_shared(const void* p);

// ---- Helpers with PTX inside ----
void tn_copy_async_16(void* to, const void* from);
void tn_copy_async_8(void* to, const void* from);
void tn_copy_async_4(void* to, const void* from);
void tn_async_commit();
void emulate_async_wait(unsigned most);
template <int N>
void tn_async_wait() {
  emulate_async_wait(N);
}

void tn_ldmatrix_x1(void* to, const void* from);
void tn_ldmatrix_x2(void* to, const void* from);
void tn_ldmatrix_x4(void* to, const void* from);
void tn_ldmatrix_x1_trans(void* to, const void* from);
void tn_ldmatrix_x2_trans(void* to, const void* from);
void tn_ldmatrix_x4_trans(void* to, const void* from);

void tn_mma_f16_k16(float* d, const void* a, const void* b, const float* c);
void tn_mma_bf16_k16(float* d, const void* a, const void* b, const float* c);
void tn_mma_f16_k8(float* d, const void* a, const void* b, const float* c);
void tn_mma_tf32_k8(float* d, const float* a, const float* b, const float* c);
void tn_mma_f64_k4(double* d, double a, double b, const double* c);
void tn_mma_s8_s8_k32(int* d, const void* a, const void* b, const int* c);
void tn_mma_u8_u8_k32(int* d, const void* a, const void* b, const int* c);
void tn_mma_u8_s8_k32(int* d, const void* a, const void* b, const int* c);
void tn_mma_s8_u8_k32(int* d, const void* a, const void* b, const int* c);
void tn_mma_e4m3_e4m3_k32(float* d, const void* a, const void* b, const float* c);
void tn_mma_e5m2_e5m2_k32(float* d, const void* a, const void* b, const float* c);
void tn_mma_e4m3_e5m2_k32(float* d, const void* a, const void* b, const float* c);
void tn_mma_e5m2_e4m3_k32(float* d, const void* a, const void* b, const float* c);

void emulate_wgmma_n64(float* d, unsigned long long a, unsigned long long b, bool is_a_turned,
                       bool is_b_turned, bool is_brain);
template <int A, int B>
void tn_wgmma_f16_n64(float* d, unsigned long long a, unsigned long long b) {
  emulate_wgmma_n64(d, a, b, A, B, false);
}
template <int A, int B>
void tn_wgmma_bf16_n64(float* d, unsigned long long a, unsigned long long b) {
  emulate_wgmma_n64(d, a, b, A, B, true);
}
void tn_products_wait();
void emulate_hold();
template <int N>
void tn_hold(float*) {
  emulate_hold();
}
void tn_tiles_written();
void tn_group_barrier(unsigned id);

// ---- AMD's matrix units: what a lane holds of a and b, and of the sums before and after ----
void emulate_mfma_f32_16x16x16f16(const void* a, const void* b, void* sums);
void emulate_mfma_f32_32x32x8f16(const void* a, const void* b, void* sums);
void emulate_mfma_f32_16x16x16bf16_1k(const void* a, const void* b, void* sums);
void emulate_mfma_f32_32x32x8bf16_1k(const void* a, const void* b, void* sums);
void emulate_mfma_f32_16x16x4f32(const void* a, const void* b, void* sums);
void emulate_mfma_f32_32x32x2f32(const void* a, const void* b, void* sums);
void emulate_mfma_i32_16x16x16i8(const void* a, const void* b, void* sums);
void emulate_mfma_i32_32x32x8i8(const void* a, const void* b, void* sums);
void emulate_mfma_i32_16x16x32_i8(const void* a, const void* b, void* sums);
void emulate_mfma_i32_32x32x16_i8(const void* a, const void* b, void* sums);
void emulate_mfma_f64_16x16x4f64(const void* a, const void* b, void* sums);
void emulate_wmma_f32_16x16x16_f16_w32(const void* a, const void* b, void* sums);
void emulate_wmma_f32_16x16x16_bf16_w32(const void* a, const void* b, void* sums);
void emulate_wmma_iu8(bool is_a_signed, const void* a, bool is_b_signed, const void* b, void* sums);
