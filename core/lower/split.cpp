// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/lower/split.hpp"

#include <algorithm>

#include "core/lower/program_rewriter.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

class Splitter : public ProgramRewriter {
 public:
  Splitter(const sdk::ProgramView& program, const Capabilities& capabilities)
      : ProgramRewriter(program, capabilities), pairs_(tree_, capabilities) {}

 private:
  bool is_pair(uint32_t op) const override { return is_wide(dtype_of(op)); }
  bool has_pair(Operands operands) const {
    return std::ranges::any_of(operands, [&](uint32_t v) { return is_pair(v); });
  }

  tn_param declared(const tn_param& param) const override {
    if (!is_wide(dtype_of(param))) return param;
    if (param.kind == TN_PARAM_SCALAR)
      refuse(fmt::format("the scalar {}", program_.string(param.name)));
    tn_param out = param;
    out.dtype = TN_DTYPE_U32;
    out.count *= 2;
    return out;
  }

  [[noreturn]] void refuse(const std::string& what) const {
    fail(ErrorKind::kInternal,
         "[lower] kernel {}: expected 64-bit integers that can be two words, got {}",
         program_.name(), what);
  }

  Pair effect(const tn_op& op, Operands operands) override {
    if (op.op == TN_OP_ASYNC_COPY && is_pair(operands[0])) {
      std::vector<Value> in = low(operands);
      in[1] = place(in[1], 1), in[3] = place(in[3], 1);
      tree_.effect(TN_OP_ASYNC_COPY, in, op.imm, op.flags);
      return {};
    }
    if (has_pair(operands)) refuse(fmt::format("op {}", sdk::op_text(op.op)));
    return ProgramRewriter::effect(op, operands);
  }

  Pair computed(uint32_t i, const tn_op& op, Operands operands) override {
    const auto code = static_cast<tn_opcode>(op.op);
    const DType dtype = dtype_of(op);
    if (!is_pair(i) && !has_pair(operands))
      return {tree_.pure(code, abi(dtype), op.lanes, low(operands), op.imm, op.flags)};
    const auto x = [&](size_t k) { return values_[operands[k]]; };
    const DType from = operands.empty() ? dtype : dtype_of(operands[0]);
    switch (op.op) {
      case TN_OP_CONST:
        return pairs_.constant(op.imm, op.lanes);
      case TN_OP_CAST:
        if (is_wide(from) && is_wide(dtype)) return x(0);
        if (op.imm == TN_CAST_BITS) refuse("a bit cast of a float");
        if (is_wide(dtype)) return pairs_.widen(x(0).low, from, dtype);
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
            parts.push_back(is_pair(v) ? values_[v].*half : values_[v].low);
          out.*half = tree_.pure(code, TN_DTYPE_U32, op.lanes, parts, op.imm);
        }
        return out;
      }
      default:
        break;
    }
    const bool binary = operands.size() == 2 || (operands.size() == 1 && op.op == TN_OP_NEG);
    if (!binary || !is_pair(i)) refuse(fmt::format("op {} {}", i, sdk::op_text(op.op)));
    return pairs_.arithmetic(code, dtype, x(0), x(operands.size() - 1));
  }

  Pair lane(const Pair& v, int l) {
    const auto extract = [&](Value half) {
      return tree_.pure(TN_OP_EXTRACT, TN_DTYPE_U32, 1, std::span(&half, 1),
                        static_cast<uint64_t>(l));
    };
    return {extract(v.low), extract(v.high)};
  }

  /// Indices of the low words of `lanes` elements.
  Value place(Value index, int lanes) { return words_.shift_left(spread(index, lanes), 1); }

  Pair load(const tn_op& op, Operands operands) override {
    const tn_param& from = memory(op);
    std::vector<Value> in = low(operands);
    if (!is_wide(dtype_of(op))) return {load_word(from, in, op.lanes, op.flags)};
    Pair out;
    in[1] = place(in[1], op.lanes);
    out.low = load_word(from, in, op.lanes, 0);
    in[1] = words_.plus(in[1], 1);
    if (in.size() > 3) in[3] = values_[operands[3]].high;
    out.high = load_word(from, in, op.lanes, 0);
    return out;
  }

  void store(const tn_op& op, Operands operands) override {
    std::vector<Value> in = low(operands);
    if (!is_pair(operands[2])) return tree_.effect(TN_OP_STORE, in, 0, op.flags);
    in[1] = place(in[1], words_.lanes(in[2]));
    tree_.effect(TN_OP_STORE, in);
    in[1] = words_.plus(in[1], 1);
    in[2] = values_[operands[2]].high;
    tree_.effect(TN_OP_STORE, in);
  }

  PairOps pairs_;
};

}  // namespace

sdk::Program split_wide(const sdk::Program& program, const Capabilities& capabilities) {
  return Splitter(program.view(), capabilities).run();
}

}  // namespace tenon
