// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the device says it can do: such that tails, vectors, threads, barriers and results in two
// stages occur in programs of small cases.
#include <algorithm>
#include <array>
#include <span>

#include "conformance/selftest/plugin/atoms.hpp"
#include "conformance/selftest/plugin/device.hpp"
#include "conformance/selftest/plugin/slabs.hpp"

namespace tenon::planted {
namespace {

void claim_dtypes(sdk::PropertyTable& table, bool wide, uint32_t lanes) {
  table.compute_all(lanes, wide ? 8 : 4).atomics({TN_DTYPE_I32, TN_DTYPE_U32, TN_DTYPE_F32});
  if (wide)
    table.store_all().atomics({TN_DTYPE_I64, TN_DTYPE_U64});
  else
    table.store({TN_DTYPE_F16, TN_DTYPE_BF16});
}

bool is_of_class(Variant variant, std::string_view kind) {
  return std::ranges::any_of(
      kVariants, [&](const VariantRow& row) { return row.variant == variant && row.kind == kind; });
}

bool has_matrices(Variant variant) {
  return variant == Variant::matrices || is_of_class(variant, "matrix atoms");
}
bool has_tiles(Variant variant) {
  return variant == Variant::tiles || is_of_class(variant, "tiles");
}
bool has_dots(Variant variant) {
  return variant == Variant::dots || is_of_class(variant, "dot products");
}
bool has_copies(Variant variant) {
  return variant == Variant::matrices || is_of_class(variant, "cooperation");
}
bool has_subgroups(Variant variant) {
  return variant == Variant::subgroups || variant == Variant::reduce_workgroup ||
         variant == Variant::shuffle_in_region || has_matrices(variant) || has_tiles(variant) ||
         has_copies(variant);
}

}  // namespace

std::unique_ptr<const sdk::PropertyTable> make_properties(Variant variant) {
  auto table = std::make_unique<sdk::PropertyTable>(TN_DEVICE_COMPUTE | TN_DEVICE_ASYNC |
                                                    TN_DEVICE_DETERMINISTIC | TN_DEVICE_SYMBOLIC |
                                                    TN_DEVICE_SAVE);
  const bool wide = variant != Variant::unsupported_dtypes;
  const bool tiny = variant == Variant::tiny_limits;
  claim_dtypes(*table, wide, variant == Variant::wide_vectors ? 32 : 4);
  // Not kMathOps: the core decomposes EXP, LN and COS.
  table->claim(sdk::kArithmeticOps).claim(sdk::kFusedOps);
  table->claim(sdk::kVectorOps).claim(sdk::kWorkgroupOps);
  if (has_subgroups(variant)) {
    table->claim(sdk::kSubgroupOps);
    table->fields().flags |= TN_DEVICE_SUBGROUP_BARRIER;
    table->fields().subgroup_min = 4;
    table->fields().subgroup_max = 32;
  }
  if (has_copies(variant)) table->claim(sdk::kAsyncOps);
  if (has_matrices(variant) || has_tiles(variant)) table->claim(sdk::kMatrixOps);
  const auto add_atoms = [&](bool has, std::span<const tn_matrix_atom> atoms) {
    for (const tn_matrix_atom& atom : atoms)
      if (has) table->add_atom(atom);
  };
  add_atoms(has_matrices(variant), kAtoms);
  add_atoms(has_tiles(variant), kTileAtoms);
  add_atoms(has_dots(variant), kDots);
  if (has_dots(variant)) table->claim(std::array{TN_OP_DOT});
  table->add_memory(
      sdk::host_memory_space(variant == Variant::large_alignment ? 4096 : kAlignment, 1));
  const uint32_t threads = tiny ? 4 : 64;
  table->workgroup(threads, threads, threads, threads);
  tn_properties& fields = table->fields();
  fields.index_bits = wide ? 64 : 32;
  fields.max_bindings = tiny ? 4 : 16;
  fields.max_shared_bytes = fields.max_scratch_bytes = tiny ? 256 : 16384;
  fields.compute_units = 2;
  if (variant == Variant::distance_15) fields.max_shared_bytes = 1 << 16;
  if (variant == Variant::relaxed) fields.accuracy = TN_ACCURACY_RELAXED;
  if (variant == Variant::declared_ftz)
    fields.numerics = TN_NUMERICS_FLUSH_INPUT | TN_NUMERICS_FLUSH_OUTPUT;
  if (variant == Variant::flushed_results) fields.numerics = TN_NUMERICS_FLUSH_OUTPUT;
  if (variant == Variant::small_buffers) fields.max_buffer_bytes = 1 << 20;
  if (variant == Variant::fma_contraction) fields.numerics = TN_NUMERICS_CONTRACT;
  return table;
}

}  // namespace tenon::planted
