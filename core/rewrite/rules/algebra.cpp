// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Identities that hold bit for bit. For floats, x + 0.0 is not x for -0.0, x * 0 is not 0 for NaN,
// infinity and negative x, and x - x is not 0 for infinity.
#include <cmath>

#include "core/rewrite/pattern.hpp"
#include "core/rewrite/rules/rules.hpp"

namespace tenon::rewrite {
namespace {

constexpr TextRule kIdentities[] = {
    {"x+0", kInt | kBool, "add(x, 0)", "x"},
    {"x+-0.0", kFloat, "add(x, -0.0)", "x"},
    {"x-0", kInt | kFloat, "sub(x, 0)", "x"},
    {"x-x", kInt, "sub(x, x)", "0"},
    {"x*1", kAll, "mul(x, 1)", "x"},
    {"x*0", kInt | kBool, "mul(x, 0)", "0"},
    {"x/1", kFloat, "fdiv(x, 1)", "x"},
    {"x//1", kInt, "idiv(x, 1)", "x"},
    {"0//x", kInt, "idiv(0, x)", "0"},
    {"x%1", kInt, "mod(x, 1)", "0"},
    {"--x", kInt | kFloat, "neg(neg(x))", "x"},
    {"-(x-y)", kInt, "neg(sub(x, y))", "sub(y, x)"},
    {"x+-y", kInt, "add(x, neg(y))", "sub(x, y)"},
    {"x--y", kInt | kFloat, "sub(x, neg(y))", "add(x, y)"},
    {"x+y-y", kInt, "sub(add(x, y), y)", "x"},
    {"max x x", kAll, "max(x, x)", "x"},
    {"min x x", kAll, "min(x, x)", "x"},
    {"max of max", kAll, "max(max(x, y), y)", "max(x, y)"},
    {"min of min", kAll, "min(min(x, y), y)", "min(x, y)"},
    {"trunc of trunc", kFloat, "trunc(trunc(x))", "trunc(x)"},
    {"trunc of floor", kFloat, "trunc(floor(x))", "floor(x)"},
    {"floor of trunc", kFloat, "floor(trunc(x))", "trunc(x)"},
    {"floor of floor", kFloat, "floor(floor(x))", "floor(x)"},
    {"x&x", kInt | kBool, "and(x, x)", "x"},
    {"x|x", kInt | kBool, "or(x, x)", "x"},
    {"x^x", kInt | kBool, "xor(x, x)", "0"},
    {"x&0", kInt | kBool, "and(x, 0)", "0"},
    {"x|0", kInt | kBool, "or(x, 0)", "x"},
    {"x^0", kInt | kBool, "xor(x, 0)", "x"},
    {"x&-1", kInt | kBool, "and(x, -1)", "x"},
    {"x|-1", kInt | kBool, "or(x, -1)", "-1"},
    {"absorb and", kInt | kBool, "and(x, or(x, y))", "x"},
    {"absorb or", kInt | kBool, "or(x, and(x, y))", "x"},
    {"x<<0", kInt, "shl(x, 0)", "x"},
    {"x>>0", kInt, "shr(x, 0)", "x"},
    {"x<x", kAll, "cmplt(x, x)", "0"},
    {"x!=x", kInt | kBool, "cmpne(x, x)", "0"},
    {"x==x", kInt | kBool, "cmpeq(x, x)", "1"},
    {"x!=false", kBool, "cmpne(x, false)", "x"},
    {"x==true", kBool, "cmpeq(x, true)", "x"},
    {"not not x", kBool, "cmpne(cmpne(x, true), true)", "x"},
    {"where c x x", kAll, "where(c, x, x)", "x"},
    {"where true", kAll, "where(true, x, y)", "x"},
    {"where false", kAll, "where(false, x, y)", "y"},
    {"where c true false", kBool, "where(c, true, false)", "c"},
    {"where not c", kAll, "where(cmpne(c, true), x, y)", "where(c, y, x)"},
    {"where xor c", kAll, "where(xor(c, true), x, y)", "where(c, y, x)"},
    {"where in where, taken", kAll, "where(c, where(c, x, y), z)", "where(c, x, z)"},
    {"where in where, other", kAll, "where(c, x, where(c, y, z))", "where(c, x, z)"},
};

bool is_const(const NodeRef& node) { return node->op == Op::CONST; }

/// Moves constants to the right, so that further rules and hash-consing see one form.
NodeRef constant_right(const NodeRef& node, Builder& builder) {
  if (!is_const(node->sources[0]) || is_const(node->sources[1])) return nullptr;
  return builder.binary(node->op, node->sources[1], node->sources[0]);
}

/// (x op a) op b = x op (a op b), where the op is associative on all values.
NodeRef gather_constants(const NodeRef& node, Builder& builder) {
  const bool exact = !is_float(node->dtype) || node->op == Op::MAX || node->op == Op::MIN;
  const NodeRef& inner = node->sources[0];
  if (!exact || inner->op != node->op || !is_const(node->sources[1]) ||
      !is_const(inner->sources[1]))
    return nullptr;
  return builder.binary(node->op, inner->sources[0],
                        builder.binary(node->op, inner->sources[1], node->sources[1]));
}

/// x / 2^k = x * 2^-k: both round the same number once.
NodeRef divide_by_power(const NodeRef& node, Builder& builder) {
  const NodeRef& y = node->sources[1];
  if (!is_const(y)) return nullptr;
  const double divisor = y->as<ConstAttr>().value.as_double();
  int exponent = 0;
  const Scalar inverse = Scalar::of(node->dtype, 1 / divisor);
  if (std::abs(std::frexp(divisor, &exponent)) != 0.5 || inverse.as_double() * divisor != 1)
    return nullptr;
  return builder.binary(Op::MUL, node->sources[0], builder.constant(inverse, node->shape));
}

}  // namespace

Rules algebra_rules() {
  std::vector<Op> commutative, associative;
  for (const OpInfo& info : all_ops()) {
    if (info.arity != 2 || info.level == OpLevel::PROGRAM) continue;
    if (info.flags & kCommutative) commutative.push_back(info.op);
    if (info.flags & kAssociative) associative.push_back(info.op);
  }
  return Rules{{"constant right", commutative, constant_right}} + compile(kIdentities) +
         Rules{{"gather constants", associative, gather_constants},
               {"divide by a power of two", {Op::FDIV}, divide_by_power}};
}

}  // namespace tenon::rewrite
