// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks each op, dtype and limit of a program against the properties.
#include "sdk/backend/check_support.hpp"

#include <fmt/format.h>

#include "sdk/program/dot.hpp"
#include "sdk/program/op_info.hpp"
#include "sdk/support/failure.hpp"

namespace tenon::sdk {
namespace {

bool claims(const tn_properties& properties, uint16_t op) {
  return op < 512 && (properties.native_ops[op >> 6] >> (op & 63) & 1);
}

uint32_t dtype_flags(const tn_properties& properties, uint8_t dtype) {
  for (uint32_t i = 0; i < properties.dtype_count; ++i) {
    const tn_dtype_caps* caps = row_at(properties.dtypes, properties.dtype_stride, i);
    if (caps->dtype == dtype) return caps->flags;
  }
  return 0;
}

std::string exceeds(const char* what, uint64_t value, uint64_t limit) {
  if (limit == 0 || value <= limit) return {};
  return fmt::format("{}: expected at most {}, got {}", what, limit, value);
}

uint32_t buffer_count(const ProgramView& program) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < program.param_count(); ++i) {
    count += program.param(i).kind == TN_PARAM_BUFFER;
  }
  return count;
}

/// Whether the device has a matrix atom for so many threads, of several subgroups.
bool is_group(const tn_properties& p, uint32_t threads) {
  for (uint32_t i = 0; i < p.matrix_atom_count; ++i) {
    const tn_matrix_atom* row = row_at(p.matrix_atoms, p.matrix_atom_stride, i);
    if (row->scope == TN_SCOPE_BLOCK && row->subgroup == threads) return true;
  }
  return false;
}

std::string exceeds_limits(const ProgramView& program, const tn_properties& p) {
  const tn_program& header = program.header();
  uint64_t threads = 1;
  for (int axis = 0; axis < 3; ++axis) {
    threads *= header.workgroup[axis];
    if (auto e = exceeds("workgroup", header.workgroup[axis], p.max_workgroup[axis]); !e.empty()) {
      return e;
    }
  }
  if (auto e = exceeds("workgroup threads", threads, p.max_workgroup_threads); !e.empty()) return e;
  if (auto e = exceeds("bindings", buffer_count(program), p.max_bindings); !e.empty()) return e;
  if (header.shared_bytes && header.shared_bytes > p.max_shared_bytes) {
    return fmt::format("shared memory: expected at most {} bytes, got {}", p.max_shared_bytes,
                       header.shared_bytes);
  }
  if (auto e = exceeds("scratch bytes", header.scratch_bytes, p.max_scratch_bytes); !e.empty()) {
    return e;
  }
  if (header.subgroup_size && !is_group(p, header.subgroup_size) &&
      (header.subgroup_size < p.subgroup_min || header.subgroup_size > p.subgroup_max)) {
    return fmt::format("subgroup: expected a size from {} to {}, got {}", p.subgroup_min,
                       p.subgroup_max, header.subgroup_size);
  }
  return {};
}

/// Checks that the device has the atom, with these lanes and dtypes.
std::string exceeds_matrix(const ProgramView& program, const tn_op& op, const tn_properties& p) {
  const tn_matrix_atom* atom = nullptr;
  for (uint32_t i = 0; i < p.matrix_atom_count; ++i) {
    const tn_matrix_atom* row = row_at(p.matrix_atoms, p.matrix_atom_stride, i);
    if (row->scope != TN_SCOPE_THREAD && row->id == static_cast<uint32_t>(op.imm)) atom = row;
  }
  if (!atom)
    return fmt::format("expected an atom of the device, got {}", static_cast<uint32_t>(op.imm));
  if (program.header().subgroup_size != atom->subgroup) {
    return fmt::format("expected a subgroup of {}, got {}", atom->subgroup,
                       program.header().subgroup_size);
  }
  const auto operands = program.operands(op);
  const uint32_t lanes[] = {atom->a_lanes, atom->b_lanes, atom->c_lanes};
  const auto check = [&](const tn_op& value, uint64_t role, uint32_t dtype) -> std::string {
    if (value.lanes == lanes[role] && value.dtype == dtype) return {};
    return fmt::format("expected {}x{}, got {}x{}", dtype_text(static_cast<uint8_t>(dtype)),
                       lanes[role], dtype_text(value.dtype), value.lanes);
  };
  if (op.op != TN_OP_MATRIX_MULTIPLY) {
    const tn_op& value = op.op == TN_OP_MATRIX_LOAD ? op : program.op(operands[3]);
    return check(value, (op.imm & TN_MATRIX_ROLE) >> 32, value.dtype);
  }
  const uint32_t dtypes[] = {atom->a_dtype, atom->b_dtype, atom->accumulator_dtype};
  for (uint32_t role = 0; role < 3; ++role) {
    if (auto e = check(program.op(operands[role]), role, dtypes[role]); !e.empty()) return e;
  }
  return {};
}

