// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One walk over the ops checks regions and visibility with a stack, then dtypes and lanes.
// Uniformity is checked last.
#include "sdk/program/verify_ops.hpp"

#include <fmt/format.h>

#include <vector>

#include "sdk/program/dot.hpp"
#include "sdk/program/op_info.hpp"
#include "sdk/program/verify_cooperation.hpp"
#include "sdk/program/verify_operands.hpp"
#include "sdk/program/verify_uniform.hpp"

namespace tenon::sdk {
namespace {

struct Region {
  uint32_t opener;       ///< the LOOP or IF
  bool is_else = false;  ///< of an IF
  size_t visible = 0;    ///< size of the stack of visible values when it opened
};

class OpVerifier {
 public:
  explicit OpVerifier(const ProgramView& program)
      : program_(program), is_visible_(program.op_count(), false), fragments_(program) {}

  std::string run(uint32_t& at) {
    for (uint32_t i = 0; i < program_.op_count(); ++i) {
      const tn_op& op = program_.op(i);
      at = i;
      std::string error = check(i, op);
      if (!error.empty()) return fmt::format("op {} {}: {}", i, op_text(op.op), error);
    }
    if (!regions_.empty()) {
      return fmt::format("op {}: expected an end that closes it", regions_.back().opener);
    }
    if (next_param_ != program_.param_count()) {
      return fmt::format("param {}: expected a param op for it", next_param_);
    }
    return {};
  }

 private:
  std::string check(uint32_t i, const tn_op& op) {
    const OpInfo* info = op_info(op.op);
    if (!info) return fmt::format("expected a known op, got code {}", op.op);
    if (info->level == OpLevel::GRAPH) return "expected an op of programs, got one of graphs";
    if (info->kind == OpKind::RESERVED && !is_cooperation(op.op) && op.op != TN_OP_DOT) {
      return "reserved in format version 1";
    }
    if (op.reserved0 || op.reserved1 || op.attributes) return "expected reserved fields to be 0";
    if (auto e = check_operands(op); !e.empty()) return e;
    if (waiting_carries_ && op.op != TN_OP_CARRY) {
      return fmt::format("expected {} more carry ops after the loop", waiting_carries_);
    }
    if (auto e = check_shape(*info, op); !e.empty()) return e;
    if (auto e = check_flags(*info, op); !e.empty()) return e;
    if (auto e = check_kind(i, *info, op); !e.empty()) return e;
    if (auto e = fragments_.check(i, op); !e.empty()) return e;
    if (op.lanes && op.op != TN_OP_LOOP) show(i);
    return {};
  }

  std::string check_operands(const tn_op& op) {
    const uint64_t total = program_.header().operand_count;
    if (uint64_t{op.operands} + op.operand_count > total) {
      return fmt::format("expected operands within {}, got [{}, {})", total, op.operands,
                         uint64_t{op.operands} + op.operand_count);
    }
    const auto operands = program_.operands(op);
    for (size_t k = 0; k < operands.size(); ++k) {
      const uint32_t value = operands[k];
      if (value >= program_.op_count() || !is_visible_[value]) {
        return fmt::format("expected visible values as operands, got %{}", value);
      }
      if (is_memory(program_, value) && !takes_memory(op.op, k)) {
        return fmt::format("expected values as operands, got the buffer %{}", value);
      }
    }
    return {};
  }

  /// Checks arity, dtype and lanes of the value.
  std::string check_shape(const OpInfo& info, const tn_op& op) {
    const bool is_memory_op = op.op == TN_OP_TAKE || op.op == TN_OP_STORE;
    if (info.arity >= 0 && !is_memory_op && op.operand_count != info.arity) {
      return fmt::format("expected {} operands, got {}", info.arity, op.operand_count);
    }
    const bool is_void = op.op == TN_OP_STORE || op.op == TN_OP_END || op.op == TN_OP_ELSE ||
                         op.op == TN_OP_BARRIER || op.op == TN_OP_IF ||
                         op.op == TN_OP_MATRIX_STORE ||
                         (op.op >= TN_OP_ASYNC_COPY && op.op <= TN_OP_ASYNC_WAIT);
    if (is_void) {
      return op.dtype == TN_DTYPE_VOID && op.lanes == 0
                 ? std::string()
                 : fmt::format("expected no value, got dtype {} lanes {}", op.dtype, op.lanes);
    }
    if (!is_usable(op.dtype)) return fmt::format("expected a known dtype, got {}", op.dtype);
    if (op.lanes < 1 || op.lanes > kMaxProgramLanes) {
      return fmt::format("expected 1 to {} lanes, got {}", kMaxProgramLanes, op.lanes);
    }
    return {};
  }

