// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hands a program to an IR builder (builder.hpp), op by op: regions, carried values, masks, lanes,
// and every rule of program.h and ops.def on numbers. A vector is its lanes, one value each.
//
// Ops by which threads work together (ATOMIC, BARRIER, subgroups, matrices) are refused: a backend
// that walks claims kWalkOps and workgroups of one thread.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "sdk/program/view.hpp"
#include "sdk/walk/elementwise.hpp"

namespace tenon::sdk {

template <IrBuilder B>
class Walk : Elementwise<B> {
 public:
  Walk(const ProgramView& program, B& builder)
      : Elementwise<B>(builder), program_(program), values_(program.op_count()) {}

  void run() {
    for (uint32_t i = 0; i < program_.op_count(); ++i) {
      const tn_op& op = program_.op(i);
      if (is_elementwise(*op_info(op.op))) {
        each_lane(i, [&](uint32_t lane) { return elementwise(op, lane); });
      } else {
        other(i, op);
      }
    }
  }

 private:
  using typename Elementwise<B>::Value;
  using Variable = typename B::Variable;
  using Elementwise<B>::b, Elementwise<B>::integer, Elementwise<B>::cast, Elementwise<B>::apply;

  /// An open LOOP (with its counter and carried values) or IF.
  struct Region {
    uint32_t opener;
    std::vector<Variable> counter;
    std::vector<std::vector<Variable>> carries;  ///< [carry][lane]
  };

  /// A lane of a value. A value of one lane is used for all.
  const Value& lane(uint32_t value, uint32_t lane) const {
    const auto& lanes = values_[value];
    return lanes.size() > 1 ? lanes[lane] : lanes[0];
  }
  uint8_t dtype(uint32_t value) const { return program_.op(value).dtype; }
  Value as_long(uint32_t value, uint32_t l) {
    return cast(lane(value, l), dtype(value), TN_DTYPE_I64);
  }

  template <class Each>
  void each_lane(uint32_t i, const Each& each) {
    for (uint32_t l = 0; l < program_.op(i).lanes; ++l) values_[i].push_back(each(l));
  }

  Value elementwise(const tn_op& op, uint32_t l) {
    const auto operands = program_.operands(op);
    const uint8_t from = dtype(operands.back());
    if (op.op == TN_OP_CAST) {
      return op.imm == TN_CAST_BITS ? this->bit_cast(lane(operands[0], l), from, op.dtype)
                                    : cast(lane(operands[0], l), from, op.dtype);
    }
    std::vector<Value> x;
    for (const uint32_t operand : operands) x.push_back(lane(operand, l));
    return apply(op.op, from, op.dtype, std::move(x));
  }

  void other(uint32_t i, const tn_op& op) {
    const auto operands = program_.operands(op);
    switch (op.op) {
      case TN_OP_CONST:
        return each_lane(i, [&](uint32_t) { return this->constant(op.dtype, op.imm); });
      case TN_OP_PARAM: {
        const auto param = static_cast<uint32_t>(op.imm);
        const bool is_scalar = program_.param(param).kind == TN_PARAM_SCALAR;
        values_[i] = {is_scalar ? this->from_word(b.scalar(param), op.dtype) : b.memory(param)};
        return;
      }
      case TN_OP_INDEX:
        return each_lane(i, [&](uint32_t l) { return coordinate(op, l); });
      case TN_OP_TAKE:
        return load(i, op);
      case TN_OP_STORE:
        return store(op);
      case TN_OP_BROADCAST:
        return each_lane(i, [&](uint32_t) { return lane(operands[0], 0); });
      case TN_OP_EXTRACT:
        values_[i] = {lane(operands[0], static_cast<uint32_t>(op.imm))};
        return;
      case TN_OP_COMPOSE:
        return each_lane(i, [&](uint32_t l) { return lane(operands[l], 0); });
      case TN_OP_LANE_REDUCE: {
        Value out = lane(operands[0], 0);
        for (uint32_t l = 1; l < program_.op(operands[0]).lanes; ++l)  // in order
          out =
              apply(static_cast<uint16_t>(op.imm), op.dtype, op.dtype, {out, lane(operands[0], l)});
        values_[i] = {out};
        return;
      }
      case TN_OP_LOOP:
        return open_loop(i, operands);
      case TN_OP_CARRY:
        return read_carry(i, static_cast<uint32_t>(op.imm), regions_.back());
      case TN_OP_IF:
        b.begin_if(lane(operands[0], 0));
        regions_.push_back({i, {}, {}});
        return;
      case TN_OP_ELSE:
        return b.begin_else();
      case TN_OP_END:
        return close(operands);
      default:
        throw Failure(TN_ERROR_UNSUPPORTED, "walk: has no form of " + std::string(op_text(op.op)));
    }
  }

  Value coordinate(const tn_op& op, uint32_t l) {
    if (op.imm == TN_AXIS_LANE) return integer(kind_of(op.dtype), l);
    return cast(b.coordinate(static_cast<tn_axis>(op.imm)), TN_DTYPE_I64, op.dtype);
  }

