// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/lower/kernel_ops.hpp"

#include <algorithm>

#include "core/support/error.hpp"

namespace tenon {
namespace {

uint64_t low_bits(uint64_t bits, DType dtype) {
  const size_t n = dtype == DType::kBool ? 1 : dtype_bits(dtype);
  return n == 64 ? bits : bits & ((uint64_t{1} << n) - 1);
}

int64_t sign_extend(uint64_t bits, DType dtype) {
  const auto shift = static_cast<int>(64 - dtype_bits(dtype));
  return static_cast<int64_t>(bits << shift) >> shift;
}

}  // namespace

KernelOps::Value KernelOps::constant(DType dtype, uint64_t bits, int lanes) {
  return tree_.pure(TN_OP_CONST, abi(dtype), static_cast<uint16_t>(lanes), {},
                    low_bits(bits, dtype));
}

bool KernelOps::is_constant(Value v, int64_t& value) const {
  const OpTree::Op& o = tree_.at(v);
  if (o.op != TN_OP_CONST) return false;
  value = sign_extend(o.imm, static_cast<DType>(o.dtype));
  return true;
}

KernelOps::Value KernelOps::broadcast(Value v, int lanes) {
  const OpTree::Op& o = tree_.at(v);
  if (o.lanes == lanes) return v;
  TN_ASSERT(o.lanes == 1);
  if (o.op == TN_OP_CONST) return constant(static_cast<DType>(o.dtype), o.imm, lanes);
  return tree_.pure(TN_OP_BROADCAST, o.dtype, static_cast<uint16_t>(lanes), std::span(&v, 1));
}

KernelOps::Value KernelOps::lane(Value v, int number) {
  return tree_.pure(TN_OP_EXTRACT, tree_.at(v).dtype, 1, std::span(&v, 1),
                    static_cast<uint64_t>(number));
}

KernelOps::Value KernelOps::op(tn_opcode code, DType dtype, std::vector<Value> operands,
                               uint64_t imm, uint32_t flags) {
  int lanes = 1;
  for (const Value v : operands) lanes = std::max<int>(lanes, tree_.at(v).lanes);
  for (Value& v : operands) v = broadcast(v, lanes);
  return tree_.pure(code, abi(dtype), static_cast<uint16_t>(lanes), operands, imm, flags);
}

KernelOps::Value KernelOps::cast(Value v, DType dtype) {
  if (tree_.at(v).dtype == abi(dtype)) return v;
  return op(TN_OP_CAST, dtype, {v}, TN_CAST_VALUE);
}

KernelOps::Value KernelOps::add(Value a, Value b) {
  int64_t x = 0, y = 0;
  const bool a_known = is_constant(a, x), b_known = is_constant(b, y);
  const bool scalar = tree_.at(a).lanes == 1 && tree_.at(b).lanes == 1;
  if (a_known && b_known && scalar) return index_constant(x + y);
  if (a_known && x == 0 && tree_.at(b).lanes >= tree_.at(a).lanes) return b;
  if (b_known && y == 0 && tree_.at(a).lanes >= tree_.at(b).lanes) return a;
  return op(TN_OP_ADD, index_, {a, b}, 0, TN_OP_NO_WRAP);
}

KernelOps::Value KernelOps::multiply(Value a, Value b) {
  int64_t x = 0, y = 0;
  const bool a_known = is_constant(a, x), b_known = is_constant(b, y);
  const bool scalar = tree_.at(a).lanes == 1 && tree_.at(b).lanes == 1;
  if (a_known && b_known && scalar) return index_constant(x * y);
  if (a_known && x == 1 && tree_.at(a).lanes == 1) return b;
  if (b_known && y == 1 && tree_.at(b).lanes == 1) return a;
  return op(TN_OP_MUL, index_, {a, b}, 0, TN_OP_NO_WRAP);
}

KernelOps::Value KernelOps::both(Value a, Value b) {
  int64_t x = 0;
  if (is_constant(a, x) && x) return b;
  if (is_constant(b, x) && x) return a;
  return op(TN_OP_AND, DType::kBool, {a, b});
}

KernelOps::Value KernelOps::combine(Op code, DType dtype, Value a, Value b, uint32_t flags) {
  return op(static_cast<tn_opcode>(code), dtype, {a, b}, 0, flags);
}

KernelOps::Value KernelOps::lane_index(int lanes) {
  return tree_.pure(TN_OP_INDEX, abi(index_), static_cast<uint16_t>(lanes), {}, TN_AXIS_LANE);
}

}  // namespace tenon
