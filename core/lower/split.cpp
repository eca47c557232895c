// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/lower/split.hpp"

#include <algorithm>

#include "core/lower/pair_ops.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

DType dtype_of(const tn_op& op) { return static_cast<DType>(op.dtype); }
tn_dtype abi(DType dtype) { return static_cast<tn_dtype>(dtype); }

/// Runs through the program once and says each op again, in words.
class Splitter {
 public:
  using Value = OpTree::Value;

  Splitter(const sdk::ProgramView& program, const Capabilities& capabilities)
      : program_(program), words_(tree_, capabilities), pairs_(tree_, capabilities) {}

  sdk::Program run() {
    for (uint32_t i = 0; i < program_.op_count(); ++i) values_.push_back(say(i, program_.op(i)));
    sdk::ProgramBuilder builder{std::string(program_.name())};
    const auto& size = program_.header().workgroup;
    builder.workgroup(size[0], size[1], size[2]);
    builder.subgroup(program_.header().subgroup_size);
    tree_.write(builder, declare(builder));
    return builder.finish();
  }

 private:
  struct Loop {
    std::vector<uint32_t> carries;  ///< ops of the program
    bool is_loop = false;
  };

  bool is_wide(uint32_t op) const { return tenon::is_wide(dtype_of(program_.op(op))); }

  const tn_param& memory(const tn_op& access) const {
    return program_.param(static_cast<uint32_t>(program_.op(program_.operands(access)[0]).imm));
  }

  std::vector<uint32_t> declare(sdk::ProgramBuilder& builder) const {
    std::vector<uint32_t> out;
    for (uint32_t p = 0; p < program_.param_count(); ++p) {
      const tn_param& param = program_.param(p);
      const std::string_view name = program_.string(param.name);
      const bool wide = tenon::is_wide(static_cast<DType>(param.dtype));
      const auto dtype = wide ? TN_DTYPE_U32 : static_cast<tn_dtype>(param.dtype);
      const uint64_t count = wide ? 2 * param.count : param.count;
      if (param.kind == TN_PARAM_SCALAR) {
        if (wide) refuse(fmt::format("the scalar {}", name));
        out.push_back(builder.scalar(name, dtype, param.minimum, param.maximum));
      } else if (param.kind == TN_PARAM_ALLOC) {
        out.push_back(builder.allocate(name, dtype, static_cast<tn_space>(param.space), count,
                                       param.alignment));
      } else {
        out.push_back(builder.buffer(name, dtype, param.access, count, param.alignment,
                                     static_cast<tn_space>(param.space)));
      }
    }
    return out;
  }

  [[noreturn]] void refuse(const std::string& what) const {
    fail(ErrorKind::kInternal,
         "[lower] kernel {}: expected 64-bit integers that can be two words, got {}",
         program_.name(), what);
  }

  std::vector<Value> plain(std::span<const uint32_t> operands) const {
    std::vector<Value> out;
    for (const uint32_t v : operands) out.push_back(values_[v].low);
    return out;
  }

  /// Each wide operand as its two words.
  std::vector<Value> both(std::span<const uint32_t> operands) const {
    std::vector<Value> out;
    for (const uint32_t v : operands) {
      out.push_back(values_[v].low);
      if (is_wide(v)) out.push_back(values_[v].high);
    }
    return out;
  }

  Pair say(uint32_t i, const tn_op& op) {
    const auto operands = program_.operands(op);
    switch (op.op) {
      case TN_OP_PARAM:
        return {tree_.param(is_wide(i) ? TN_DTYPE_U32 : abi(dtype_of(op)), op.imm)};
      case TN_OP_TAKE:
        return load(i, op, operands);
      case TN_OP_STORE:
        store(op, operands);
        return {};
      case TN_OP_ASYNC_COPY: {
        std::vector<Value> in = plain(operands);
        if (is_wide(operands[0])) in[1] = place(in[1], 1), in[3] = place(in[3], 1);
        tree_.effect(TN_OP_ASYNC_COPY, in, op.imm, op.flags);
        return {};
      }
      case TN_OP_ATOMIC:
        if (is_wide(operands[0])) refuse("an atomic");
        return {tree_.atomic(abi(dtype_of(op)), plain(operands), op.imm)};
      case TN_OP_LOOP:
        return {begin_loop(i, operands)};
      case TN_OP_CARRY: {
        open_.back().carries.push_back(i);
        const Value low = carry_;
        carry_ += is_wide(i) ? 2 : 1;
        return {low, low + 1};
      }
      case TN_OP_IF:
        tree_.begin_if(values_[operands[0]].low);
        open_.emplace_back();
        return {};
      case TN_OP_ELSE:
        tree_.begin_else();
        return {};
      case TN_OP_END:
        close(operands);
        return {};
      default:
        break;
    }
    const bool wide = (op.lanes && is_wide(i)) ||
                      std::ranges::any_of(operands, [&](uint32_t v) { return is_wide(v); });
    if (wide) return computed(i, op, operands);
    if (op.lanes == 0) {
      tree_.effect(static_cast<tn_opcode>(op.op), plain(operands), op.imm, op.flags);
      return {};
    }
    return {tree_.pure(static_cast<tn_opcode>(op.op), abi(dtype_of(op)), op.lanes, plain(operands),
                       op.imm, op.flags)};
  }

  Value begin_loop(uint32_t i, std::span<const uint32_t> operands) {
    if (is_wide(i)) refuse("the counter of a loop");
    const std::vector<Value> in = both(operands);
    const Value loop = tree_.begin_loop(in[0], in[1], in[2], std::span(in).subspan(3));
    open_.push_back({{}, true});
    carry_ = loop + 1;
    return tree_.position(loop);
  }

