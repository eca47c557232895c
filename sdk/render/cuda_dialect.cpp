// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The words of CUDA, and its matrix atoms: fragment layouts from "Parallel Thread Execution ISA",
// sections "Matrix Fragments for mma.m16n8k8", "... mma.m16n8k16", "ldmatrix" and "Register
// Fragments for wgmma.mma_async.m64nNk16".
#include "sdk/render/cuda_dialect.hpp"

#include "sdk/render/cuda_helpers.hpp"
#include "sdk/render/gpu_dialect.hpp"

namespace tenon::sdk {
namespace {

/// Sums inside an atom are cut to a bit or two below an f32. Source: Fasi, Higham, Mikaitis,
/// Pranesh: "Numerical behavior of NVIDIA tensor cores", PeerJ Computer Science 7:e330, 2021 (V100,
/// T4, A100). f32 operands become tf32: PTX ISA, "Alternate Floating-Point Data Formats".
constexpr uint32_t numerics_of(uint32_t dtype) {
  return TN_ATOM_TRUNCATES | (dtype == TN_DTYPE_F32 ? TN_ATOM_REDUCED_OPERANDS : 0);
}

constexpr tn_matrix_atom atom(uint32_t id, uint32_t k, uint32_t dtype) {
  tn_matrix_atom a = TN_INIT(tn_matrix_atom);
  a.id = id;
  a.m = 16, a.n = 8, a.k = k;
  a.a_dtype = a.b_dtype = dtype;
  a.accumulator_dtype = TN_DTYPE_F32;
  a.scope = TN_SCOPE_SUBGROUP;
  a.a_lanes = 16 * k / 32, a.b_lanes = 8 * k / 32, a.c_lanes = 4;
  a.subgroup = 32;
  a.numerics = numerics_of(dtype);
  return a;
}

/// wgmma: four warps, operands in shared memory.
constexpr tn_matrix_atom tile_atom(uint32_t id, uint32_t n, uint32_t dtype) {
  tn_matrix_atom a = atom(id, 16, dtype);
  a.m = 64, a.n = n;
  a.scope = TN_SCOPE_BLOCK;
  a.a_lanes = a.b_lanes = 1;
  a.c_lanes = 64 * n / 128;
  a.subgroup = 128;
  return a;
}

constexpr GpuLayout kTileC = {"(t >> 5) * 16 + ((t & 31) >> 2) + (l & 2) * 4",
                              "(l >> 2) * 8 + (t & 3) * 2 + (l & 1)", 2, false};
constexpr GpuLayout kC = {"(t >> 2) + (l >> 1) * 8", "(t & 3) * 2 + (l & 1)", 2, false};
constexpr GpuLayout kA16 = {"(t >> 2) + (l & 2) * 4", "(t & 3) * 2 + (l & 1) + (l & 4) * 2", 2,
                            false};
constexpr GpuLayout kB16 = {"(t & 3) * 2 + (l & 1) + (l & 2) * 4", "t >> 2", 2, true};
constexpr GpuLayout kA32 = {"(t >> 2) + (l & 1) * 8", "(t & 3) + (l & 2) * 2", 1, false};
constexpr GpuLayout kB32 = {"(t & 3) + l * 4", "t >> 2", 1, false};

constexpr GpuTileLoad kRows4 = {"tn_ldmatrix_x4", "t & 15", "(t >> 4) * 8"};
constexpr GpuTileLoad kRows2 = {"tn_ldmatrix_x2", "t & 15", "0"};
constexpr GpuTileLoad kRows1 = {"tn_ldmatrix_x1", "t & 7", "0"};
constexpr GpuTileLoad kTurned4 = {"tn_ldmatrix_x4_trans", "(t & 7) + (t >> 4) * 8", "t & 8"};
constexpr GpuTileLoad kTurned2 = {"tn_ldmatrix_x2_trans", "t & 15", "0"};
constexpr GpuTileLoad kColumns2 = {"tn_ldmatrix_x2", "t & 7", "t & 8"};

constexpr GpuAtom kAtoms[] = {
    {atom(1, 16, TN_DTYPE_F16),
     {kA16, kB16, kC},
     {kRows4, kTurned2},
     {kTurned4, kColumns2},
     "tn_mma_f16_k16"},
    {atom(2, 16, TN_DTYPE_BF16),
     {kA16, kB16, kC},
     {kRows4, kTurned2},
     {kTurned4, kColumns2},
     "tn_mma_bf16_k16"},
    {atom(3, 8, TN_DTYPE_F32),
     {kA32, kB32, kC},
     {{"tn_ldmatrix_x4", "t & 15", "(t >> 4) * 4"}, {}},
     {{}, {"tn_ldmatrix_x2", "t & 7", "(t & 8) / 2"}},
     "tn_mma_tf32_k8"},
    {atom(4, 8, TN_DTYPE_F16),
     {kA16, kB16, kC},
     {kRows2, {"tn_ldmatrix_x1_trans", "t & 7", "0"}},
     {{"tn_ldmatrix_x2_trans", "t & 7", "t & 8"}, kRows1},
     "tn_mma_f16_k8"},
    {tile_atom(5, 64, TN_DTYPE_F16), {{}, {}, kTileC}, {}, {}, "tn_wgmma_f16_n64"},
    {tile_atom(6, 64, TN_DTYPE_BF16), {{}, {}, kTileC}, {}, {}, "tn_wgmma_bf16_n64"},
};

constexpr tn_matrix_atom kSm80[] = {kAtoms[0].atom, kAtoms[1].atom, kAtoms[2].atom};
constexpr tn_matrix_atom kSm75[] = {kAtoms[3].atom};
constexpr tn_matrix_atom kSm90a[] = {kAtoms[0].atom, kAtoms[1].atom, kAtoms[2].atom, kAtoms[4].atom,
                                     kAtoms[5].atom};

const GpuWords& cuda_words() {
  static const GpuWords words = {
      .name = "cuda",
      .subgroup_barrier = "__syncwarp();",
      .shuffle = "__shfl_sync(0xffffffffu, {0}, {1})",
      .shuffle_across = "__shfl_xor_sync(0xffffffffu, {0}, {1})",
      .stream_load = "tn_stream_load_{2}({0}, {1});",
      .stream_store = "tn_stream_store_{2}({0}, {1});",
      .static_shared_bytes = 48 << 10,
      .helpers = cuda_helpers(),
      .atoms = kAtoms,
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
  if (compute_capability >= 80) return kSm80;
  return compute_capability >= 75 ? std::span<const tn_matrix_atom>(kSm75)
                                  : std::span<const tn_matrix_atom>();
}

}  // namespace tenon::sdk
