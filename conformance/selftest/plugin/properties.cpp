// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the device says it can do: such that tails, vectors, threads, barriers and results in two
// stages occur in programs of small cases.
#include "conformance/selftest/plugin/device.hpp"

namespace tenon::planted {
namespace {

constexpr tn_dtype kWide[] = {TN_DTYPE_I64, TN_DTYPE_U64, TN_DTYPE_F64};

void claim_dtypes(sdk::PropertyTable& table, bool wide) {
  table.compute({TN_DTYPE_BOOL, TN_DTYPE_I8, TN_DTYPE_I16, TN_DTYPE_I32, TN_DTYPE_U8, TN_DTYPE_U16,
                 TN_DTYPE_U32, TN_DTYPE_F32},
                4);
  table.store({TN_DTYPE_F16, TN_DTYPE_BF16});
  table.atomics({TN_DTYPE_I32, TN_DTYPE_U32});
  if (!wide) return;
  table.store_all();
  for (const tn_dtype dtype : kWide) table.compute({dtype}, 4);
  table.atomics({TN_DTYPE_I64, TN_DTYPE_U64});
}

}  // namespace

std::unique_ptr<const sdk::PropertyTable> make_properties(Variant variant) {
  auto table = std::make_unique<sdk::PropertyTable>(TN_DEVICE_COMPUTE | TN_DEVICE_ASYNC |
                                                    TN_DEVICE_DETERMINISTIC | TN_DEVICE_SYMBOLIC |
                                                    TN_DEVICE_SAVE);
  const bool wide = variant != Variant::unsupported_dtypes;
  const bool tiny = variant == Variant::tiny_limits;
  claim_dtypes(*table, wide);
  // Neither EXP, LN nor COS: the core decomposes them.
  table->claim({TN_OP_NEG, TN_OP_SUB, TN_OP_FDIV, TN_OP_SHL, TN_OP_SHR, TN_OP_CMPEQ, TN_OP_TRUNC,
                TN_OP_FLOOR, TN_OP_FMA, TN_OP_MIN});
  table->claim({TN_OP_BROADCAST, TN_OP_EXTRACT, TN_OP_COMPOSE, TN_OP_LANE_REDUCE, TN_OP_BARRIER});
  table->add_memory(sdk::host_memory_space(variant == Variant::large_alignment ? 4096 : 64));
  const uint32_t threads = tiny ? 4 : 64;
  table->workgroup(threads, threads, threads, threads);
  tn_properties& fields = table->fields();
  fields.index_bits = wide ? 64 : 32;
  fields.max_bindings = tiny ? 4 : 16;
  fields.max_shared_bytes = fields.max_scratch_bytes = tiny ? 256 : 16384;
  fields.compute_units = 2;
  if (variant == Variant::relaxed) fields.accuracy = TN_ACCURACY_RELAXED;
  if (variant == Variant::declared_ftz)
    fields.numerics = TN_NUMERICS_FLUSH_INPUT | TN_NUMERICS_FLUSH_OUTPUT;
  if (variant == Variant::flushed_results) fields.numerics = TN_NUMERICS_FLUSH_OUTPUT;
  if (variant == Variant::small_buffers) fields.max_buffer_bytes = 1 << 20;
  if (variant == Variant::fma_contraction) fields.numerics = TN_NUMERICS_CONTRACT;
  return table;
}

}  // namespace tenon::planted
