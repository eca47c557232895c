// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Capabilities of a processor.
#include "plugins/cpu/properties.hpp"

#include <algorithm>

#include "sdk/program/op_info.hpp"
#include "sdk/program/view.hpp"

namespace tenon::cpu {
namespace {

constexpr tn_opcode kNative[] = {TN_OP_NEG,       TN_OP_SUB,     TN_OP_FDIV,    TN_OP_SHL,
                                 TN_OP_SHR,       TN_OP_CMPEQ,   TN_OP_TRUNC,   TN_OP_FLOOR,
                                 TN_OP_EXP,       TN_OP_LN,      TN_OP_COS,     TN_OP_MIN,
                                 TN_OP_BROADCAST, TN_OP_EXTRACT, TN_OP_COMPOSE, TN_OP_LANE_REDUCE};

constexpr tn_dtype kDTypes[] = {TN_DTYPE_BOOL, TN_DTYPE_I8,     TN_DTYPE_I16,   TN_DTYPE_I32,
                                TN_DTYPE_I64,  TN_DTYPE_U8,     TN_DTYPE_U16,   TN_DTYPE_U32,
                                TN_DTYPE_U64,  TN_DTYPE_F16,    TN_DTYPE_BF16,  TN_DTYPE_F32,
                                TN_DTYPE_F64,  TN_DTYPE_F8E4M3, TN_DTYPE_F8E5M2};

bool has_arithmetic(tn_dtype dtype) {
  return !sdk::is_float(dtype) || dtype == TN_DTYPE_F32 || dtype == TN_DTYPE_F64;
}

}  // namespace

Properties::Properties(const TargetSpec& target, const HostInfo& host, unsigned threads)
    : table_(TN_INIT(tn_properties)), memory_(TN_INIT(tn_memory_space)) {
  static_assert(std::size(kDTypes) == std::tuple_size_v<decltype(dtypes_)>);
  for (size_t i = 0; i < dtypes_.size(); ++i) {
    dtypes_[i] = {};
    dtypes_[i].dtype = kDTypes[i];
    dtypes_[i].flags = TN_DTYPE_STORAGE | (has_arithmetic(kDTypes[i]) ? TN_DTYPE_ARITHMETIC : 0);
    dtypes_[i].vector_lanes = target.vector_bytes / sdk::dtype_bytes(kDTypes[i]);
  }
  memory_.flags = TN_MEMORY_DEVICE | TN_MEMORY_HOST_VISIBLE | TN_MEMORY_COHERENT | TN_MEMORY_IMPORT;
  memory_.alignment = kMemoryAlignment;
  memory_.total = host.memory_bytes;
  memory_.largest = host.memory_bytes;
  memory_.copy_from = 1;

  table_.flags = TN_DEVICE_COMPUTE | TN_DEVICE_ASYNC | TN_DEVICE_DETERMINISTIC |
                 TN_DEVICE_SYMBOLIC | TN_DEVICE_SAVE;
  table_.accuracy = TN_ACCURACY_STRICT;
  table_.index_bits = 64;
  for (tn_opcode op : kNative) table_.native_ops[op >> 6] |= uint64_t{1} << (op & 63);
  // Without the instruction it would be a call for each element.
  if (target.fuse_multiply_add)
    table_.native_ops[TN_OP_FMA >> 6] |= uint64_t{1} << (TN_OP_FMA & 63);
  table_.dtype_count = static_cast<uint32_t>(dtypes_.size());
  table_.dtype_stride = sizeof(tn_dtype_caps);
  table_.dtypes = dtypes_.data();
  table_.memory_space_count = 1;
  table_.memory_space_stride = sizeof(tn_memory_space);
  table_.memory_spaces = &memory_;
  std::fill_n(table_.max_workgroup, 3, 1u);
  table_.max_workgroup_threads = 1;
  table_.max_shared_bytes = 1u << 20;  // one thread a workgroup: it is scratch
  table_.max_scratch_bytes = 256u << 20;
  table_.compute_units = threads;
  table_.vector_bytes = target.vector_bytes;
  table_.vector_registers = target.vector_registers;
  table_.l1_bytes = host.l1_bytes;
  table_.l2_bytes = host.l2_bytes;
  table_.l3_bytes = host.l3_bytes;
}

}  // namespace tenon::cpu
