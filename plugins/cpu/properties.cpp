// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/cpu/properties.hpp"

#include <algorithm>
#include <array>

#include "plugins/cpu/emit_elementwise.hpp"
#include "sdk/program/dtype_info.hpp"
#include "sdk/program/op_groups.hpp"
#include "sdk/program/view.hpp"

namespace tenon::cpu {
namespace {

uint32_t rate_of(const HostRates& rates, uint32_t dtype) {
  if (dtype == TN_DTYPE_F32 && (rates.bf16 || rates.i8)) return 256;
  if (dtype == TN_DTYPE_BF16) return rates.bf16;
  return dtype == TN_DTYPE_I8 || dtype == TN_DTYPE_U8 ? rates.i8 : 0;
}

tn_matrix_atom dot_of(uint32_t k, uint32_t a, uint32_t b, uint32_t sum, uint32_t numerics) {
  tn_matrix_atom atom = TN_INIT(tn_matrix_atom);
  atom.m = atom.n = 1;
  atom.k = atom.a_lanes = atom.b_lanes = k;
  atom.c_lanes = atom.subgroup = 1;
  atom.a_dtype = a;
  atom.b_dtype = b;
  atom.accumulator_dtype = sum;
  atom.scope = TN_SCOPE_THREAD;
  atom.numerics = numerics;
  return atom;
}

}  // namespace

Properties::Properties(const TargetSpec& target, const HostInfo& host, unsigned threads)
    : table_(TN_INIT(tn_properties)), memory_(TN_INIT(tn_memory_space)) {
  const HostRates rates = target.name == host_target().name ? host.rates : HostRates();
  for (const sdk::DTypeInfo& row : sdk::all_dtypes()) {
    const bool computes = row.claim == sdk::DTypeClaim::COMPUTE;
    dtypes_.push_back({row.dtype, TN_DTYPE_STORAGE | (computes ? TN_DTYPE_ARITHMETIC : 0u),
                       target.vector_bytes / row.bytes, rate_of(rates, row.dtype)});
  }
  memory_.flags = TN_MEMORY_DEVICE | TN_MEMORY_HOST_VISIBLE | TN_MEMORY_COHERENT |
                  TN_MEMORY_IMPORT | TN_MEMORY_PERSISTENT;
  memory_.alignment = kMemoryAlignment;
  memory_.read_alignment = 1;
  memory_.total = host.memory_bytes;
  memory_.largest = host.memory_bytes;
  memory_.copy_from = 1;

  table_.flags = TN_DEVICE_COMPUTE | TN_DEVICE_ASYNC | TN_DEVICE_DETERMINISTIC |
                 TN_DEVICE_SYMBOLIC | TN_DEVICE_SAVE;
  table_.accuracy = TN_ACCURACY_STRICT;
  table_.index_bits = 64;
  claim(emitted_ops());
  if (target.fuse_multiply_add) claim(sdk::kFusedOps);
  claim(sdk::kVectorOps);
  if (target.dots_bf16 || target.dots_i8) claim(std::array{TN_OP_DOT});
  table_.dtype_count = static_cast<uint32_t>(dtypes_.size());
  table_.dtype_stride = sizeof(tn_dtype_caps);
  table_.dtypes = dtypes_.data();
  table_.memory_space_count = 1;
  table_.memory_space_stride = sizeof(tn_memory_space);
  table_.memory_spaces = &memory_;
  std::fill_n(table_.max_workgroup, 3, 1u);
  table_.max_workgroup_threads = 1;
  table_.max_shared_bytes = 1u << 20;  // workgroups have one thread, so it is scratch
  table_.max_scratch_bytes = 256u << 20;
  table_.compute_units = threads;
  table_.vector_bytes = target.vector_bytes;
  table_.vector_registers = target.vector_registers;
  // It treats subnormals as zero (Intel SDM, VDPBF16PS).
  if (target.dots_bf16)
    atoms_.push_back(
        dot_of(2, TN_DTYPE_BF16, TN_DTYPE_BF16, TN_DTYPE_F32, TN_ATOM_FLUSHES_SUBNORMALS));
  if (target.dots_i8) atoms_.push_back(dot_of(4, TN_DTYPE_U8, TN_DTYPE_I8, TN_DTYPE_I32, 0));
  table_.matrix_atom_count = static_cast<uint32_t>(atoms_.size());
  table_.matrix_atom_stride = sizeof(tn_matrix_atom);
  table_.matrix_atoms = atoms_.data();
  table_.l1_bytes = host.l1_bytes;
  table_.l2_bytes = host.l2_bytes;
  table_.l3_bytes = host.l3_bytes;
}

void Properties::claim(std::span<const tn_opcode> ops) {
  for (const uint32_t op : ops) table_.native_ops[op >> 6] |= uint64_t{1} << (op & 63);
}

}  // namespace tenon::cpu