  void close(std::span<const uint32_t> operands) {
    const Loop loop = std::move(open_.back());
    open_.pop_back();
    if (!loop.is_loop) return tree_.end_if();
    const std::vector<Value> results = tree_.end_loop(both(operands));
    size_t at = 0;
    for (const uint32_t carry : loop.carries) {
      values_[carry].low = results[at++];
      if (is_wide(carry)) values_[carry].high = results[at++];
    }
  }

  /// An op without effects that takes or gives a wide value.
  Pair computed(uint32_t i, const tn_op& op, std::span<const uint32_t> operands) {
    const auto code = static_cast<tn_opcode>(op.op);
    const DType dtype = dtype_of(op);
    const auto x = [&](size_t k) { return values_[operands[k]]; };
    const DType from = operands.empty() ? dtype : dtype_of(program_.op(operands[0]));
    switch (op.op) {
      case TN_OP_CONST:
        return pairs_.constant(op.imm, op.lanes);
      case TN_OP_CAST:
        if (tenon::is_wide(from) && tenon::is_wide(dtype)) return x(0);
        if (op.imm == TN_CAST_BITS) refuse("a bit cast of a float");
        if (tenon::is_wide(dtype)) return pairs_.widen(x(0).low, from, dtype);
        return {pairs_.narrow(x(0), from, dtype)};
      case TN_OP_WHERE:
        return pairs_.select(x(0).low, x(1), x(2));
      case TN_OP_CMPLT:
      case TN_OP_CMPNE:
      case TN_OP_CMPEQ:
        return {pairs_.compare(code, from, x(0), x(1))};
      case TN_OP_LANE_REDUCE: {
        Pair out = lane(x(0), 0);
        for (int l = 1; l < words_.lanes(x(0).low); ++l)
          out = pairs_.arithmetic(static_cast<tn_opcode>(op.imm), dtype, out, lane(x(0), l));
        return out;
      }
      case TN_OP_BROADCAST:
      case TN_OP_EXTRACT:
      case TN_OP_COMPOSE:
      case TN_OP_SUBGROUP_SHUFFLE:
      case TN_OP_SUBGROUP_BROADCAST: {
        Pair out;
        for (Value Pair::*half : {&Pair::low, &Pair::high}) {
          std::vector<Value> parts;
          for (const uint32_t v : operands)
            parts.push_back(is_wide(v) ? values_[v].*half : values_[v].low);
          out.*half = tree_.pure(code, TN_DTYPE_U32, op.lanes, parts, op.imm);
        }
        return out;
      }
      default:
        break;
    }
    const bool binary = operands.size() == 2 || (operands.size() == 1 && op.op == TN_OP_NEG);
    if (!binary || !is_wide(i)) refuse(fmt::format("op {} {}", i, sdk::op_text(op.op)));
    return pairs_.arithmetic(code, dtype, x(0), x(operands.size() - 1));
  }

  Pair lane(const Pair& v, int l) {
    const auto extract = [&](Value half) {
      return tree_.pure(TN_OP_EXTRACT, TN_DTYPE_U32, 1, std::span(&half, 1),
                        static_cast<uint64_t>(l));
    };
    return {extract(v.low), extract(v.high)};
  }

  /// Where the low words of `lanes` elements are.
  Value place(Value index, int lanes) {
    if (words_.lanes(index) < lanes) {
      const Value lane = tree_.pure(TN_OP_INDEX, abi(words_.dtype(index)),
                                    static_cast<uint16_t>(lanes), {}, TN_AXIS_LANE);
      index = words_.add(index, lane);
    }
    return words_.shift_left(index, 1);
  }

  Value load_word(const tn_op& op, const std::vector<Value>& operands) {
    const tn_param& from = memory(op);
    const bool fixed = from.kind == TN_PARAM_ALLOC || (from.access & TN_ACCESS_WRITE);
    const DType dtype = tenon::is_wide(dtype_of(op)) ? DType::kU32 : dtype_of(op);
    const uint32_t flags = dtype == dtype_of(op) ? op.flags : 0;
    return tree_.load(abi(dtype), op.lanes, operands, flags, tree_.region(), fixed);
  }

  Pair load(uint32_t i, const tn_op& op, std::span<const uint32_t> operands) {
    std::vector<Value> in = plain(operands);
    if (!is_wide(i)) return {load_word(op, in)};
    Pair out;
    in[1] = place(in[1], op.lanes);
    out.low = load_word(op, in);
    in[1] = words_.plus(in[1], 1);
    if (in.size() > 3) in[3] = values_[operands[3]].high;
    out.high = load_word(op, in);
    return out;
  }

  void store(const tn_op& op, std::span<const uint32_t> operands) {
    std::vector<Value> in = plain(operands);
    if (!is_wide(operands[2])) return tree_.effect(TN_OP_STORE, in, 0, op.flags);
    in[1] = place(in[1], words_.lanes(in[2]));
    tree_.effect(TN_OP_STORE, in);
    in[1] = words_.plus(in[1], 1);
    in[2] = values_[operands[2]].high;
    tree_.effect(TN_OP_STORE, in);
  }

  const sdk::ProgramView program_;
  OpTree tree_;
  WordOps words_;
  PairOps pairs_;
  std::vector<Pair> values_;  ///< of each op of the program; what is not wide is `low`
  std::vector<Loop> open_;
  Value carry_ = 0;  ///< of the last loop begun, the next one to be met
};

}  // namespace

sdk::Program split_wide(const sdk::Program& program, const Capabilities& capabilities) {
  return Splitter(program.view(), capabilities).run();
}

}  // namespace tenon
