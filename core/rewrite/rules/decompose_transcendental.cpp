// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decomposes FDIV, EXP, LN and COS into RECIP, EXP2, LOG2 and SIN, with little extra error.
// core/interval/elementwise.cpp has the allowed errors: change both together.
#include <cmath>
#include <numbers>

#include "core/rewrite/pattern.hpp"
#include "core/rewrite/rules/rules.hpp"

namespace tenon::rewrite {
namespace {

/// Computes these for f16, bf16 and fp8 in f32, which has enough digits.
NodeRef in_f32(const NodeRef& node, Builder& builder) {
  return builder.cast(builder.unary(node->op, builder.cast(node->sources[0], DType::kF32)),
                      node->dtype);
}

bool narrow(const NodeRef& node) { return dtype_size(node->dtype) < 4; }

/// Helper to write arithmetic on one shape as formulas.
struct Formula {
  const NodeRef& like;
  Builder& builder;
  NodeRef value(double v) const {
    return builder.constant(Scalar::of(like->dtype, v), like->shape);
  }
  NodeRef add(const NodeRef& a, const NodeRef& b) const { return builder.binary(Op::ADD, a, b); }
  NodeRef mul(const NodeRef& a, const NodeRef& b) const { return builder.binary(Op::MUL, a, b); }
  NodeRef select_less(const NodeRef& a, const NodeRef& b, const NodeRef& x,
                      const NodeRef& y) const {
    return builder.where(builder.binary(Op::CMPLT, a, b), x, y);
  }
};

/// e^x = 2^(h H) e^(r). h is the leading half of x and H that of log2(e), so their product is
/// exact. A polynomial computes e^r of the small rest r. Rounding x * log2(e) instead would lose as
/// many bits as the exponent of the result has.
NodeRef decompose_exp(const NodeRef& node, Builder& builder) {
  if (narrow(node)) return in_f32(node, builder);
  const Formula f{node, builder};
  const bool wide = node->dtype == DType::kF64;
  const double limit = wide ? 1100 : 200;  // beyond it the result is 0 or infinity
  NodeRef x = node->sources[0];
  x = f.select_less(x, f.value(-limit), f.value(-limit), x);
  x = f.select_less(f.value(limit), x, f.value(limit), x);

  const DType bits = wide ? DType::kU64 : DType::kU32;
  const uint64_t mask = wide ? 0xFFFFFFFFF8000000u : 0xFFFFF000u;  // 26 of 53, 12 of 24 bits
  const NodeRef leading =
      builder.bit_cast(builder.binary(Op::AND, builder.bit_cast(x, bits),
                                      builder.constant(Scalar{bits, mask}, node->shape)),
                       node->dtype);
  const NodeRef rest = f.add(x, f.mul(leading, f.value(-1)));
  constexpr double kLog2e = std::numbers::log2e;
  const double head =
      std::trunc(std::ldexp(kLog2e, wide ? 25 : 11)) * std::ldexp(1, wide ? -25 : -11);
  constexpr long double kLog2eLong = std::numbers::log2e_v<long double>;
  const auto tail = static_cast<double>((kLog2eLong - head) * std::numbers::ln2_v<long double>);
  // r = rest + leading * (log2(e) - H) ln(2)
  const NodeRef r = f.add(rest, f.mul(leading, f.value(tail)));
  // e^r - 1 = r + r^2/2 + r^3/6 + r^4/24 + r^5/120, |r| < 0.2 in f32, < 1e-4 in f64
  NodeRef series = f.value(1.0 / 120);
  for (const double c : {1.0 / 24, 1.0 / 6, 0.5, 1.0}) series = f.add(f.mul(series, r), f.value(c));
  const NodeRef factor = f.add(f.mul(series, r), f.value(1));
  return f.mul(builder.unary(Op::EXP2, f.mul(leading, f.value(head))), factor);
}

NodeRef decompose_ln(const NodeRef& node, Builder& builder) {
  if (narrow(node)) return in_f32(node, builder);
  const Formula f{node, builder};
  return f.mul(builder.unary(Op::LOG2, node->sources[0]), f.value(std::numbers::ln2));
}

/// cos x = 1 - 2 sin(x/2)^2: halving is exact at every size, where adding pi/2 is not.
NodeRef decompose_cos(const NodeRef& node, Builder& builder) {
  if (narrow(node)) return in_f32(node, builder);
  const Formula f{node, builder};
  const NodeRef sine = builder.unary(Op::SIN, f.mul(node->sources[0], f.value(0.5)));
  return f.add(f.mul(f.mul(sine, sine), f.value(-2)), f.value(1));
}

}  // namespace

Rules decompose_transcendental_rules(const Capabilities& capabilities) {
  Rules rules;
  if (!capabilities.has(Op::FDIV)) {
    static constexpr TextRule kDivide[] = {{"x/y", kFloat, "fdiv(x, y)", "mul(x, recip(y))"}};
    rules = compile(kDivide);
  }
  if (!capabilities.has(Op::EXP)) rules.push_back({"exp", {Op::EXP}, decompose_exp});
  if (!capabilities.has(Op::LN)) rules.push_back({"ln", {Op::LN}, decompose_ln});
  if (!capabilities.has(Op::COS)) rules.push_back({"cos", {Op::COS}, decompose_cos});
  return rules;
}

}  // namespace tenon::rewrite