/// Checks that the device has the dot product.
std::string exceeds_dot(const ProgramView& program, const tn_op& op, const tn_properties& p) {
  const auto operands = program.operands(op);
  const uint32_t x = program.op(operands[0]).dtype, y = program.op(operands[1]).dtype;
  const uint32_t k = dot_neighbours(program, op);
  for (uint32_t i = 0; i < p.matrix_atom_count; ++i) {
    const tn_matrix_atom* row = row_at(p.matrix_atoms, p.matrix_atom_stride, i);
    if (row->scope == TN_SCOPE_THREAD && row->m == 1 && row->n == 1 && row->k == k &&
        row->a_dtype == x && row->b_dtype == y && row->accumulator_dtype == op.dtype)
      return {};
  }
  return fmt::format("expected an atom of a thread, got {} of {} and {} to {}", k,
                     dtype_text(static_cast<uint8_t>(x)), dtype_text(static_cast<uint8_t>(y)),
                     dtype_text(op.dtype));
}

std::string exceeds_op(const ProgramView& program, const tn_op& op, const tn_properties& p) {
  const OpInfo& info = *op_info(op.op);
  if ((info.flags & kOpOptional) && !claims(p, op.op)) return "expected the op to be claimed";
  if (op.lanes > 1 && !claims(p, TN_OP_BROADCAST)) {
    return fmt::format("expected vectors (broadcast) to be claimed, got {} lanes", op.lanes);
  }
  if (op.op == TN_OP_INDEX && (op.imm == TN_AXIS_SUBGROUP || op.imm == TN_AXIS_SUBGROUP_LANE) &&
      p.subgroup_max == 0) {
    return "expected subgroups to be claimed";
  }
  if (op.op == TN_OP_BARRIER && op.imm == TN_SCOPE_SUBGROUP &&
      !(p.flags & TN_DEVICE_SUBGROUP_BARRIER)) {
    return "expected barriers of a subgroup (TN_DEVICE_SUBGROUP_BARRIER) to be claimed";
  }
  if (op.op >= TN_OP_MATRIX_LOAD && op.op <= TN_OP_MATRIX_STORE) {
    if (auto e = exceeds_matrix(program, op, p); !e.empty()) return e;
  }
  if (op.op == TN_OP_DOT) {
    if (auto e = exceeds_dot(program, op, p); !e.empty()) return e;
  }
  if (op.op == TN_OP_PARAM && dtype_bytes(op.dtype) < p.storage_bytes) {
    return fmt::format("expected elements of at least {} bytes, got {}", p.storage_bytes,
                       dtype_text(op.dtype));
  }
  const bool is_index = op.op == TN_OP_INDEX || op.op == TN_OP_LOOP;
  if (is_index && dtype_bytes(op.dtype) * 8 > p.index_bits) {
    return fmt::format("expected an index of at most {} bits, got {}", p.index_bits,
                       dtype_text(op.dtype));
  }
  if (op.lanes == 0) return {};
  const bool is_compare = info.kind == OpKind::COMPARE;
  const uint8_t dtype = is_compare ? program.op(program.operands(op)[0]).dtype : op.dtype;
  const bool is_arithmetic = is_elementwise(info) && op.op != TN_OP_CAST && op.op != TN_OP_WHERE;
  const bool is_combined =
      is_arithmetic || op.op == TN_OP_LANE_REDUCE || op.op == TN_OP_SUBGROUP_REDUCE;
  const uint32_t flags = dtype_flags(p, dtype);
  if (is_combined && !(flags & TN_DTYPE_ARITHMETIC)) {
    return fmt::format("expected arithmetic on {} to be claimed", dtype_text(dtype));
  }
  if (op.op == TN_OP_ATOMIC && !(flags & TN_DTYPE_ATOMICS)) {
    return fmt::format("expected atomics on {} to be claimed", dtype_text(dtype));
  }
  if (!(flags & (TN_DTYPE_STORAGE | TN_DTYPE_ARITHMETIC))) {
    return fmt::format("expected {} to be claimed", dtype_text(dtype));
  }
  return {};
}

}  // namespace

std::string exceeds_properties(const ProgramView& program, const tn_properties& properties) {
  if (auto e = exceeds_limits(program, properties); !e.empty()) return e;
  for (uint32_t i = 0; i < program.op_count(); ++i) {
    const tn_op& op = program.op(i);
    const std::string e = exceeds_op(program, op, properties);
    if (!e.empty()) return fmt::format("op {} {}: {}", i, op_text(op.op), e);
  }
  return {};
}

}  // namespace tenon::sdk