  std::string check_flags(const OpInfo& info, const tn_op& op) {
    uint32_t allowed = 0;
    if (is_elementwise(info) || op.op == TN_OP_LANE_REDUCE) allowed = TN_OP_APPROXIMATE;
    if (op.op == TN_OP_ADD || op.op == TN_OP_SUB) allowed |= TN_OP_CONTRACT;
    if (op.op == TN_OP_ADD || op.op == TN_OP_SUB || op.op == TN_OP_MUL) allowed |= TN_OP_NO_WRAP;
    if (op.op == TN_OP_TAKE || op.op == TN_OP_STORE) allowed = TN_OP_STREAM | TN_OP_ALIGNED;
    if (op.op == TN_OP_LOOP) allowed = TN_OP_UNROLL | TN_OP_WHILE;
    if (op.flags & ~allowed) {
      return fmt::format("expected flags within {:#x}, got {:#x}", allowed, op.flags);
    }
    return {};
  }

  std::string check_kind(uint32_t i, const OpInfo& info, const tn_op& op) {
    switch (info.kind) {
      case OpKind::LEAF:
        return check_leaf(op);
      case OpKind::UNARY:
      case OpKind::BINARY:
      case OpKind::COMPARE:
      case OpKind::TERNARY:
        return check_elementwise(info, op);
      case OpKind::MEMORY:
        return check_memory(op);
      case OpKind::CONTROL:
        return check_control(i, op);
      case OpKind::VECTOR:
        return check_vector(op);
      case OpKind::SYNC:
        return op.op == TN_OP_BARRIER ? check_barrier(op) : check_atomic(op);
      case OpKind::MOVE:
      case OpKind::REDUCE:
        break;
      case OpKind::MATRIX:
      case OpKind::RESERVED:
        return op.op == TN_OP_DOT ? check_dot(program_, op) : check_cooperation(program_, op);
    }
    return "not an op of programs";
  }

  std::string check_leaf(const tn_op& op) {
    switch (op.op) {
      case TN_OP_CONST: {
        const uint32_t bits = op.dtype == TN_DTYPE_BOOL ? 1 : dtype_bytes(op.dtype) * 8;
        if (bits < 64 && op.imm >> bits) {
          return fmt::format("expected a value of {} bits, got {:#x}", bits, op.imm);
        }
        return {};
      }
      case TN_OP_PARAM: {
        if (op.imm != next_param_ || op.imm >= program_.param_count()) {
          return fmt::format("expected param {} of {}, got {}", next_param_, program_.param_count(),
                             op.imm);
        }
        const tn_param& param = program_.param(next_param_++);
        if (op.dtype != param.dtype || op.lanes != 1) {
          return fmt::format("expected {} with 1 lane, got {} with {}",
                             dtype_text(static_cast<uint8_t>(param.dtype)), dtype_text(op.dtype),
                             op.lanes);
        }
        return {};
      }
      case TN_OP_INDEX:
        break;
      default:
        return "not a leaf of programs";
    }
    if (!is_counter(op.dtype)) return "expected dtype i32 or i64";
    if (op.imm > TN_AXIS_SUBGROUP_LANE && op.imm != TN_AXIS_CPU_THREAD) {
      return fmt::format("expected an axis of version 1, got {}", op.imm);
    }
    if (op.imm != TN_AXIS_LANE && op.lanes != 1) {
      return fmt::format("expected 1 lane, got {}", op.lanes);
    }
    return {};
  }

  const tn_op& operand(const tn_op& op, uint32_t k) const {
    return program_.op(program_.operands(op)[k]);
  }

  std::string expect(const tn_op& op, uint32_t k, uint8_t dtype, uint32_t lanes) const {
    return expect_operand(program_, op, k, dtype, lanes);
  }

  std::string check_elementwise(const OpInfo& info, const tn_op& op) {
    if (op.op != TN_OP_CAST && op.imm) return fmt::format("expected imm 0, got {}", op.imm);
    if (op.op == TN_OP_CAST) {
      const uint8_t from = operand(op, 0).dtype;
      if (op.imm > TN_CAST_BITS) return fmt::format("expected imm 0 or 1, got {}", op.imm);
      if (op.imm == TN_CAST_BITS && dtype_bytes(from) != dtype_bytes(op.dtype)) {
        return fmt::format("expected a bit cast of equal size, got {} to {}", dtype_text(from),
                           dtype_text(op.dtype));
      }
      return expect(op, 0, from, op.lanes);
    }
    uint32_t first = 0;
    if (op.op == TN_OP_WHERE) {
      if (auto e = expect(op, 0, TN_DTYPE_BOOL, op.lanes); !e.empty()) return e;
      first = 1;
    }
    const uint8_t dtype = info.kind == OpKind::COMPARE ? operand(op, 0).dtype : op.dtype;
    if (info.kind == OpKind::COMPARE && op.dtype != TN_DTYPE_BOOL) {
      return fmt::format("expected dtype bool, got {}", dtype_text(op.dtype));
    }
    if (!takes(info.types, dtype)) {
      return fmt::format("does not take {}", dtype_text(dtype));
    }
    for (uint32_t k = first; k < op.operand_count; ++k) {
      if (auto e = expect(op, k, dtype, op.lanes); !e.empty()) return e;
    }
    return {};
  }

