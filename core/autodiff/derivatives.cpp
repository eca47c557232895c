// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/autodiff/derivatives.hpp"

#include <algorithm>

#include "core/autodiff/rules.hpp"
#include "core/support/error.hpp"
#include "core/support/process.hpp"

namespace tenon::autodiff {
namespace {

constexpr Derivative kDerivatives[] = {
#define TN_DERIVATIVES(op, a, b, c) {Op::op, {a, b, c}, nullptr, ""},
#define TN_DERIVATIVE_RULE(op, function) {Op::op, {}, function, ""},
#define TN_NO_DERIVATIVE(op, reason) {Op::op, {}, nullptr, reason},
#include "core/autodiff/derivatives.def"
};

constexpr bool has_row(Op op) {
  return std::ranges::any_of(kDerivatives, [=](const Derivative& row) { return row.op == op; });
}

#define TN_OP(name, code, text, arity, kind, types, level, flags, meaning) \
  static_assert(OpLevel::level == OpLevel::PROGRAM || has_row(Op::name),   \
                "an op of graphs wants a row in derivatives.def");
#include "tenon/ops.def"

}  // namespace

const Derivative& derivative_of(Op op) {
  const ForkHold hold;  // before the lock of the static below
  static const auto& by_op = *new std::array<const Derivative*, 256>([] {
    std::array<const Derivative*, 256> rows{};
    for (const Derivative& row : kDerivatives) rows[static_cast<size_t>(row.op)] = &row;
    return rows;
  }());
  const Derivative* row = by_op[static_cast<size_t>(op)];
  TN_ASSERT(row);
  return *row;
}

bool propagates_adjoint(const Node& node, size_t source) {
  if (!is_float(node.sources[source]->dtype)) return false;
  const Derivative& row = derivative_of(node.op);
  if (!row.reason.empty()) return false;
  if (!row.rule) return source < row.formulas.size() && !row.formulas[source].empty();
  if (node.op == Op::CAST) return is_float(node.dtype) && !node.as<CastAttr>().bits;
  if (node.op == Op::CALL) return node.as<CallAttr>().mode != CallMode::kStop;
  return true;
}

}  // namespace tenon::autodiff
