// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sdk/program/verify_cooperation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sdk/program/op_info.hpp"
#include "sdk/program/verify_operands.hpp"

namespace tenon::sdk {
namespace {

constexpr uint32_t kLineBytes = 128, kPatternBytes = 8 * kLineBytes;
constexpr uint64_t kMostGroups = 64;  ///< asynchronous copies in flight

std::string check_count(const tn_op& op, uint32_t count) {
  if (op.operand_count == count) return {};
  return fmt::format("expected {} operands, got {}", count, op.operand_count);
}

/// Whole subgroups take part.
std::string check_subgroup(const ProgramView& program) {
  const tn_program& header = program.header();
  const uint32_t* size = header.workgroup;
  const uint64_t threads = uint64_t{size[0]} * size[1] * size[2];
  if (header.subgroup_size && threads % header.subgroup_size == 0) return {};
  return fmt::format(
      "expected a subgroup size that divides the {} threads of the workgroup, got {}", threads,
      header.subgroup_size);
}

std::string check_subgroup_op(const ProgramView& program, const tn_op& op) {
  if (auto e = expect_operand(program, op, 0, op.dtype, op.lanes); !e.empty()) return e;
  switch (op.op) {
    case TN_OP_SUBGROUP_SHUFFLE:
      if (op.imm) return fmt::format("expected imm 0, got {}", op.imm);
      return expect_counter(program, op, 1);
    case TN_OP_SUBGROUP_REDUCE:
      if (op.imm == TN_OP_ADD || op.imm == TN_OP_MUL || op.imm == TN_OP_MAX) return {};
      return fmt::format("expected add, mul or max, got {}", op.imm);
    default:
      if (op.imm < program.header().subgroup_size) return {};
      return fmt::format("expected a lane below {}, got {}", program.header().subgroup_size,
                         op.imm);
  }
}

/// [buffer, index, stride], and the fragment of a store.
std::string check_matrix_access(const ProgramView& program, const tn_op& op) {
  const bool is_load = op.op == TN_OP_MATRIX_LOAD;
  if (auto e = check_count(op, is_load ? 3 : 4); !e.empty()) return e;
  if ((op.imm & ~(kMatrixAtomBits | TN_MATRIX_ROLE | TN_MATRIX_TRANSPOSED | TN_MATRIX_LINES)) ||
      (op.imm & TN_MATRIX_ROLE) > TN_MATRIX_C) {
    return fmt::format("expected an atom, role and layout, got imm {:#x}", op.imm);
  }
  const tn_op& value = is_load ? op : program.op(program.operands(op)[3]);
  const uint32_t access = is_load ? TN_ACCESS_READ : TN_ACCESS_WRITE;
  if (auto e = expect_access(program, op, 0, access, value.dtype, 1); !e.empty()) return e;
  if (!(op.imm & TN_MATRIX_LINES)) return expect_counter(program, op, 2);
  if (kLineBytes % std::max(1u, dtype_bytes(value.dtype)) != 0)
    return "expected elements that fill a line of 128 bytes";
  const tn_op& buffer = program.op(program.operands(op)[0]);
  const uint32_t alignment = program.param(static_cast<uint32_t>(buffer.imm)).alignment;
  if (alignment % kPatternBytes != 0)
    return fmt::format("expected lines in memory aligned to {} bytes, got {}", kPatternBytes,
                       alignment);
  return expect_counter(program, op, 2);
}

std::string check_async_copy(const ProgramView& program, const tn_op& op) {
  if (auto e = check_count(op, 4); !e.empty()) return e;
  const tn_op& to = program.op(program.operands(op)[0]);
  if (auto e = expect_access(program, op, 0, TN_ACCESS_WRITE, to.dtype, 1); !e.empty()) return e;
  if (auto e = expect_access(program, op, 2, TN_ACCESS_READ, to.dtype, 1); !e.empty()) return e;
  const auto space = [&](uint32_t k) {
    return program.param(static_cast<uint32_t>(program.op(program.operands(op)[k]).imm)).space;
  };
  if (space(0) != TN_SPACE_SHARED || (space(2) != TN_SPACE_GLOBAL && space(2) != TN_SPACE_CONSTANT))
    return "expected to copy from a buffer to shared memory";
  const bool is_size = op.imm == 4 || op.imm == 8 || op.imm == 16;
  if (is_size && op.imm % dtype_bytes(to.dtype) == 0) return {};
  return fmt::format("expected 4, 8 or 16 bytes in whole elements, got {}", op.imm);
}

}  // namespace

bool is_cooperation(uint16_t op) {
  return (op >= TN_OP_SUBGROUP_SHUFFLE && op <= TN_OP_SUBGROUP_BROADCAST) ||
         (op >= TN_OP_MATRIX_LOAD && op <= TN_OP_MATRIX_STORE) ||
         (op >= TN_OP_ASYNC_COPY && op <= TN_OP_ASYNC_WAIT);
}

std::string check_cooperation(const ProgramView& program, const tn_op& op) {
  if (op.op < TN_OP_ASYNC_COPY) {
    if (auto e = check_subgroup(program); !e.empty()) return e;
  }
  switch (op.op) {
    case TN_OP_MATRIX_LOAD:
    case TN_OP_MATRIX_STORE:
      return check_matrix_access(program, op);
    case TN_OP_MATRIX_MULTIPLY:
      if (op.imm & ~kMatrixAtomBits) return fmt::format("expected an atom, got imm {:#x}", op.imm);
      return expect_operand(program, op, 2, op.dtype, op.lanes);
    case TN_OP_ASYNC_COPY:
      return check_async_copy(program, op);
    case TN_OP_ASYNC_COMMIT:
      return op.imm ? fmt::format("expected imm 0, got {}", op.imm) : std::string();
    case TN_OP_ASYNC_WAIT:
      if (op.imm <= kMostGroups) return {};
      return fmt::format("expected at most {} groups, got {}", kMostGroups, op.imm);
    default:
      return check_subgroup_op(program, op);
  }
}

/// A value may be of the role, or no fragment; an unknown role is learnt.
std::string FragmentRoles::join(uint64_t& role, uint32_t value) const {
  const uint64_t got = roles_[value];
  if (got == 0 || got == role) return {};
  if (role) return fmt::format("expected a fragment of the same atom and role, got %{}", value);
  role = got;
  return {};
}

std::string FragmentRoles::check(uint32_t i, const tn_op& op) {
  const auto operands = program_.operands(op);
  uint64_t role = 0;
  switch (op.op) {
    case TN_OP_MATRIX_LOAD:
      roles_[i] = kMatrixFragment | (op.imm & (kMatrixAtomBits | TN_MATRIX_ROLE));
      return {};
    case TN_OP_MATRIX_STORE:
      role = kMatrixFragment | (op.imm & (kMatrixAtomBits | TN_MATRIX_ROLE));
      return join(role, operands[3]);
    case TN_OP_MATRIX_MULTIPLY:
      for (uint64_t k = 0; k < 3; ++k) {
        role = kMatrixFragment | op.imm | k << 32;
        if (auto e = join(role, operands[k]); !e.empty()) return e;
      }
      roles_[i] = role;
      return {};
    case TN_OP_CARRY: {
      const tn_op& loop = program_.op(operands[0]);
      roles_[i] = roles_[program_.operands(loop)[3 + op.imm]];
      return {};
    }
    case TN_OP_LOOP:
    case TN_OP_END:
    case TN_OP_EXTRACT:
      return {};  // see CARRY and check_next; what a lane holds is no fragment
    default:
      break;
  }
  const bool is_lanewise = is_elementwise(*op_info(op.op));
  for (uint32_t value : operands) {
    if (!is_lanewise && roles_[value]) {
      return fmt::format("expected no matrix fragment as operand, got %{}", value);
    }
    if (auto e = join(role, value); !e.empty()) return e;
  }
  roles_[i] = role;
  return {};
}

std::string FragmentRoles::check_next(uint32_t loop, const tn_op& end) {
  const uint32_t carries = program_.op(loop).operand_count - 3u;
  for (uint32_t k = 0; k < carries; ++k) {
    if (auto e = join(roles_[loop + 1 + k], program_.operands(end)[k]); !e.empty()) return e;
  }
  return {};
}

}  // namespace tenon::sdk