  std::string check_mask(const tn_op& op, uint32_t k, uint32_t lanes) {
    const tn_op& mask = operand(op, k);
    return expect(op, k, TN_DTYPE_BOOL, mask.lanes == 1 ? 1 : lanes);
  }

  std::string check_memory(const tn_op& op) {
    const uint32_t least = op.op == TN_OP_TAKE ? 2 : 3;
    if (op.operand_count < least || op.operand_count > 4) {
      return fmt::format("expected {} to 4 operands, got {}", least, op.operand_count);
    }
    if (op.imm) return fmt::format("expected imm 0, got {}", op.imm);
    if (op.op == TN_OP_TAKE) {
      if (auto e = expect_access(program_, op, 0, TN_ACCESS_READ, op.dtype, op.lanes); !e.empty())
        return e;
      if (op.operand_count > 2) {
        if (auto e = check_mask(op, 2, op.lanes); !e.empty()) return e;
      }
      return op.operand_count > 3 ? expect(op, 3, op.dtype, op.lanes) : std::string();
    }
    const tn_op& value = operand(op, 2);
    if (auto e = expect_access(program_, op, 0, TN_ACCESS_WRITE, value.dtype, value.lanes);
        !e.empty())
      return e;
    return op.operand_count > 3 ? check_mask(op, 3, value.lanes) : std::string();
  }

  std::string check_vector(const tn_op& op) {
    if ((op.op == TN_OP_BROADCAST || op.op == TN_OP_COMPOSE) && op.imm) {
      return fmt::format("expected imm 0, got {}", op.imm);
    }
    switch (op.op) {
      case TN_OP_BROADCAST:
        return expect(op, 0, op.dtype, 1);
      case TN_OP_EXTRACT:
        if (op.imm >= operand(op, 0).lanes) {
          return fmt::format("expected a lane below {}, got {}", operand(op, 0).lanes, op.imm);
        }
        break;
      case TN_OP_COMPOSE:
        if (op.operand_count != op.lanes) {
          return fmt::format("expected {} operands, got {}", op.lanes, op.operand_count);
        }
        for (uint32_t k = 0; k < op.operand_count; ++k) {
          if (auto e = expect(op, k, op.dtype, 1); !e.empty()) return e;
        }
        return {};
      case TN_OP_LANE_REDUCE:
        if (op.imm != TN_OP_ADD && op.imm != TN_OP_MUL && op.imm != TN_OP_MAX) {
          return fmt::format("expected add, mul or max, got {}", op.imm);
        }
        break;
      default:
        return "not a vector op of version 1";
    }
    if (op.lanes != 1) return fmt::format("expected 1 lane, got {}", op.lanes);
    return expect(op, 0, op.dtype, operand(op, 0).lanes);
  }

  std::string check_barrier(const tn_op& op) {
    if (op.imm == TN_SCOPE_SUBGROUP || op.imm == TN_SCOPE_BLOCK) return {};
    return fmt::format("expected scope 1 or 2, got {}", op.imm);
  }

  std::string check_atomic(const tn_op& op) {
    const uint64_t kind = op.imm & 0xff, scope = op.imm >> 8;
    if (kind < TN_ATOMIC_ADD || kind > TN_ATOMIC_COMPARE_EXCHANGE || scope < TN_SCOPE_SUBGROUP ||
        scope > TN_SCOPE_BLOCK) {
      return fmt::format("expected an atomic of version 1, got imm {:#x}", op.imm);
    }
    const uint32_t count = kind == TN_ATOMIC_COMPARE_EXCHANGE ? 4 : 3;
    if (op.operand_count != count) {
      return fmt::format("expected {} operands, got {}", count, op.operand_count);
    }
    if (op.lanes != 1 || !takes(OpTypes::NUM, op.dtype)) return "expected a scalar number";
    const uint32_t access = TN_ACCESS_READ | TN_ACCESS_WRITE;
    if (auto e = expect_access(program_, op, 0, access, op.dtype, 1); !e.empty()) return e;
    for (uint32_t k = 2; k < count; ++k) {
      if (auto e = expect(op, k, op.dtype, 1); !e.empty()) return e;
    }
    return {};
  }

