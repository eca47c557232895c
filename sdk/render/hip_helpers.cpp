// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builtins are those of clang's BuiltinsAMDGPU.def.
#include "sdk/render/hip_helpers.hpp"

namespace tenon::sdk {
namespace {

// Operands of matrix core builtins: several in a vector or a word, or one.
#define TN_MFMA(NAME, SUM, SUMS, IN, BUILTIN)                                             \
  {                                                                                       \
    "tn_mfma_" NAME,                                                                      \
        "TN void tn_mfma_" NAME "(" SUM                                                   \
        "* d, const void* a, const void* b, "                                             \
        "const " SUM                                                                      \
        "* c) {\n"                                                                        \
        "  *(" SUMS "*)d = __builtin_amdgcn_mfma_" BUILTIN                                \
        "(\n"                                                                             \
        "      *(const " IN "*)a, *(const " IN "*)b, *(const " SUMS "*)c, 0, 0, 0);\n}\n" \
  }
#define TN_MFMA_ONE(NAME, TYPE, SUMS, BUILTIN)                                                   \
  {                                                                                              \
    "tn_mfma_" NAME, "TN void tn_mfma_" NAME "(" TYPE "* d, " TYPE " a, " TYPE " b, const " TYPE \
                     "* c) {\n"                                                                  \
                     "  *(" SUMS "*)d = __builtin_amdgcn_mfma_" BUILTIN "(a, b, *(const " SUMS   \
                     "*)c, 0, 0, 0);\n}\n"                                                       \
  }

constexpr GpuHelper kHipHelpers[] = {
    {"tn_fast_exp", "TN float tn_fast_exp(float x) {\n  return __ocml_native_exp_f32(x);\n}\n"},
    {"tn_decode_f16",
     "TN float tn_decode_f16(unsigned short x) {\n"
     "  return (float)__builtin_bit_cast(_Float16, x);\n}\n"},
    {"tn_encode_f16",
     "TN unsigned short tn_encode_f16(float f) {\n"
     "  return __builtin_bit_cast(unsigned short, (_Float16)f);\n}\n"},
    // sqrtf is sometimes off by one unit, whatever the options, so try the neighbours.
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

    // There are no asynchronous copies, so the copy is synchronous.
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
    {"tn_bytes4", "typedef int tn_bytes4 __attribute__((may_alias));\n"},
    {"tn_bytes8", "typedef long tn_bytes8 __attribute__((may_alias));\n"},
    {"tn_float4", "typedef float tn_float4 __attribute__((vector_size(16), may_alias));\n"},
    {"tn_float16",
     "typedef float tn_float16 __attribute__((vector_size(64), may_alias, aligned(16)));\n"},
    {"tn_int4", "typedef int tn_int4 __attribute__((vector_size(16), may_alias));\n"},
    {"tn_int16",
     "typedef int tn_int16 __attribute__((vector_size(64), may_alias, aligned(16)));\n"},
    {"tn_double4",
     "typedef double tn_double4 __attribute__((vector_size(32), may_alias, aligned(16)));\n"},
    TN_MFMA("16x16_f16", "float", "tn_float4", "tn_half4", "f32_16x16x16f16"),
    TN_MFMA("32x32_f16", "float", "tn_float16", "tn_half4", "f32_32x32x8f16"),
    TN_MFMA("16x16_bf16", "float", "tn_float4", "tn_short4", "f32_16x16x16bf16_1k"),
    TN_MFMA("32x32_bf16", "float", "tn_float16", "tn_short4", "f32_32x32x8bf16_1k"),
    TN_MFMA("16x16x16_i8", "int", "tn_int4", "tn_bytes4", "i32_16x16x16i8"),
    TN_MFMA("32x32x8_i8", "int", "tn_int16", "tn_bytes4", "i32_32x32x8i8"),
    TN_MFMA("16x16x32_i8", "int", "tn_int4", "tn_bytes8", "i32_16x16x32_i8"),
    TN_MFMA("32x32x16_i8", "int", "tn_int16", "tn_bytes8", "i32_32x32x16_i8"),
    TN_MFMA_ONE("16x16_f32", "float", "tn_float4", "f32_16x16x4f32"),
    TN_MFMA_ONE("32x32_f32", "float", "tn_float16", "f32_32x32x2f32"),
    TN_MFMA_ONE("16x16_f64", "double", "tn_double4", "f64_16x16x4f64"),

    {"tn_half16",
     "typedef _Float16 tn_half16 __attribute__((vector_size(32), may_alias, aligned(16)));\n"},
    {"tn_short16",
     "typedef short tn_short16 __attribute__((vector_size(32), may_alias, aligned(16)));\n"},
    {"tn_float8",
     "typedef float tn_float8 __attribute__((vector_size(32), may_alias, aligned(16)));\n"},
    {"tn_int8", "typedef int tn_int8 __attribute__((vector_size(32), may_alias, aligned(16)));\n"},
    {"tn_wmma_f16",
     "TN void tn_wmma_f16(float* d, const void* a, const void* b, const float* c) {\n"
     "  *(tn_float8*)d = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(\n"
     "      *(const tn_half16*)a, *(const tn_half16*)b, *(const tn_float8*)c);\n}\n"},
    {"tn_wmma_bf16",
     "TN void tn_wmma_bf16(float* d, const void* a, const void* b, const float* c) {\n"
     "  *(tn_float8*)d = __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(\n"
     "      *(const tn_short16*)a, *(const tn_short16*)b, *(const tn_float8*)c);\n}\n"},
    {"tn_wmma_i8",
     "template <bool A, bool B>  // is signed\n"
     "TN void tn_wmma_i8(int* d, const void* a, const void* b, const int* c) {\n"
     "  *(tn_int8*)d = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(\n"
     "      A, *(const tn_int4*)a, B, *(const tn_int4*)b, *(const tn_int8*)c, false);\n}\n"},
};
#undef TN_MFMA
#undef TN_MFMA_ONE

}  // namespace

std::span<const GpuHelper> hip_helpers() { return kHipHelpers; }

}  // namespace tenon::sdk
