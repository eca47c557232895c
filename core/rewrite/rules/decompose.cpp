// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decomposes optional ops that a device does not claim into principal ops, exactly.
#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

#include "core/ir/narrow_float.hpp"
#include "core/rewrite/pattern.hpp"
#include "core/rewrite/rules/rules.hpp"

namespace tenon::rewrite {
namespace {

struct Claimless {
  Op op;
  TextRule rule;
};

// ~x = x ^ -1 reverses the order of integers, -x that of floats.
constexpr Claimless kTexts[] = {
    {Op::NEG, {"-x", kInt | kFloat, "neg(x)", "mul(x, -1)"}},
    {Op::SUB, {"x-y", kInt | kFloat, "sub(x, y)", "add(x, mul(y, -1))"}},
    {Op::CMPEQ, {"x==y", kAll, "cmpeq(x, y)", "xor(cmpne(x, y), 1)"}},
    {Op::FMA, {"fma", kFloat, "fma(x, y, z)", "add(mul(x, y), z)"}},
    {Op::MIN, {"float min", kFloat, "min(x, y)", "mul(max(mul(x, -1), mul(y, -1)), -1)"}},
    {Op::MIN, {"int min", kInt, "min(x, y)", "xor(max(xor(x, -1), xor(y, -1)), -1)"}},
    {Op::MIN, {"bool min", kBool, "min(x, y)", "and(x, y)"}},
    {Op::FLOOR,
     {"floor", kFloat, "floor(x)", "where(cmplt(x, trunc(x)), add(trunc(x), -1), trunc(x))"}},
};

NodeRef number(const NodeRef& like, DType dtype, int64_t value, Builder& builder) {
  return builder.constant(Scalar::of_int(dtype, value), like->shape);
}

/// Casts through an integer if the float can have a fraction. x * 0 is a zero with the sign of x.
NodeRef decompose_trunc(const NodeRef& node, Builder& builder) {
  const NodeRef& x = node->sources[0];
  const DType dtype = x->dtype;
  const bool wide = dtype == DType::kF64;
  // Floats from this limit on are integers, and the integer dtype holds those below. For small
  // exponent ranges the limit is the largest exponent.
  const double limit = std::ldexp(1, std::min(wide ? 52 : 23, float_format(dtype).bias));
  const auto value = [&](double v) { return builder.constant(Scalar::of(dtype, v), x->shape); };
  const NodeRef whole = builder.cast(builder.cast(x, wide ? DType::kI64 : DType::kI32), dtype);
  const NodeRef small = builder.binary(Op::AND, builder.binary(Op::CMPLT, x, value(limit)),
                                       builder.binary(Op::CMPLT, value(-limit), x));
  const NodeRef signed_zero = builder.binary(Op::MUL, x, value(0));
  const NodeRef nonzero = builder.binary(Op::CMPNE, whole, value(0));
  return builder.where(small, builder.where(nonzero, whole, signed_zero), x);
}

/// 2^y in `dtype` by the bits of y, for y in [0, bits).
NodeRef power_of_two(const NodeRef& y, DType dtype, Builder& builder) {
  NodeRef power = number(y, dtype, 1, builder);
  for (int64_t bit = 1; bit < static_cast<int64_t>(dtype_bits(dtype)); bit *= 2) {
    const NodeRef masked = builder.binary(Op::AND, y, number(y, y->dtype, bit, builder));
    const NodeRef set = builder.binary(Op::CMPNE, masked, number(y, y->dtype, 0, builder));
    const auto factor = static_cast<int64_t>(uint64_t{1} << bit);
    power = builder.binary(
        Op::MUL, power,
        builder.where(set, number(y, dtype, factor, builder), number(y, dtype, 1, builder)));
  }
  return power;
}

NodeRef shift_in_range(const NodeRef& y, DType dtype, Builder& builder) {
  const auto bits = static_cast<int64_t>(dtype_bits(dtype));
  const NodeRef below = builder.binary(Op::CMPLT, y, number(y, y->dtype, bits, builder));
  const NodeRef negative = builder.binary(Op::CMPLT, y, number(y, y->dtype, 0, builder));
  return builder.binary(
      Op::AND, below,
      builder.binary(Op::XOR, negative, builder.constant(one(DType::kBool), y->shape)));
}

NodeRef decompose_shl(const NodeRef& node, Builder& builder) {
  const NodeRef &x = node->sources[0], &y = node->sources[1];
  const NodeRef shifted = builder.binary(Op::MUL, x, power_of_two(y, x->dtype, builder));
  return builder.where(shift_in_range(y, x->dtype, builder), shifted,
                       number(x, x->dtype, 0, builder));
}

/// Divides by a power of two. A negative x is shifted as ~(~x >> y).
NodeRef decompose_shr(const NodeRef& node, Builder& builder) {
  const NodeRef &x = node->sources[0], &y = node->sources[1];
  const NodeRef power = power_of_two(y, x->dtype, builder);
  NodeRef sign = number(x, x->dtype, 0, builder);
  if (is_signed(x->dtype)) {
    const NodeRef negative = builder.binary(Op::CMPLT, x, sign);
    sign = builder.where(negative, number(x, x->dtype, -1, builder), sign);
  }
  const NodeRef magnitude = builder.binary(Op::XOR, x, sign);
  const NodeRef shifted = builder.binary(Op::XOR, builder.binary(Op::IDIV, magnitude, power), sign);
  return builder.where(shift_in_range(y, x->dtype, builder), shifted, sign);
}

/// MIN as MAX with reversed order; MIN of bools is their product.
NodeRef decompose_reduce_min(const NodeRef& node, Builder& builder) {
  const auto& attr = node->as<ReduceAttr>();
  if (attr.op != Op::MIN) return nullptr;
  const NodeRef& x = node->sources[0];
  if (x->dtype == DType::kBool) return builder.reduce(Op::MUL, x, attr.axes, attr.accumulator);
  const Op turn = is_float(x->dtype) ? Op::MUL : Op::XOR;
  const NodeRef turned = builder.binary(turn, x, number(x, x->dtype, -1, builder));
  const NodeRef most = builder.reduce(Op::MAX, turned, attr.axes, attr.accumulator);
  return builder.binary(turn, most, number(most, x->dtype, -1, builder));
}

}  // namespace

NodeRef flip_sign(const NodeRef& x, Builder& builder, const Capabilities& capabilities) {
  constexpr DType kBits[] = {DType::kU8, DType::kU16, DType::kU32, DType::kU64};
  const DType bits = kBits[std::countr_zero(dtype_size(x->dtype))];
  const DTypeCaps& caps = capabilities.of(bits);
  const bool computes = caps.arithmetic || (caps.storage && dtype_size(bits) < 4);  // widened
  if (!is_float(x->dtype) || !computes || capabilities.numerics != 0) return nullptr;
  const Scalar sign{bits, uint64_t{1} << (dtype_bits(x->dtype) - 1)};
  const NodeRef flipped =
      builder.binary(Op::XOR, builder.bit_cast(x, bits), builder.constant(sign, x->shape));
  return builder.bit_cast(flipped, x->dtype);
}

Rules decompose_rules(const Capabilities& capabilities) {
  std::vector<TextRule> texts;
  Rules rules;
  if (!capabilities.has(Op::NEG))
    rules.push_back({"float -x", {Op::NEG}, [&capabilities](const NodeRef& x, Builder& builder) {
                       return flip_sign(x->sources[0], builder, capabilities);
                     }});
  for (const Claimless& c : kTexts)
    if (!capabilities.has(c.op)) texts.push_back(c.rule);
  std::ranges::move(compile(texts), std::back_inserter(rules));
  if (!capabilities.has(Op::TRUNC)) rules.push_back({"trunc", {Op::TRUNC}, decompose_trunc});
  if (!capabilities.has(Op::MIN))
    rules.push_back({"reduce.min", {Op::REDUCE}, decompose_reduce_min});
  if (!capabilities.has(Op::SHL)) rules.push_back({"x<<y", {Op::SHL}, decompose_shl});
  if (!capabilities.has(Op::SHR)) rules.push_back({"x>>y", {Op::SHR}, decompose_shr});
  return rules;
}

}  // namespace tenon::rewrite