  std::string check_control(uint32_t i, const tn_op& op) {
    if (op.op != TN_OP_CARRY && op.imm) return fmt::format("expected imm 0, got {}", op.imm);
    switch (op.op) {
      case TN_OP_IF:
        if (op.operand_count != 1) {
          return fmt::format("expected 1 operand, got {}", op.operand_count);
        }
        if (auto e = expect(op, 0, TN_DTYPE_BOOL, 1); !e.empty()) return e;
        return open(i);
      case TN_OP_ELSE:
        if (regions_.empty() || program_.op(regions_.back().opener).op != TN_OP_IF ||
            regions_.back().is_else) {
          return "expected to be inside an if that has no else yet";
        }
        hide_to(regions_.back().visible);
        regions_.back().is_else = true;
        return {};
      case TN_OP_LOOP:
        return check_loop(i, op);
      case TN_OP_CARRY:
        return check_carry(op);
      case TN_OP_END:
        return check_end(op);
      default:
        return "not a control op of programs";
    }
  }

  std::string open(uint32_t i) {
    if (regions_.size() >= kMaxProgramNesting) {
      return fmt::format("expected regions nested at most {} deep", kMaxProgramNesting);
    }
    regions_.push_back({i, false, stack_.size()});
    return {};
  }

  std::string check_loop(uint32_t i, const tn_op& op) {
    if (op.operand_count < 3) {
      return fmt::format("expected at least 3 operands, got {}", op.operand_count);
    }
    if (!is_counter(op.dtype) || op.lanes != 1) return "expected a scalar i32 or i64";
    for (uint32_t k = 0; k < 3; ++k) {
      if (auto e = expect(op, k, op.dtype, 1); !e.empty()) return e;
    }
    const tn_op& step = operand(op, 2);
    const int shift = op.dtype == TN_DTYPE_I32 ? 32 : 0;  // the sign of an i32 constant
    if (step.op == TN_OP_CONST && static_cast<int64_t>(step.imm << shift) <= 0) {
      return fmt::format("expected a step above 0, got {:#x}", step.imm);
    }
    waiting_carries_ = op.operand_count - 3u;
    if (auto e = open(i); !e.empty()) return e;
    show(i);
    return {};
  }

  std::string check_carry(const tn_op& op) {
    if (!waiting_carries_) return "expected to follow its loop at once";
    const uint32_t loop_value = regions_.back().opener;
    const tn_op& loop = program_.op(loop_value);
    const uint32_t number = loop.operand_count - 3u - waiting_carries_;
    if (program_.operands(op)[0] != loop_value) {
      return fmt::format("expected its loop %{} as operand, got %{}", loop_value,
                         program_.operands(op)[0]);
    }
    if (op.imm != number) return fmt::format("expected imm {}, got {}", number, op.imm);
    --waiting_carries_;
    return expect(loop, 3 + number, op.dtype, op.lanes);
  }

  std::string check_end(const tn_op& op) {
    if (regions_.empty()) return "expected an open region";
    const Region region = regions_.back();
    const tn_op& opener = program_.op(region.opener);
    const bool is_loop = opener.op == TN_OP_LOOP;
    const uint32_t carries = is_loop ? opener.operand_count - 3u : 0;
    const uint32_t expected = carries + (is_loop && (opener.flags & TN_OP_WHILE) ? 1 : 0);
    if (op.operand_count != expected) {
      return fmt::format("expected {} operands, got {}", expected, op.operand_count);
    }
    for (uint32_t k = 0; k < expected; ++k) {
      const tn_op& carry = program_.op(region.opener + 1 + k);
      auto e =
          k < carries ? expect(op, k, carry.dtype, carry.lanes) : expect(op, k, TN_DTYPE_BOOL, 1);
      if (!e.empty()) return e;
    }
    if (is_loop) {
      if (auto e = fragments_.check_next(region.opener, op); !e.empty()) return e;
    }
    hide_to(region.visible);
    regions_.pop_back();
    for (uint32_t k = 0; k < carries; ++k) show(region.opener + 1 + k);
    return {};
  }

  void show(uint32_t value) {
    is_visible_[value] = true;
    stack_.push_back(value);
  }
  void hide_to(size_t height) {
    while (stack_.size() > height) {
      is_visible_[stack_.back()] = false;
      stack_.pop_back();
    }
  }

  ProgramView program_;
  std::vector<bool> is_visible_;
  std::vector<uint32_t> stack_;  ///< visible values, oldest first
  std::vector<Region> regions_;
  FragmentRoles fragments_;
  uint32_t waiting_carries_ = 0;
  uint32_t next_param_ = 0;
};

}  // namespace

std::string verify_ops(const ProgramView& program, uint32_t* out_op) {
  uint32_t at = 0;
  std::string error = OpVerifier(program).run(at);
  if (error.empty()) {
    error = check_uniform(program, at);
    if (!error.empty()) error = fmt::format("op {} {}: {}", at, op_text(program.op(at).op), error);
  }
  if (out_op) *out_op = at;
  return error;
}

}  // namespace tenon::sdk
