// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CUDA dialect and its matrix atoms. Fragment layouts are from "Parallel Thread Execution ISA",
// sections "Matrix Fragments for mma.m16n8k8", "... mma.m16n8k16", "... mma.m8n8k4" (.f64),
// "... mma.m16n8k32", "ldmatrix" and "Register Fragments for wgmma.mma_async.m64nNk16".
#include "sdk/render/cuda_dialect.hpp"

#include "sdk/render/cuda_helpers.hpp"
#include "sdk/render/gpu_dialect.hpp"

namespace tenon::sdk {
namespace {

/// Float atoms truncate their sums one or two bits below the precision of f32. Source: Fasi,
/// Higham, Mikaitis, Pranesh: "Numerical behavior of NVIDIA tensor cores", PeerJ Computer Science
/// 7:e330, 2021 (V100, T4, A100); Xie, Wang, Yang, Yang: "MMA-Sim", arXiv 2511.10909, 2025 (to
/// B200). f32 operands become tf32: PTX ISA, "Alternate Floating-Point Data Formats". f64 atoms are
/// a chain of fused multiply-adds, each rounded to nearest (both papers). Integers wrap.
constexpr uint32_t numerics_of(uint32_t dtype) {
  switch (dtype) {
    case TN_DTYPE_F64:
    case TN_DTYPE_I8:
    case TN_DTYPE_U8:
      return 0;
    case TN_DTYPE_F32:
      return TN_ATOM_TRUNCATES | TN_ATOM_REDUCED_OPERANDS;
    default:
      return TN_ATOM_TRUNCATES;
  }
}

constexpr uint32_t sum_of(uint32_t dtype) {
  const bool is_byte = dtype == TN_DTYPE_I8 || dtype == TN_DTYPE_U8;
  return is_byte ? TN_DTYPE_I32 : dtype == TN_DTYPE_F64 ? TN_DTYPE_F64 : TN_DTYPE_F32;
}

constexpr tn_matrix_atom cuda_atom(uint32_t id, uint32_t m, uint32_t k, uint32_t a, uint32_t b) {
  constexpr uint32_t kColumns = 8, kThreads = 32;
  tn_matrix_atom out = TN_INIT(tn_matrix_atom);
  out.id = id;
  out.m = m, out.n = kColumns, out.k = k;
  out.a_dtype = a, out.b_dtype = b;
  out.accumulator_dtype = sum_of(a);
  out.scope = TN_SCOPE_SUBGROUP;
  out.a_lanes = m * k / kThreads, out.b_lanes = kColumns * k / kThreads;
  out.c_lanes = m * kColumns / kThreads;
  out.subgroup = kThreads;
  out.numerics = numerics_of(a);
  return out;
}

/// wgmma: four warps, operands in shared memory.
constexpr tn_matrix_atom tile_atom(uint32_t id, uint32_t n, uint32_t dtype) {
  tn_matrix_atom a = cuda_atom(id, 64, 16, dtype, dtype);
  a.n = n;
  a.scope = TN_SCOPE_BLOCK;
  a.a_lanes = a.b_lanes = 1;
  a.c_lanes = 64 * n / 128;
  a.subgroup = 128;
  return a;
}

constexpr GpuLayout kInMemory = {"", ""};
constexpr GpuLayout kTileC = {"t2 t3 t4 l1 t5 t6", "l0 t0 t1 l2 l3 l4"};
constexpr GpuLayout kC = {"t2 t3 t4 l1", "l0 t0 t1"};
constexpr GpuLayout kA8 = {"t2 t3 t4 l2", "l0 l1 t0 t1 l3"};
constexpr GpuLayout kB8 = {"l0 l1 t0 t1 l2", "t2 t3 t4"};
constexpr GpuLayout kA16 = {"t2 t3 t4 l1", "l0 t0 t1 l2"};
constexpr GpuLayout kB16 = {"l0 t0 t1 l1", "t2 t3 t4"};
constexpr GpuLayout kA16Half = {"t2 t3 t4 l1", "l0 t0 t1"};
constexpr GpuLayout kB16Half = {"l0 t0 t1", "t2 t3 t4"};
constexpr GpuLayout kA32 = {"t2 t3 t4 l0", "t0 t1 l1"};
constexpr GpuLayout kB32 = {"t0 t1 l0", "t2 t3 t4"};
constexpr GpuLayout kA64 = {"t2 t3 t4", "t0 t1"};
constexpr GpuLayout kB64 = {"t0 t1", "t2 t3 t4"};
constexpr GpuLayout kC64 = {"t2 t3 t4", "l0 t0 t1"};

constexpr GpuTileLoad kRows4 = {"tn_ldmatrix_x4", "t & 15", "(t >> 4) * 8"};
constexpr GpuTileLoad kRows2 = {"tn_ldmatrix_x2", "t & 15", "0"};
constexpr GpuTileLoad kRows1 = {"tn_ldmatrix_x1", "t & 7", "0"};
constexpr GpuTileLoad kTurned4 = {"tn_ldmatrix_x4_trans", "(t & 7) + (t >> 4) * 8", "t & 8"};
constexpr GpuTileLoad kTurned2 = {"tn_ldmatrix_x2_trans", "t & 15", "0"};
constexpr GpuTileLoad kColumns2 = {"tn_ldmatrix_x2", "t & 7", "t & 8"};

/// 16 x 8 x 32 with operands of one byte. ldmatrix can only transpose pairs of bytes.
constexpr GpuAtom bytes(uint32_t id, uint32_t a, uint32_t b, std::string_view multiply) {
  return {with_layouts(cuda_atom(id, 16, 32, a, b), kA8, kB8, kC),
          {{"tn_ldmatrix_x4", "t & 15", "(t >> 4) * 16"}, {}},
          {{}, {"tn_ldmatrix_x2", "t & 7", "(t & 8) * 2"}},
          multiply};
}

constexpr GpuAtom kCudaAtoms[] = {
    {with_layouts(cuda_atom(1, 16, 16, TN_DTYPE_F16, TN_DTYPE_F16), kA16, kB16, kC),
     {kRows4, kTurned2},
     {kTurned4, kColumns2},
     "tn_mma_f16_k16"},
    {with_layouts(cuda_atom(2, 16, 16, TN_DTYPE_BF16, TN_DTYPE_BF16), kA16, kB16, kC),
     {kRows4, kTurned2},
     {kTurned4, kColumns2},
     "tn_mma_bf16_k16"},
    {with_layouts(cuda_atom(3, 16, 8, TN_DTYPE_F32, TN_DTYPE_F32), kA32, kB32, kC),
     {{"tn_ldmatrix_x4", "t & 15", "(t >> 4) * 4"}, {}},
     {{}, {"tn_ldmatrix_x2", "t & 7", "(t & 8) / 2"}},
     "tn_mma_tf32_k8"},
    {with_layouts(cuda_atom(4, 16, 8, TN_DTYPE_F16, TN_DTYPE_F16), kA16Half, kB16Half, kC),
     {kRows2, {"tn_ldmatrix_x1_trans", "t & 7", "0"}},
     {{"tn_ldmatrix_x2_trans", "t & 7", "t & 8"}, kRows1},
     "tn_mma_f16_k8"},
    {with_layouts(cuda_atom(5, 8, 4, TN_DTYPE_F64, TN_DTYPE_F64), kA64, kB64, kC64),
     {},
     {},
     "tn_mma_f64_k4"},
    bytes(6, TN_DTYPE_I8, TN_DTYPE_I8, "tn_mma_s8_s8_k32"),
    bytes(7, TN_DTYPE_U8, TN_DTYPE_U8, "tn_mma_u8_u8_k32"),
    bytes(8, TN_DTYPE_U8, TN_DTYPE_I8, "tn_mma_u8_s8_k32"),
    bytes(9, TN_DTYPE_I8, TN_DTYPE_U8, "tn_mma_s8_u8_k32"),
    bytes(10, TN_DTYPE_F8E4M3, TN_DTYPE_F8E4M3, "tn_mma_e4m3_e4m3_k32"),
    bytes(11, TN_DTYPE_F8E5M2, TN_DTYPE_F8E5M2, "tn_mma_e5m2_e5m2_k32"),
    bytes(12, TN_DTYPE_F8E4M3, TN_DTYPE_F8E5M2, "tn_mma_e4m3_e5m2_k32"),
    bytes(13, TN_DTYPE_F8E5M2, TN_DTYPE_F8E4M3, "tn_mma_e5m2_e4m3_k32"),
    {with_layouts(tile_atom(14, 64, TN_DTYPE_F16), kInMemory, kInMemory, kTileC),
     {},
     {},
     "tn_wgmma_f16_n64"},
    {with_layouts(tile_atom(15, 64, TN_DTYPE_BF16), kInMemory, kInMemory, kTileC),
     {},
     {},
     "tn_wgmma_bf16_n64"},
};

constexpr tn_matrix_atom kSm75[] = {kCudaAtoms[3].atom};
/// Index of the first f8 atom. 8.9 must not have them: it keeps only 13 bits of such sums
/// (MMA-Sim), which no TN_ATOM_ bit allows. 9.0 to 11.0 convert f8 to halves and use the f16 units,
/// as code of ptxas 13.0 shows. 12.0 keeps 25 bits (MMA-Sim).
constexpr size_t kNoF8 = 8;
constexpr tn_matrix_atom kSm80[] = {kCudaAtoms[0].atom,  kCudaAtoms[1].atom,  kCudaAtoms[2].atom,
                                    kCudaAtoms[4].atom,  kCudaAtoms[5].atom,  kCudaAtoms[6].atom,
                                    kCudaAtoms[7].atom,  kCudaAtoms[8].atom,  kCudaAtoms[9].atom,
                                    kCudaAtoms[10].atom, kCudaAtoms[11].atom, kCudaAtoms[12].atom};
constexpr tn_matrix_atom kSm90a[] = {kCudaAtoms[0].atom,  kCudaAtoms[1].atom,  kCudaAtoms[2].atom,
                                     kCudaAtoms[4].atom,  kCudaAtoms[5].atom,  kCudaAtoms[6].atom,
                                     kCudaAtoms[7].atom,  kCudaAtoms[8].atom,  kCudaAtoms[9].atom,
                                     kCudaAtoms[10].atom, kCudaAtoms[11].atom, kCudaAtoms[12].atom,
                                     kCudaAtoms[13].atom, kCudaAtoms[14].atom};

const GpuWords& cuda_words() {
  static const GpuWords words = {
      .name = "cuda",
      .subgroup_barrier = "__syncwarp();",
      .shuffle = "__shfl_sync(0xffffffffu, {0}, {1})",
      .shuffle_across = "__shfl_xor_sync(0xffffffffu, {0}, {1})",
      .stream_load = "tn_stream_load_{2}({0}, {1});",
      // ptxas 13.0 merges a store with a later conditional store to the same address, across
      // stores between them that go to that place too (docs/found/ptxas_store_order.cu).
      .orders_stores = false,
      .stream_store = "tn_stream_store_{2}({0}, {1});",
      .static_shared_bytes = 48 << 10,
      .helpers = cuda_helpers(),
      .atoms = kCudaAtoms,
  };
  return words;
}

}  // namespace

const Dialect& cuda_dialect() {
  static const auto& dialect = *new GpuDialect(cuda_words());
  return dialect;
}

std::span<const tn_matrix_atom> cuda_atoms(int compute_capability, bool has_own_code) {
  if (compute_capability == 90 && has_own_code) return kSm90a;
  if (compute_capability >= 90) return kSm80;
  if (compute_capability >= 80) return std::span(kSm80).first(kNoF8);
  return compute_capability >= 75 ? std::span<const tn_matrix_atom>(kSm75)
                                  : std::span<const tn_matrix_atom>();
}

}  // namespace tenon::sdk
