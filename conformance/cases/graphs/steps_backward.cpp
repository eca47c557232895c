// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Backward growth: what was an input becomes computed. Operands that forward steps leave to fresh
// inputs (positions, conditions, values to store) get graphs of their own this way.
#include <algorithm>

#include "conformance/cases/graphs/steps.hpp"

namespace tenon::conformance::graphs {
namespace {

/// A value of the param's type that lies where the param's values do; no node if none is at hand.
NodeRef stand_in(Grower& g, const NodeRef& param, const Domain& domain) {
  const DType dtype = param->dtype;
  Builder& b = g.build();
  if (dtype == DType::kBool) {
    const Entry x = g.any_float();
    const Entry half = g.constant(x.node->dtype, 0.5, x.node->shape);
    return g.to_shape({b.binary(Op::CMPLT, half.node, x.node), 0, 1}, param->shape).node;
  }
  if (is_int(dtype)) {
    const Entry x = g.to_shape(g.to_dtype(g.any_int(), dtype), param->shape);
    if (domain.positions > 0) {
      const double size = static_cast<double>(std::min<int64_t>(domain.positions, 100));
      return b.binary(Op::MOD, x.node, g.constant(dtype, size, param->shape).node);
    }
    return b.binary(Op::AND, x.node, g.constant(dtype, 15, param->shape).node);
  }
  if (is_small_float(dtype)) return nullptr;
  const double reach = std::min(domain.high, domain.low < 0 ? -domain.low : domain.high);
  Entry x = g.to_shape(g.to_dtype(g.any_float(), dtype), param->shape);
  x = g.scaled(x, domain.low < 0 ? reach : std::min(reach, 1.0));
  if (domain.low > 0.25 || reach < 1) return nullptr;
  return domain.low < 0 ? x.node : g.positive(x).node;
}

}  // namespace

void grow_backward(Grower& g) {
  if (g.params().empty()) return;
  const auto [param, domain] = g.choices().pick(g.params());
  const NodeRef node = stand_in(g, param, domain);
  if (node && node->op != Op::PARAM) g.replace(param, node);
}

}  // namespace tenon::conformance::graphs
