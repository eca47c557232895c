// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instructions are those of "Parallel Thread Execution ISA".
#include "sdk/render/cuda_helpers.hpp"

namespace tenon::sdk {
namespace {

// m16n8k32: operands of a byte, four of them in a register.
#define TN_MMA_BYTES(A, B, TYPE, SUM, IN)                                                         \
  {                                                                                               \
    "tn_mma_" A "_" B "_k32",                                                                     \
        "TN void tn_mma_" A "_" B "_k32(" TYPE "* d, const void* x, const void* y, const " TYPE   \
        "* c) {\n"                                                                                \
        "  const unsigned *a = (const unsigned*)x, *b = (const unsigned*)y;\n"                    \
        "  asm(\"mma.sync.aligned.m16n8k32.row.col." SUM "." A "." B "." SUM                      \
        " {%0, %1, %2, %3}, \"\n"                                                                 \
        "      \"{%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};\"\n"                           \
        "      : \"=" IN "\"(d[0]), \"=" IN "\"(d[1]), \"=" IN "\"(d[2]), \"=" IN                 \
        "\"(d[3])\n"                                                                              \
        "      : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]),\n" \
        "        \"" IN "\"(c[0]), \"" IN "\"(c[1]), \"" IN "\"(c[2]), \"" IN "\"(c[3]));\n}\n"   \
  }

// wgmma, 64 x 64 x 16. A, B: whether the lines of an operand run along m or n, not k.
#define TN_WGMMA_N64(DTYPE)                                                                   \
  {                                                                                           \
    "tn_wgmma_" DTYPE "_n64",                                                                 \
        "template <int A, int B> TN void tn_wgmma_" DTYPE                                     \
        "_n64(float* d, unsigned long long a,\n"                                              \
        "                                               unsigned long long b) {\n"            \
        "  asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");\n"                     \
        "  asm volatile(\"{ .reg .pred p; setp.ne.b32 p, %36, 0;\\n\"\n"                      \
        "      \"wgmma.mma_async.sync.aligned.m64n64k16.f32." DTYPE "." DTYPE                 \
        " \"\n"                                                                               \
        "      \"{%0, %1, %2, %3, %4, %5, %6, %7, \"\n"                                       \
        "      \"%8, %9, %10, %11, %12, %13, %14, %15, \"\n"                                  \
        "      \"%16, %17, %18, %19, %20, %21, %22, %23, \"\n"                                \
        "      \"%24, %25, %26, %27, %28, %29, %30, %31}, \"\n"                               \
        "      \"%32, %33, p, 1, 1, %34, %35; }\"\n"                                          \
        "      : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3]),\n"                   \
        "        \"+f\"(d[4]), \"+f\"(d[5]), \"+f\"(d[6]), \"+f\"(d[7]),\n"                   \
        "        \"+f\"(d[8]), \"+f\"(d[9]), \"+f\"(d[10]), \"+f\"(d[11]),\n"                 \
        "        \"+f\"(d[12]), \"+f\"(d[13]), \"+f\"(d[14]), \"+f\"(d[15]),\n"               \
        "        \"+f\"(d[16]), \"+f\"(d[17]), \"+f\"(d[18]), \"+f\"(d[19]),\n"               \
        "        \"+f\"(d[20]), \"+f\"(d[21]), \"+f\"(d[22]), \"+f\"(d[23]),\n"               \
        "        \"+f\"(d[24]), \"+f\"(d[25]), \"+f\"(d[26]), \"+f\"(d[27]),\n"               \
        "        \"+f\"(d[28]), \"+f\"(d[29]), \"+f\"(d[30]), \"+f\"(d[31])\n"                \
        "      : \"l\"(a), \"l\"(b), \"n\"(A), \"n\"(B), \"n\"(1)\n      : \"memory\");\n}\n" \
  }

constexpr GpuHelper kCudaHelpers[] = {
    {"tn_decode_f16",
     "TN float tn_decode_f16(unsigned short x) {\n  float f;\n"
     "  asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(f) : \"h\"(x));\n  return f;\n}\n"},
    {"tn_encode_f16",
     "TN unsigned short tn_encode_f16(float f) {\n  unsigned short x;\n"
     "  asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(x) : \"f\"(f));\n  return x;\n}\n"},
    // ptxas turns neg.f32 into an FADD, whose NaN has one bit pattern. LLVM may turn the common
    // helper into neg.f32.
    {"tn_neg_f32",
     "TN float tn_neg_f32(float x) {\n  float r;\n"
     "  asm(\"xor.b32 %0, %1, 0x80000000;\" : \"=f\"(r) : \"f\"(x));\n  return r;\n}\n"},
    // ptxas 13.0 negates 16-bit numbers after widening: -(-32768) would be 32768. So NVVM must not
    // see the truncation, or it makes such negations.
    {"tn_short",
     "TN short tn_short(int x) {\n  short r;\n"
     "  asm(\"cvt.s16.s32 %0, %1;\" : \"=h\"(r) : \"r\"(x));\n  return r;\n}\n"},
    {"tn_neg_f64",
     "TN double tn_neg_f64(double x) {\n  double r;\n"
     "  asm(\"xor.b64 %0, %1, 0x8000000000000000;\" : \"=d\"(r) : \"d\"(x));\n  return r;\n}\n"},
    // From sm_80 on this is one instruction; earlier ones need several.
    {"tn_encode_bf16",
     "TN unsigned short tn_encode_bf16(float f) {\n#if __CUDA_ARCH__ >= 800\n"
     "  unsigned short x;\n"
     "  asm(\"cvt.rn.bf16.f32 %0, %1;\" : \"=h\"(x) : \"f\"(f));\n  return x;\n"
     "#else\n  return tn_plain_encode_bf16(f);\n#endif\n}\n"},
    {"tn_max_f32",
     "TN float tn_max_f32(float a, float b) {\n#if __CUDA_ARCH__ >= 800\n  float r;\n"
     "  asm(\"max.NaN.f32 %0, %1, %2;\" : \"=f\"(r) : \"f\"(a), \"f\"(b));\n  return r;\n"
     "#else\n  return tn_plain_max_f32(a, b);\n#endif\n}\n"},
    {"tn_min_f32",
     "TN float tn_min_f32(float a, float b) {\n#if __CUDA_ARCH__ >= 800\n  float r;\n"
     "  asm(\"min.NaN.f32 %0, %1, %2;\" : \"=f\"(r) : \"f\"(a), \"f\"(b));\n  return r;\n"
     "#else\n  return -tn_plain_max_f32(-a, -b);\n#endif\n}\n"},

    {"tn_stream_load_16",
     "TN void tn_stream_load_16(void* to, const void* from) {\n"
     "  const uint4 x = __ldcs((const uint4*)from);\n  const tn_b16 y = {x.x, x.y, x.z, x.w};\n"
     "  *(tn_b16*)to = y;\n}\n"},
    {"tn_stream_load_8",
     "TN void tn_stream_load_8(void* to, const void* from) {\n"
     "  const uint2 x = __ldcs((const uint2*)from);\n  const tn_b8 y = {x.x, x.y};\n"
     "  *(tn_b8*)to = y;\n}\n"},
    {"tn_stream_load_4",
     "TN void tn_stream_load_4(void* to, const void* from) {\n"
     "  const tn_b4 y = {__ldcs((const unsigned*)from)};\n  *(tn_b4*)to = y;\n}\n"},
    {"tn_stream_store_16",
     "TN void tn_stream_store_16(void* to, const void* from) {\n"
     "  const tn_b16 y = *(const tn_b16*)from;\n"
     "  __stcs((uint4*)to, make_uint4(y.w[0], y.w[1], y.w[2], y.w[3]));\n}\n"},
    {"tn_stream_store_8",
     "TN void tn_stream_store_8(void* to, const void* from) {\n"
     "  const tn_b8 y = *(const tn_b8*)from;\n"
     "  __stcs((uint2*)to, make_uint2(y.w[0], y.w[1]));\n}\n"},
    {"tn_stream_store_4",
     "TN void tn_stream_store_4(void* to, const void* from) {\n"
     "  __stcs((unsigned*)to, ((const tn_b4*)from)->w);\n}\n"},

    // cp.async needs sm_80; before it the copy is synchronous.
    {"tn_shared",
     "TN unsigned tn_shared(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }\n"},
    {"tn_copy_async_16",
     "TN void tn_copy_async_16(void* to, const void* from) {\n#if __CUDA_ARCH__ >= 800\n"
     "  asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16;\" ::\"r\"(tn_shared(to)), "
     "\"l\"(from)\n               : \"memory\");\n"
     "#else\n  tn_move_16(to, from);\n#endif\n}\n"},
    {"tn_copy_async_8",
     "TN void tn_copy_async_8(void* to, const void* from) {\n#if __CUDA_ARCH__ >= 800\n"
     "  asm volatile(\"cp.async.ca.shared.global [%0], [%1], 8;\" ::\"r\"(tn_shared(to)), "
     "\"l\"(from)\n               : \"memory\");\n"
     "#else\n  tn_move_8(to, from);\n#endif\n}\n"},
    {"tn_copy_async_4",
     "TN void tn_copy_async_4(void* to, const void* from) {\n#if __CUDA_ARCH__ >= 800\n"
     "  asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4;\" ::\"r\"(tn_shared(to)), "
     "\"l\"(from)\n               : \"memory\");\n"
     "#else\n  tn_move_4(to, from);\n#endif\n}\n"},
    {"tn_async_commit",
     "TN void tn_async_commit() {\n#if __CUDA_ARCH__ >= 800\n"
     "  asm volatile(\"cp.async.commit_group;\" ::: \"memory\");\n#endif\n}\n"},
    {"tn_async_wait",
     "template <int N> TN void tn_async_wait() {\n#if __CUDA_ARCH__ >= 800\n"
     "  asm volatile(\"cp.async.wait_group %0;\" ::\"n\"(N) : \"memory\");\n#endif\n}\n"},

    {"tn_ldmatrix_x1",
     "TN void tn_ldmatrix_x1(void* to, const void* from) {\n  unsigned* d = (unsigned*)to;\n"
     "  asm volatile(\"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];\"\n"
     "               : \"=r\"(d[0]) : \"r\"(tn_shared(from)) : \"memory\");\n}\n"},
    {"tn_ldmatrix_x1_trans",
     "TN void tn_ldmatrix_x1_trans(void* to, const void* from) {\n  unsigned* d = (unsigned*)to;\n"
     "  asm volatile(\"ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];\"\n"
     "               : \"=r\"(d[0]) : \"r\"(tn_shared(from)) : \"memory\");\n}\n"},
    {"tn_ldmatrix_x2",
     "TN void tn_ldmatrix_x2(void* to, const void* from) {\n  unsigned* d = (unsigned*)to;\n"
     "  asm volatile(\"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];\"\n"
     "               : \"=r\"(d[0]), \"=r\"(d[1]) : \"r\"(tn_shared(from)) : \"memory\");\n}\n"},
    {"tn_ldmatrix_x2_trans",
     "TN void tn_ldmatrix_x2_trans(void* to, const void* from) {\n  unsigned* d = (unsigned*)to;\n"
     "  asm volatile(\"ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];\"\n"
     "               : \"=r\"(d[0]), \"=r\"(d[1]) : \"r\"(tn_shared(from)) : \"memory\");\n}\n"},
    {"tn_ldmatrix_x4",
     "TN void tn_ldmatrix_x4(void* to, const void* from) {\n  unsigned* d = (unsigned*)to;\n"
     "  asm volatile(\"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\"\n"
     "               : \"=r\"(d[0]), \"=r\"(d[1]), \"=r\"(d[2]), \"=r\"(d[3])\n"
     "               : \"r\"(tn_shared(from)) : \"memory\");\n}\n"},
    {"tn_ldmatrix_x4_trans",
     "TN void tn_ldmatrix_x4_trans(void* to, const void* from) {\n  unsigned* d = (unsigned*)to;\n"
     "  asm volatile(\"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\"\n"
     "               : \"=r\"(d[0]), \"=r\"(d[1]), \"=r\"(d[2]), \"=r\"(d[3])\n"
     "               : \"r\"(tn_shared(from)) : \"memory\");\n}\n"},

    {"tn_fast_exp",
     "TN float tn_fast_exp(float x) {\n"
     "  float d;\n  asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(d) : \"f\"(x * 0x1.715476p0f));\n"
     "  return d;\n}\n"},
    {"tn_mma_f16_k16",
     "TN void tn_mma_f16_k16(float* d, const void* x, const void* y, const float* c) {\n"
     "  const unsigned *a = (const unsigned*)x, *b = (const unsigned*)y;\n"
     "  asm(\"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, \"\n"
     "      \"{%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};\"\n"
     "      : \"=f\"(d[0]), \"=f\"(d[1]), \"=f\"(d[2]), \"=f\"(d[3])\n"
     "      : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]),\n"
     "        \"f\"(c[0]), \"f\"(c[1]), \"f\"(c[2]), \"f\"(c[3]));\n}\n"},
    {"tn_mma_bf16_k16",
     "TN void tn_mma_bf16_k16(float* d, const void* x, const void* y, const float* c) {\n"
     "  const unsigned *a = (const unsigned*)x, *b = (const unsigned*)y;\n"
     "  asm(\"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, \"\n"
     "      \"{%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};\"\n"
     "      : \"=f\"(d[0]), \"=f\"(d[1]), \"=f\"(d[2]), \"=f\"(d[3])\n"
     "      : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]),\n"
     "        \"f\"(c[0]), \"f\"(c[1]), \"f\"(c[2]), \"f\"(c[3]));\n}\n"},
    {"tn_mma_f16_k8",
     "TN void tn_mma_f16_k8(float* d, const void* x, const void* y, const float* c) {\n"
     "  const unsigned *a = (const unsigned*)x, *b = (const unsigned*)y;\n"
     "  asm(\"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, \"\n"
     "      \"{%4, %5}, {%6}, {%7, %8, %9, %10};\"\n"
     "      : \"=f\"(d[0]), \"=f\"(d[1]), \"=f\"(d[2]), \"=f\"(d[3])\n"
     "      : \"r\"(a[0]), \"r\"(a[1]), \"r\"(b[0]), \"f\"(c[0]), \"f\"(c[1]), \"f\"(c[2]),\n"
     "        \"f\"(c[3]));\n}\n"},
    {"tn_tf32",
     "TN unsigned tn_tf32(float x) {\n  unsigned r;\n"
     "  asm(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"(r) : \"f\"(x));\n  return r;\n}\n"},
    {"tn_mma_tf32_k8",
     "TN void tn_mma_tf32_k8(float* d, const float* a, const float* b, const float* c) {\n"
     "  asm(\"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, \"\n"
     "      \"{%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};\"\n"
     "      : \"=f\"(d[0]), \"=f\"(d[1]), \"=f\"(d[2]), \"=f\"(d[3])\n"
     "      : \"r\"(tn_tf32(a[0])), \"r\"(tn_tf32(a[1])), \"r\"(tn_tf32(a[2])),\n"
     "        \"r\"(tn_tf32(a[3])), \"r\"(tn_tf32(b[0])), \"r\"(tn_tf32(b[1])), \"f\"(c[0]),\n"
     "        \"f\"(c[1]), \"f\"(c[2]), \"f\"(c[3]));\n}\n"},
    {"tn_mma_f64_k4",
     "TN void tn_mma_f64_k4(double* d, double a, double b, const double* c) {\n"
     "  asm(\"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %5};\"\n"
     "      : \"=d\"(d[0]), \"=d\"(d[1]) : \"d\"(a), \"d\"(b), \"d\"(c[0]), \"d\"(c[1]));\n}\n"},
    TN_MMA_BYTES("s8", "s8", "int", "s32", "r"),
    TN_MMA_BYTES("u8", "u8", "int", "s32", "r"),
    TN_MMA_BYTES("u8", "s8", "int", "s32", "r"),
    TN_MMA_BYTES("s8", "u8", "int", "s32", "r"),
    TN_MMA_BYTES("e4m3", "e4m3", "float", "f32", "f"),
    TN_MMA_BYTES("e5m2", "e5m2", "float", "f32", "f"),
    TN_MMA_BYTES("e4m3", "e5m2", "float", "f32", "f"),
    TN_MMA_BYTES("e5m2", "e4m3", "float", "f32", "f"),

    // wgmma needs sm_90a.
    {"tn_tile_at",
     // 128-byte swizzle. The steps are between columns of lines, where it takes several, and
     // between groups of eight lines.
     "TN unsigned long long tn_tile_at(const void* p, unsigned column) {\n"
     "  return (unsigned long long)((tn_shared(p) & 0x3ffff) >> 4) |\n"
     "         (unsigned long long)(column >> 4) << 16 | (unsigned long long)(1024 >> 4) << 32 |\n"
     "         (unsigned long long)1 << 62;\n"
     "}\n"},
    TN_WGMMA_N64("f16"),
    TN_WGMMA_N64("bf16"),
    {"tn_products_wait",
     "TN void tn_products_wait() {\n"
     "  asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\");\n"
     "  asm volatile(\"wgmma.wait_group.sync.aligned 0;\" ::: \"memory\");\n}\n"},
    {"tn_hold",
     "template <int N> TN void tn_hold(float* d) {\n"
     "  _Pragma(\"unroll\") for (int l = 0; l < N; ++l) asm volatile(\"\" : "
     "\"+f\"(d[l])::\"memory\");\n"
     "}\n"},
    // Makes writes of threads to shared memory visible to the matrix units.
    {"tn_tiles_written",
     "TN void tn_tiles_written() {\n"
     "  asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n}\n"},
    {"tn_group_barrier",
     "TN void tn_group_barrier(unsigned id) {\n"
     "  asm volatile(\"bar.sync %0, 128;\" ::\"r\"(id) : \"memory\");\n}\n"},
};
#undef TN_WGMMA_N64
#undef TN_MMA_BYTES

}  // namespace

std::span<const GpuHelper> cuda_helpers() { return kCudaHelpers; }

}  // namespace tenon::sdk