  // ---- Memory ----
  /// The index of a lane's element: consecutive from a scalar index, else that of the lane.
  Value element(const tn_op& op, uint32_t l) {
    const uint32_t index = program_.operands(op)[1];
    const Value at = as_long(index, l);
    return l && program_.op(index).lanes == 1 ? this->plus(Kind::kI64, at, l) : at;
  }
  /// Calls `each` for every lane, guarded by the mask of all or of each.
  void guarded_lanes(uint32_t lanes, const uint32_t* mask,
                     const std::function<void(uint32_t)>& each) {
    const bool is_common = mask && program_.op(*mask).lanes == 1;
    if (is_common) b.begin_if(lane(*mask, 0));
    for (uint32_t l = 0; l < lanes; ++l) {
      if (mask && !is_common) b.begin_if(lane(*mask, l));
      each(l);
      if (mask && !is_common) b.end_if();
    }
    if (is_common) b.end_if();
  }

  void load(uint32_t i, const tn_op& op) {
    const auto operands = program_.operands(op);
    const auto loaded = [&](uint32_t l) {
      const Value out = b.load(storage_of(op.dtype), lane(operands[0], 0), element(op, l));
      return is_signed(op.dtype) && kind_of(op.dtype) == Kind::kI32 ? this->extended(out, op.dtype)
                                                                    : out;
    };
    if (operands.size() == 2) return each_lane(i, loaded);
    std::vector<Variable> to;
    for (uint32_t l = 0; l < op.lanes; ++l) {
      to.push_back(b.variable(kind_of(op.dtype)));
      b.set(to[l], operands.size() > 3 ? lane(operands[3], l) : this->constant(op.dtype, 0));
    }
    guarded_lanes(op.lanes, &operands[2], [&](uint32_t l) { b.set(to[l], loaded(l)); });
    each_lane(i, [&](uint32_t l) { return b.get(to[l]); });
  }

  void store(const tn_op& op) {
    const auto operands = program_.operands(op);
    const uint8_t type = dtype(operands[2]);
    guarded_lanes(program_.op(operands[2]).lanes, operands.size() > 3 ? &operands[3] : nullptr,
                  [&](uint32_t l) {
                    b.store(storage_of(type), lane(operands[0], 0), element(op, l),
                            lane(operands[2], l));
                  });
  }

  // ---- Regions ----
  void open_loop(uint32_t i, std::span<const uint32_t> operands) {
    Region loop{i, {b.variable(kind_of(dtype(i)))}, {}};
    b.set(loop.counter[0], lane(operands[0], 0));
    for (const uint32_t initial : operands.subspan(3)) {
      auto& lanes = loop.carries.emplace_back();
      for (const Value& value : values_[initial]) {
        lanes.push_back(b.variable(kind_of(dtype(initial))));
        b.set(lanes.back(), value);
      }
    }
    b.begin_loop();
    const Kind kind = kind_of(dtype(i));
    values_[i] = {b.get(loop.counter[0])};
    b.leave_unless(this->less(kind, values_[i][0], lane(operands[1], 0)));
    regions_.push_back(std::move(loop));
  }

  void read_carry(uint32_t i, uint32_t carry, const Region& loop) {
    values_[i].clear();
    for (const Variable& variable : loop.carries[carry]) values_[i].push_back(b.get(variable));
  }

  void close(std::span<const uint32_t> next) {
    const Region region = std::move(regions_.back());
    regions_.pop_back();
    const tn_op& opener = program_.op(region.opener);
    if (opener.op == TN_OP_IF) return b.end_if();
    for (size_t k = 0; k < region.carries.size(); ++k) {  // all of `next` are values already
      for (uint32_t l = 0; l < region.carries[k].size(); ++l)
        b.set(region.carries[k][l], lane(next[k], l));
    }
    if (next.size() > region.carries.size()) b.leave_unless(lane(next.back(), 0));
    const auto operands = program_.operands(opener);
    const Kind kind = kind_of(opener.dtype);
    const Value& at = values_[region.opener][0];
    const tn_op& step = program_.op(operands[2]);
    if (step.op != TN_OP_CONST || step.imm != 1) {  // else the last step could overflow
      const Value left = b.binary(Binary::kSub, kind, lane(operands[1], 0), at);
      b.leave_unless(b.compare(Compare::kUnsignedLess, kind, lane(operands[2], 0), left));
    }
    b.set(region.counter[0], b.binary(Binary::kAdd, kind, at, lane(operands[2], 0)));
    b.end_loop();
    for (uint32_t k = 0; k < region.carries.size(); ++k)  // what left the loop
      read_carry(region.opener + 1 + k, k, region);
  }

  ProgramView program_;
  std::vector<std::vector<Value>> values_;  ///< [op][lane]
  std::vector<Region> regions_;
};

/// The program must be verified. Throws Failure(TN_ERROR_UNSUPPORTED) for ops beyond kWalkOps.
template <IrBuilder B>
void walk(const ProgramView& program, B& builder) {
  Walk<B>(program, builder).run();
}

}  // namespace tenon::sdk
