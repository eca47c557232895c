// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The HIP dialect and its matrix atoms. Fragment layouts are from the Instruction Set Architectures
// of AMD Instinct MI200 and MI300, section "Matrix Arithmetic Instructions", and of RDNA3, as the
// AMD Matrix Instruction Calculator prints them.
#include "sdk/render/hip_dialect.hpp"

#include "sdk/render/gpu_dialect.hpp"
#include "sdk/render/hip_helpers.hpp"

namespace tenon::sdk {
namespace {

/// m x n x k by 64 threads, each element held once.
constexpr tn_matrix_atom hip_atom(uint32_t id, uint32_t edge, uint32_t k, uint32_t dtype,
                                  uint32_t sum, uint32_t numerics = 0) {
  constexpr uint32_t kThreads = 64;
  tn_matrix_atom a = TN_INIT(tn_matrix_atom);
  a.id = id;
  a.m = a.n = edge, a.k = k;
  a.a_dtype = a.b_dtype = dtype;
  a.accumulator_dtype = sum;
  a.scope = TN_SCOPE_SUBGROUP;
  a.a_lanes = a.b_lanes = edge * k / kThreads, a.c_lanes = edge * edge / kThreads;
  a.subgroup = kThreads;
  a.numerics = numerics;
  return a;
}

/// 16 x 16 x 16 by 32 threads. Threads t and t + 16 hold the same operand elements.
constexpr tn_matrix_atom wave32(uint32_t id, uint32_t a, uint32_t b, uint32_t sum,
                                uint32_t numerics = 0) {
  tn_matrix_atom out = hip_atom(id, 16, 16, a, sum, numerics);
  out.b_dtype = b;
  out.a_lanes = out.b_lanes = 16, out.c_lanes = 8;
  out.subgroup = 32;
  return out;
}

/// Each thread holds `lanes` neighbours along k, of a row of A and of a column of B.
constexpr GpuLayout kA16x4 = {"t0 t1 t2 t3", "l0 l1 t4 t5"};
constexpr GpuLayout kB16x4 = {"l0 l1 t4 t5", "t0 t1 t2 t3"};
constexpr GpuLayout kA32x4 = {"t0 t1 t2 t3 t4", "l0 l1 t5"};
constexpr GpuLayout kB32x4 = {"l0 l1 t5", "t0 t1 t2 t3 t4"};
constexpr GpuLayout kA16x8 = {"t0 t1 t2 t3", "l0 l1 l2 t4 t5"};
constexpr GpuLayout kB16x8 = {"l0 l1 l2 t4 t5", "t0 t1 t2 t3"};
constexpr GpuLayout kA32x8 = {"t0 t1 t2 t3 t4", "l0 l1 l2 t5"};
constexpr GpuLayout kB32x8 = {"l0 l1 l2 t5", "t0 t1 t2 t3 t4"};
constexpr GpuLayout kA16x1 = {"t0 t1 t2 t3", "t4 t5"};
constexpr GpuLayout kB16x1 = {"t4 t5", "t0 t1 t2 t3"};
constexpr GpuLayout kA32x1 = {"t0 t1 t2 t3 t4", "t5"};
constexpr GpuLayout kB32x1 = {"t5", "t0 t1 t2 t3 t4"};
constexpr GpuLayout kC16 = kB16x4;
constexpr GpuLayout kC32 = {"l0 l1 t5 l2 l3", "t0 t1 t2 t3 t4"};
constexpr GpuLayout kC16Doubles = {"t4 t5 l0 l1", "t0 t1 t2 t3"};
constexpr GpuLayout kWave32A = {"t0 t1 t2 t3", "l0 l1 l2 l3"};
constexpr GpuLayout kWave32B = {"l0 l1 l2 l3", "t0 t1 t2 t3"};
constexpr GpuLayout kWave32C = {"t4 l0 l1 l2", "t0 t1 t2 t3"};

constexpr uint32_t kFlushes = TN_ATOM_FLUSHES_SUBNORMALS, kCuts = TN_ATOM_TRUNCATES;

/// f32 and f64 are chains of fused multiply-adds, each rounded to nearest, subnormals kept;
/// integers wrap. Sources: "MMA-Sim", arXiv 2511.10909, 2025 (MI250X, MI300X) and, of gfx90a, AMD:
/// "MI200 matrix fused multiply-add (MFMA) behavior specifics".
constexpr GpuAtom kHipAtoms[] = {
    {with_layouts(hip_atom(1, 16, 16, TN_DTYPE_F16, TN_DTYPE_F32, kFlushes), kA16x4, kB16x4, kC16),
     {},
     {},
     "tn_mfma_16x16_f16"},
    {with_layouts(hip_atom(2, 32, 8, TN_DTYPE_F16, TN_DTYPE_F32, kFlushes), kA32x4, kB32x4, kC32),
     {},
     {},
     "tn_mfma_32x32_f16"},
    {with_layouts(hip_atom(3, 16, 16, TN_DTYPE_BF16, TN_DTYPE_F32, kFlushes), kA16x4, kB16x4, kC16),
     {},
     {},
     "tn_mfma_16x16_bf16"},
    {with_layouts(hip_atom(4, 32, 8, TN_DTYPE_BF16, TN_DTYPE_F32, kFlushes), kA32x4, kB32x4, kC32),
     {},
     {},
     "tn_mfma_32x32_bf16"},
    {with_layouts(hip_atom(5, 16, 4, TN_DTYPE_F32, TN_DTYPE_F32), kA16x1, kB16x1, kC16),
     {},
     {},
     "tn_mfma_16x16_f32"},
    {with_layouts(hip_atom(6, 32, 2, TN_DTYPE_F32, TN_DTYPE_F32), kA32x1, kB32x1, kC32),
     {},
     {},
     "tn_mfma_32x32_f32"},
    {with_layouts(hip_atom(7, 16, 4, TN_DTYPE_F64, TN_DTYPE_F64), kA16x1, kB16x1, kC16Doubles),
     {},
     {},
     "tn_mfma_16x16_f64"},
    {with_layouts(hip_atom(8, 16, 16, TN_DTYPE_I8, TN_DTYPE_I32), kA16x4, kB16x4, kC16),
     {},
     {},
     "tn_mfma_16x16x16_i8"},
    {with_layouts(hip_atom(9, 32, 8, TN_DTYPE_I8, TN_DTYPE_I32), kA32x4, kB32x4, kC32),
     {},
     {},
     "tn_mfma_32x32x8_i8"},
    {with_layouts(hip_atom(10, 16, 32, TN_DTYPE_I8, TN_DTYPE_I32), kA16x8, kB16x8, kC16),
     {},
     {},
     "tn_mfma_16x16x32_i8"},
    {with_layouts(hip_atom(11, 32, 16, TN_DTYPE_I8, TN_DTYPE_I32), kA32x8, kB32x8, kC32),
     {},
     {},
     "tn_mfma_32x32x16_i8"},
    // Pairs of products are added to the sum and cut, by up to two units of 2^-24 of the greatest;
    // a sum below the least normal f32 becomes zero, which one of products of f16 (multiples of
    // 2^-48) never is; subnormal bf16 operands read as zero. Source: measurements of gfx1151 in
    // github.com/ROCm/rocm-systems/issues/12056.
    {with_layouts(wave32(12, TN_DTYPE_F16, TN_DTYPE_F16, TN_DTYPE_F32, kCuts), kWave32A, kWave32B,
                  kWave32C),
     {},
     {},
     "tn_wmma_f16"},
    {with_layouts(wave32(13, TN_DTYPE_BF16, TN_DTYPE_BF16, TN_DTYPE_F32, kCuts | kFlushes),
                  kWave32A, kWave32B, kWave32C),
     {},
     {},
     "tn_wmma_bf16"},
    {with_layouts(wave32(14, TN_DTYPE_I8, TN_DTYPE_I8, TN_DTYPE_I32), kWave32A, kWave32B, kWave32C),
     {},
     {},
     "tn_wmma_i8<true, true>"},
    {with_layouts(wave32(15, TN_DTYPE_U8, TN_DTYPE_U8, TN_DTYPE_I32), kWave32A, kWave32B, kWave32C),
     {},
     {},
     "tn_wmma_i8<false, false>"},
    {with_layouts(wave32(16, TN_DTYPE_U8, TN_DTYPE_I8, TN_DTYPE_I32), kWave32A, kWave32B, kWave32C),
     {},
     {},
     "tn_wmma_i8<false, true>"},
    {with_layouts(wave32(17, TN_DTYPE_I8, TN_DTYPE_U8, TN_DTYPE_I32), kWave32A, kWave32B, kWave32C),
     {},
     {},
     "tn_wmma_i8<true, false>"},
};

/// Atoms of gfx942 keep subnormals and truncate sums to 24 bits below the greatest term, towards
/// -Inf (MMA-Sim).
constexpr tn_matrix_atom cutting(const GpuAtom& row) {
  tn_matrix_atom hip_atom = row.atom;
  hip_atom.numerics = kCuts;
  return hip_atom;
}

constexpr tn_matrix_atom kGfx90a[] = {kHipAtoms[0].atom, kHipAtoms[1].atom, kHipAtoms[2].atom,
                                      kHipAtoms[3].atom, kHipAtoms[4].atom, kHipAtoms[5].atom,
                                      kHipAtoms[6].atom, kHipAtoms[7].atom, kHipAtoms[8].atom};
constexpr tn_matrix_atom kGfx942[] = {
    cutting(kHipAtoms[0]), cutting(kHipAtoms[1]), cutting(kHipAtoms[2]),
    cutting(kHipAtoms[3]), kHipAtoms[4].atom,     kHipAtoms[5].atom,
    kHipAtoms[6].atom,     kHipAtoms[9].atom,     kHipAtoms[10].atom};
constexpr tn_matrix_atom kGfx11[] = {kHipAtoms[11].atom, kHipAtoms[12].atom, kHipAtoms[13].atom,
                                     kHipAtoms[14].atom, kHipAtoms[15].atom, kHipAtoms[16].atom};

/// Atoms by prefix of an architecture's name. gfx908 has some of gfx90a's; gfx950 and gfx12 have
/// others.
struct AtomsOf {
  std::string_view architecture;
  std::span<const tn_matrix_atom> atoms;
};
constexpr AtomsOf kArchitectures[] = {
    {"gfx90a", kGfx90a}, {"gfx942", kGfx942}, {"gfx110", kGfx11}, {"gfx115", kGfx11}};

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
      .orders_stores = true,
      .stream_store =
          "__builtin_nontemporal_store(*(const tn_stream_{2}*)({1}), (tn_stream_{2}*)({0}));",
      .static_shared_bytes = 64 << 10,
      .helpers = hip_helpers(),
      .atoms = kHipAtoms,
  };
  return words;
}

}  // namespace

const Dialect& hip_dialect() {
  static const auto& dialect = *new GpuDialect(hip_words());
  return dialect;
}

std::span<const tn_matrix_atom> hip_atoms(std::string_view architecture) {
  for (const AtomsOf& row : kArchitectures) {
    if (architecture.starts_with(row.architecture)) return row.atoms;
  }
  return {};
}

uint32_t hip_subgroup_size(std::string_view architecture) {
  return architecture.starts_with("gfx1") ? 32 : 64;
}

}  // namespace tenon::sdk
