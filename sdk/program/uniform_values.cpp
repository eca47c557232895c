// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A data-flow analysis: starts with all values uniform and iterates to a fixed point, first over
// all ops, then over those whose operands changed. Values computed after threads diverge are
// visible only within the region, except CARRYs of a loop that threads leave in different
// iterations.
#include "sdk/program/uniform_values.hpp"

#include <bit>
#include <functional>
#include <queue>

#include "sdk/program/op_info.hpp"

namespace tenon::sdk {
namespace {

constexpr uint8_t kExactRises = 6;  ///< changes until a value is widened, which bounds further ones

unsigned width_of(uint8_t dtype) { return dtype == TN_DTYPE_BOOL ? 1 : dtype_bytes(dtype) * 8; }
bool is_integral(uint8_t dtype) { return is_integer(dtype) || dtype == TN_DTYPE_BOOL; }

}  // namespace

UniformValues::UniformValues(const ProgramView& program, tn_scope scope)
    : program_(program),
      is_block_(scope == TN_SCOPE_BLOCK),
      is_atomic_(program.param_count()),
      bits_(program.op_count(), VaryingBits{~uint64_t{0}, 0}),
      rises_(program.op_count()),
      is_bounded_(program.op_count(), true),
      is_left_apart_(program.op_count()),
      last_(program.op_count()),
      next_(program.op_count()) {
  const tn_program& header = program.header();
  for (const uint32_t size : header.workgroup) threads_ *= size;
  const uint64_t subgroup = header.subgroup_size;
  thread_ = bits_up_to(threads_ - 1, true);
  if (!is_block_ && subgroup) thread_.varies &= subgroup - 1;
  is_one_subgroup_ = !is_block_ || threads_ <= subgroup;
  for (uint32_t i = 0; i < program.op_count(); ++i) {
    const tn_op& op = program.op(i);
    if (op.op == TN_OP_ATOMIC) is_atomic_[operand_op(op, 0).imm] = true;
  }
  find_users();
  solve();
}

void UniformValues::find_users() {
  std::vector<uint32_t> open;
  const auto each_use = [&](const auto& use) {
    for (uint32_t i = 0; i < program_.op_count(); ++i) {
      const tn_op& op = program_.op(i);
      const auto operands = program_.operands(op);
      if (op.op == TN_OP_LOOP || op.op == TN_OP_IF) open.push_back(i);
      uint32_t user = i;
      for (uint32_t k = 0; k < operands.size(); ++k) {
        if (op.op == TN_OP_LOOP && k >= 3) user = i + 1 + k - 3;
        if (op.op == TN_OP_END) {
          const uint32_t loop = open.back();
          const bool is_carry = k + 3 < program_.op(loop).operand_count;
          user = is_carry ? loop + 1 + k : loop;
          (is_carry ? next_[user] : last_[user]) = operands[k];
        }
        use(operands[k], user);
      }
      if (op.op == TN_OP_END) open.pop_back();
    }
  };
  first_user_.assign(program_.op_count() + 2, 0);
  each_use([&](uint32_t value, uint32_t) { ++first_user_[value + 2]; });
  for (size_t i = 1; i < first_user_.size(); ++i) first_user_[i] += first_user_[i - 1];
  users_.resize(first_user_.back());
  each_use([&](uint32_t value, uint32_t user) { users_[first_user_[value + 1]++] = user; });
}

void UniformValues::solve() {
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> waiting;
  std::vector<bool> is_waiting(program_.op_count());
  const auto visit = [&](uint32_t i, bool is_first) {
    if (!update(i)) return;
    for (uint32_t u = first_user_[i]; u < first_user_[i + 1]; ++u) {
      const uint32_t user = users_[u];
      if ((is_first && user > i) || is_waiting[user]) continue;
      is_waiting[user] = true;
      waiting.push(user);
    }
  };
  for (uint32_t i = 0; i < program_.op_count(); ++i) visit(i, true);
  while (!waiting.empty()) {
    const uint32_t i = waiting.top();
    waiting.pop();
    is_waiting[i] = false;
    visit(i, false);
  }
}

/// Recomputes value i. Whether it, or the bounds of a loop, became less uniform.
bool UniformValues::update(uint32_t i) {
  const tn_op& op = program_.op(i);
  if (!op.lanes) return false;
  VaryingBits now = join(bits_[i], cut(evaluate(i, op), width_of(op.dtype)));
  const bool parts = op.op == TN_OP_LOOP && !ends_equal(i) && !is_left_apart_[i];
  if (parts) is_left_apart_[i] = true;
  if (now == bits_[i]) return parts;
  if (rises_[i] < kExactRises)
    ++rises_[i];
  else
    now = join(now, widened(now, width_of(op.dtype)));
  bits_[i] = now;
  return true;
}

bool UniformValues::any_varies(const tn_op& op) const {
  for (const uint32_t value : program_.operands(op))
    if (bits_[value].varies) return true;
  return false;
}

VaryingBits UniformValues::evaluate(uint32_t i, const tn_op& op) {
  const unsigned width = width_of(op.dtype);
  const bool is_whole_op = is_integral(op.dtype);
  switch (op.op) {
    case TN_OP_CONST:
      return bits_of_constant(op.imm);
    case TN_OP_INDEX:
      return of_index(op);
    case TN_OP_PARAM:
      return of_param(op);
    case TN_OP_TAKE:
      return of_load(op);
    case TN_OP_LOOP:
      return of_loop(i, op);
    case TN_OP_CARRY:
      return of_carry(i, op);
    case TN_OP_CMPLT:
      return of_compare(op);
    case TN_OP_SUBGROUP_SHUFFLE:
    case TN_OP_SUBGROUP_REDUCE:
    case TN_OP_SUBGROUP_BROADCAST:
      return of_subgroup_op(op);
    case TN_OP_ATOMIC:       // each thread gets another old value
    case TN_OP_MATRIX_LOAD:  // each thread gets a part of the fragment
    case TN_OP_MATRIX_MULTIPLY:
      return spread(0, true);
    case TN_OP_BROADCAST:
    case TN_OP_EXTRACT:
      return operand(op, 0);
    default:
      break;
  }
  if (!is_whole_op || !is_elementwise(*op_info(op.op))) return spread(0, any_varies(op));
  switch (op.op) {
    case TN_OP_CAST: {
      const uint8_t from = operand_op(op, 0).dtype;
      if (!is_integral(from) || (op.dtype == TN_DTYPE_BOOL && from != TN_DTYPE_BOOL)) break;
      return bits_of_cast(operand(op, 0), width_of(from), is_signed(from), width);
    }
    case TN_OP_ADD:
      if (op.dtype == TN_DTYPE_BOOL) return bits_of_or(operand(op, 0), operand(op, 1));
      return of_index_sum(op, bits_of_add(operand(op, 0), operand(op, 1), width));
    case TN_OP_SUB:
      return bits_of_sub(operand(op, 0), operand(op, 1), width);
    case TN_OP_NEG:
      return bits_of_sub(bits_of_constant(0), operand(op, 0), width);
    case TN_OP_MUL:
      return of_index_sum(op, bits_of_mul(operand(op, 0), operand(op, 1), width));
    case TN_OP_AND:
      return bits_of_and(operand(op, 0), operand(op, 1));
    case TN_OP_OR:
    case TN_OP_XOR:
      return bits_of_or(operand(op, 0), operand(op, 1));
    case TN_OP_WHERE:
      return bits_of_where(operand(op, 0).varies != 0, operand(op, 1), operand(op, 2));
    case TN_OP_MIN:
    case TN_OP_MAX:
      return bits_of_where(any_varies(op), operand(op, 0), operand(op, 1));
    case TN_OP_IDIV:
    case TN_OP_MOD:
      return of_division(op, width);
    case TN_OP_SHL:
    case TN_OP_SHR:
      return of_shift(op, width);
    default:
      break;
  }
  return spread(0, any_varies(op));
}

VaryingBits UniformValues::of_index(const tn_op& op) const {
  const tn_program& header = program_.header();
  const uint64_t subgroup = header.subgroup_size;
  switch (op.imm) {
    case TN_AXIS_GRID_X:
    case TN_AXIS_GRID_Y:
    case TN_AXIS_GRID_Z:
      return bits_up_to(op.dtype == TN_DTYPE_I32 ? INT32_MAX : UINT32_MAX, false);
    case TN_AXIS_BLOCK_X:
    case TN_AXIS_BLOCK_Y:
    case TN_AXIS_BLOCK_Z: {
      VaryingBits at = thread_;
      for (uint64_t axis = 0; axis < op.imm - TN_AXIS_BLOCK_X; ++axis)
        at = bits_of_idiv(at, header.workgroup[axis], 64, false);
      return bits_of_mod(at, header.workgroup[op.imm - TN_AXIS_BLOCK_X], 64, false);
    }
    case TN_AXIS_LANE:
      return bits_up_to(op.lanes - 1u, false);
    case TN_AXIS_SUBGROUP:
      if (subgroup) return bits_of_idiv(thread_, subgroup, 64, false);
      return bits_up_to(threads_ - 1, is_block_);
    case TN_AXIS_SUBGROUP_LANE:
      if (subgroup) return bits_of_mod(thread_, subgroup, 64, false);
      return bits_up_to(threads_ - 1, true);
    default:
      return spread(0, true);
  }
}

VaryingBits UniformValues::of_param(const tn_op& op) const {
  const tn_param& param = program_.param(static_cast<uint32_t>(op.imm));
  const bool is_bounded = param.kind == TN_PARAM_SCALAR && is_integer(op.dtype);
  if (!is_bounded || param.minimum < 0) return spread(0, false);
  return bits_up_to(static_cast<uint64_t>(param.maximum), false);
}

/// Threads that load one address get one value, as a write between the surrounding barriers would
/// be a race. Exceptions are memory that atomics change, and private memory.
VaryingBits UniformValues::of_load(const tn_op& op) const {
  const auto number = static_cast<uint32_t>(operand_op(op, 0).imm);
  const uint32_t space = program_.param(number).space;
  const bool is_own = space == TN_SPACE_REGISTER || space == TN_SPACE_SCRATCH;
  return spread(0, is_own || is_atomic_[number] || any_varies(op));
}

/// The induction variable in one iteration. Its test is uniform if begin differs only in bits below
/// those of step and end.
VaryingBits UniformValues::of_loop(uint32_t i, const tn_op& op) {
  const unsigned width = width_of(op.dtype);
  const VaryingBits& begin = operand(op, 0);
  const VaryingBits& end = operand(op, 1);
  VaryingBits at = bits_of_steps(begin, operand(op, 2), width);
  if (less_varies(at, end, width, true)) is_bounded_[i] = false;
  const uint64_t sign = uint64_t{1} << (width - 1);
  if (begin.zero & end.zero & sign)
    at.zero |= ~low_bits(static_cast<unsigned>(std::bit_width(~end.zero)));
  return cut(at, width);
}

VaryingBits UniformValues::of_carry(uint32_t i, const tn_op& op) const {
  const uint32_t loop = program_.operands(op)[0];
  const uint32_t first = program_.operands(program_.op(loop))[3 + op.imm];
  const VaryingBits out = join(bits_[first], bits_[next_[i]]);
  return ends_equal(loop) ? out : spread(out.zero, true);
}

/// A sum or product of non-negative numbers that fits its dtype is non-negative.
VaryingBits UniformValues::of_index_sum(const tn_op& op, VaryingBits bits) const {
  const uint64_t sign = uint64_t{1} << (width_of(op.dtype) - 1);
  const bool fits = (op.flags & TN_OP_NO_WRAP) && is_signed(op.dtype);
  if (fits && (operand(op, 0).zero & operand(op, 1).zero & sign)) bits.zero |= sign;
  bits.varies &= ~bits.zero;
  return bits;
}

VaryingBits UniformValues::of_compare(const tn_op& op) const {
  const uint8_t dtype = operand_op(op, 0).dtype;
  if (!is_integer(dtype)) return spread(0, any_varies(op));
  const unsigned width = width_of(dtype);
  const bool is_signed_op = is_signed(dtype);
  const tn_op& left = operand_op(op, 0);
  const uint64_t highest = low_bits(width - is_signed_op);
  if (left.op == TN_OP_CONST && left.imm != highest) {  // c < x is not x < c + 1
    const VaryingBits above = cut(bits_of_constant(left.imm + 1), width);
    return spread(0, less_varies(operand(op, 1), above, width, is_signed_op));
  }
  return spread(0, less_varies(operand(op, 0), operand(op, 1), width, is_signed_op));
}

VaryingBits UniformValues::of_division(const tn_op& op, unsigned width) const {
  const tn_op& by = operand_op(op, 1);
  if (by.op != TN_OP_CONST) return spread(0, any_varies(op));
  const bool is_signed_op = is_signed(op.dtype);
  const bool is_above_zero = by.imm && !(is_signed_op && by.imm >> (width - 1) & 1);
  if (!is_above_zero) return spread(0, any_varies(op));
  const auto bits = op.op == TN_OP_IDIV ? bits_of_idiv : bits_of_mod;
  return bits(operand(op, 0), by.imm, width, is_signed_op);
}

VaryingBits UniformValues::of_shift(const tn_op& op, unsigned width) const {
  const tn_op& by = operand_op(op, 1);
  if (by.op != TN_OP_CONST) return spread(0, any_varies(op));
  if (op.op == TN_OP_SHL) return bits_of_shl(operand(op, 0), by.imm, width);
  return bits_of_shr(operand(op, 0), by.imm, width, is_signed(op.dtype));
}

/// Uniform in the subgroup, except a shuffle from different lanes.
VaryingBits UniformValues::of_subgroup_op(const tn_op& op) const {
  const bool is_given_to_all =
      is_one_subgroup_ && (op.op != TN_OP_SUBGROUP_SHUFFLE || !operand(op, 1).varies);
  return spread(0, operand(op, 0).varies && !is_given_to_all);
}

}  // namespace tenon::sdk
