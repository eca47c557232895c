// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The words of HIP, and its matrix atoms: fragment layouts from "AMD Instinct MI200 Instruction Set
// Architecture", section "Matrix Arithmetic Instructions", as the AMD Matrix Instruction Calculator
// prints them.
#include "sdk/render/hip_dialect.hpp"

#include <array>

#include "sdk/render/gpu_dialect.hpp"

namespace tenon::sdk {
namespace {

constexpr GpuHelper kHelpers[] = {
    {"tn_decode_f16",
     "TN float tn_decode_f16(unsigned short x) {\n"
     "  return (float)__builtin_bit_cast(_Float16, x);\n}\n"},
    {"tn_encode_f16",
     "TN unsigned short tn_encode_f16(float f) {\n"
     "  return __builtin_bit_cast(unsigned short, (_Float16)f);\n}\n"},
    // sqrtf is off by one unit at times, whatever the options: the neighbours are tried.
    {"tn_sqrt_f32",
     "TN float tn_sqrt_f32(float x) {\n"
     "  if (!(x > 0) || !isfinite(x)) return sqrtf(x);\n"
     "  const bool is_small = x < 0x1p-96f;\n  const float y = is_small ? x * 0x1p32f : x;\n"
     "  const float root = sqrtf(y);\n  const unsigned b = tn_bits_of_f32(root);\n"
     "  const float down = tn_bits_f32(b - 1), up = tn_bits_f32(b + 1);\n"
     "  float best = tn_fma(-down, root, y) <= 0 ? down : root;\n"
     "  if (tn_fma(-up, root, y) > 0) best = up;\n"
     "  return is_small ? best * 0x1p-16f : best;\n}\n"},
    {"tn_stream_16",
     "typedef unsigned tn_stream_16 __attribute__((vector_size(16), may_alias));\n"},
    {"tn_stream_8", "typedef unsigned tn_stream_8 __attribute__((vector_size(8), may_alias));\n"},
    {"tn_stream_4", "typedef unsigned tn_stream_4 __attribute__((may_alias));\n"},

    // There are no asynchronous copies: it is done at once.
    {"tn_copy_async_16",
     "TN void tn_copy_async_16(void* to, const void* from) { tn_move_16(to, from); }\n"},
    {"tn_copy_async_8",
     "TN void tn_copy_async_8(void* to, const void* from) { tn_move_8(to, from); }\n"},
    {"tn_copy_async_4",
     "TN void tn_copy_async_4(void* to, const void* from) { tn_move_4(to, from); }\n"},
    {"tn_async_commit", "TN void tn_async_commit() {}\n"},
    {"tn_async_wait", "template <int N> TN void tn_async_wait() {}\n"},

    {"tn_half4", "typedef _Float16 tn_half4 __attribute__((vector_size(8), may_alias));\n"},
    {"tn_short4", "typedef short tn_short4 __attribute__((vector_size(8), may_alias));\n"},
    {"tn_float4", "typedef float tn_float4 __attribute__((vector_size(16), may_alias));\n"},
    {"tn_float16",
     "typedef float tn_float16 __attribute__((vector_size(64), may_alias, aligned(16)));\n"},
    {"tn_mfma_16x16_f16",
     "TN void tn_mfma_16x16_f16(float* d, const void* a, const void* b, const float* c) {\n"
     "  *(tn_float4*)d = __builtin_amdgcn_mfma_f32_16x16x16f16(\n"
     "      *(const tn_half4*)a, *(const tn_half4*)b, *(const tn_float4*)c, 0, 0, 0);\n}\n"},
    {"tn_mfma_32x32_f16",
     "TN void tn_mfma_32x32_f16(float* d, const void* a, const void* b, const float* c) {\n"
     "  *(tn_float16*)d = __builtin_amdgcn_mfma_f32_32x32x8f16(\n"
     "      *(const tn_half4*)a, *(const tn_half4*)b, *(const tn_float16*)c, 0, 0, 0);\n}\n"},
    {"tn_mfma_16x16_bf16",
     "TN void tn_mfma_16x16_bf16(float* d, const void* a, const void* b, const float* c) {\n"
     "  *(tn_float4*)d = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(\n"
     "      *(const tn_short4*)a, *(const tn_short4*)b, *(const tn_float4*)c, 0, 0, 0);\n}\n"},
    {"tn_mfma_32x32_bf16",
     "TN void tn_mfma_32x32_bf16(float* d, const void* a, const void* b, const float* c) {\n"
     "  *(tn_float16*)d = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(\n"
     "      *(const tn_short4*)a, *(const tn_short4*)b, *(const tn_float16*)c, 0, 0, 0);\n}\n"},
};

constexpr tn_matrix_atom atom(uint32_t id, uint32_t edge, uint32_t k, uint32_t dtype) {
  tn_matrix_atom a = TN_INIT(tn_matrix_atom);
  a.id = id;
  a.m = a.n = edge, a.k = k;
  a.a_dtype = a.b_dtype = dtype;
  a.accumulator_dtype = TN_DTYPE_F32;
  a.scope = TN_SCOPE_SUBGROUP;
  a.a_lanes = a.b_lanes = edge * k / 64, a.c_lanes = edge * edge / 64;
  a.subgroup = 64;
  a.numerics = TN_ATOM_FLUSHES_SUBNORMALS;
  return a;
}

constexpr GpuLayout kA16 = {"t & 15", "(t >> 4) * 4 + l", 4, false};
constexpr GpuLayout kB16 = {"(t >> 4) * 4 + l", "t & 15", 4, true};
constexpr GpuLayout kC16 = kB16;
constexpr GpuLayout kA32 = {"t & 31", "(t >> 5) * 4 + l", 4, false};
constexpr GpuLayout kB32 = {"(t >> 5) * 4 + l", "t & 31", 4, true};
constexpr GpuLayout kC32 = {"(t >> 5) * 4 + (l >> 2) * 8 + (l & 3)", "t & 31", 4, true};

constexpr GpuAtom kAtoms[] = {
    {atom(1, 16, 16, TN_DTYPE_F16), {kA16, kB16, kC16}, {}, {}, "tn_mfma_16x16_f16"},
    {atom(2, 32, 8, TN_DTYPE_F16), {kA32, kB32, kC32}, {}, {}, "tn_mfma_32x32_f16"},
    {atom(3, 16, 16, TN_DTYPE_BF16), {kA16, kB16, kC16}, {}, {}, "tn_mfma_16x16_bf16"},
    {atom(4, 32, 8, TN_DTYPE_BF16), {kA32, kB32, kC32}, {}, {}, "tn_mfma_32x32_bf16"},
};

constexpr tn_matrix_atom kGfx90a[] = {kAtoms[0].atom, kAtoms[1].atom, kAtoms[2].atom,
                                      kAtoms[3].atom};

const GpuWords& hip_words() {
  static const GpuWords words = {
      .name = "hip",
      .subgroup_barrier =
          "__builtin_amdgcn_fence(__ATOMIC_ACQ_REL, \"wavefront\"); "
          "__builtin_amdgcn_wave_barrier();",
      .shuffle = "__shfl({0}, {1})",
      .shuffle_across = "__shfl_xor({0}, {1})",
      .stream_load =
          "*(tn_stream_{2}*)({0}) = __builtin_nontemporal_load((const tn_stream_{2}*)({1}));",
      .stream_store =
          "__builtin_nontemporal_store(*(const tn_stream_{2}*)({1}), (tn_stream_{2}*)({0}));",
      .static_shared_bytes = 64 << 10,
      .helpers = kHelpers,
      .atoms = kAtoms,
  };
  return words;
}

}  // namespace

const Dialect& hip_dialect() {
  static const auto& dialect = *new GpuDialect(hip_words());
  return dialect;
}

std::span<const tn_matrix_atom> hip_atoms(std::string_view architecture) {
  // gfx908 and gfx940 have some of these and others of their own.
  if (architecture.starts_with("gfx90a")) return kGfx90a;
  return {};
}

uint32_t hip_subgroup_size(std::string_view architecture) {
  return architecture.starts_with("gfx1") ? 32 : 64;
}

}  // namespace tenon::sdk
