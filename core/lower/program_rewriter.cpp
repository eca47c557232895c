// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/lower/program_rewriter.hpp"

#include "core/support/error.hpp"

namespace tenon {

sdk::Program ProgramRewriter::run() {
  for (uint32_t i = 0; i < program_.op_count(); ++i) values_.push_back(rewrite(i, program_.op(i)));
  sdk::ProgramBuilder builder{std::string(program_.name())};
  const auto& size = program_.header().workgroup;
  builder.workgroup(size[0], size[1], size[2]);
  builder.subgroup(program_.header().subgroup_size);
  tree_.write(builder, declare(builder));
  return builder.finish();
}

std::vector<uint32_t> ProgramRewriter::declare(sdk::ProgramBuilder& builder) const {
  std::vector<uint32_t> out;
  for (uint32_t p = 0; p < program_.param_count(); ++p) {
    const std::string_view name = program_.string(program_.param(p).name);
    const tn_param param = declared(program_.param(p));
    const auto dtype = static_cast<tn_dtype>(param.dtype);
    const auto space = static_cast<tn_space>(param.space);
    if (param.kind == TN_PARAM_SCALAR)
      out.push_back(builder.scalar(name, dtype, param.minimum, param.maximum));
    else if (param.kind == TN_PARAM_ALLOC)
      out.push_back(builder.allocate(name, dtype, space, param.count, param.alignment));
    else
      out.push_back(builder.buffer(name, dtype, param.access, param.count, param.alignment, space));
  }
  return out;
}

Pair ProgramRewriter::rewrite(uint32_t i, const tn_op& op) {
  const Operands operands = program_.operands(op);
  switch (op.op) {
    case TN_OP_PARAM: {
      const tn_param& param = program_.param(static_cast<uint32_t>(op.imm));
      return {tree_.param(static_cast<tn_dtype>(declared(param).dtype), op.imm)};
    }
    case TN_OP_TAKE:
      return load(op, operands);
    case TN_OP_STORE:
      store(op, operands);
      return {};
    case TN_OP_LOOP:
      return {begin_loop(i, operands)};
    case TN_OP_CARRY:
      return carry(i);
    case TN_OP_IF:
      tree_.begin_if(values_[operands[0]].low);
      open_.emplace_back();
      return {};
    case TN_OP_ELSE:
      tree_.begin_else();
      return {};
    case TN_OP_END:
      end(operands);
      return {};
    default:
      break;
  }
  if (op.op == TN_OP_ATOMIC || op.lanes == 0) return effect(op, operands);
  return computed(i, op, operands);
}

Pair ProgramRewriter::effect(const tn_op& op, Operands operands) {
  if (op.op == TN_OP_ATOMIC) return {tree_.atomic(abi(dtype_of(op)), low(operands), op.imm)};
  tree_.effect(static_cast<tn_opcode>(op.op), low(operands), op.imm, op.flags);
  return {};
}

ProgramRewriter::Value ProgramRewriter::begin_loop(uint32_t i, Operands operands) {
  if (is_pair(i))
    fail(ErrorKind::kInternal, "[lower] kernel {}: expected a loop that counts in one word, got {}",
         program_.name(), dtype_name(dtype_of(i)));
  const std::vector<Value> in = all(operands);
  const Value loop = tree_.begin_loop(in[0], in[1], in[2], std::span(in).subspan(3));
  open_.push_back({{}, true});
  carry_ = loop + 1;
  return tree_.position(loop);
}

Pair ProgramRewriter::carry(uint32_t i) {
  open_.back().carries.push_back(i);
  const Value first = carry_;
  carry_ += is_pair(i) ? 2 : 1;
  return {first, first + 1};
}

void ProgramRewriter::end(Operands operands) {
  const Region region = std::move(open_.back());
  open_.pop_back();
  if (!region.is_loop) return tree_.end_if();
  const std::vector<Value> results = tree_.end_loop(all(operands));
  size_t at = 0;
  for (const uint32_t carry : region.carries) {
    values_[carry].low = results[at++];
    if (is_pair(carry)) values_[carry].high = results[at++];
  }
}

const tn_param& ProgramRewriter::memory(const tn_op& access) const {
  return program_.param(static_cast<uint32_t>(program_.op(program_.operands(access)[0]).imm));
}

std::vector<ProgramRewriter::Value> ProgramRewriter::low(Operands operands) const {
  std::vector<Value> out;
  for (const uint32_t v : operands) out.push_back(values_[v].low);
  return out;
}

std::vector<ProgramRewriter::Value> ProgramRewriter::all(Operands operands) const {
  std::vector<Value> out;
  for (const uint32_t v : operands) {
    out.push_back(values_[v].low);
    if (is_pair(v)) out.push_back(values_[v].high);
  }
  return out;
}

ProgramRewriter::Value ProgramRewriter::load_word(const tn_param& from,
                                                  const std::vector<Value>& operands, int lanes,
                                                  uint32_t flags) {
  const bool fixed = from.kind == TN_PARAM_ALLOC || (from.access & TN_ACCESS_WRITE);
  return tree_.load(static_cast<tn_dtype>(declared(from).dtype), static_cast<uint16_t>(lanes),
                    operands, flags, tree_.region(), fixed);
}

ProgramRewriter::Value ProgramRewriter::spread(Value index, int lanes) {
  if (words_.lanes(index) >= lanes) return index;
  const Value lane = tree_.pure(TN_OP_INDEX, abi(words_.dtype(index)), static_cast<uint16_t>(lanes),
                                {}, TN_AXIS_LANE);
  return words_.add(index, lane);
}

}  // namespace tenon
