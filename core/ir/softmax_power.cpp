// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ir/softmax_power.hpp"

#include <set>

namespace tenon {
namespace {

/// `seen`: products without a difference.
bool find_difference(const Node& exponent, SoftmaxPower& out, std::set<const Node*>& seen) {
  if (exponent.op == Op::MUL) {
    if (!seen.insert(&exponent).second) return false;
    for (const size_t side : {0, 1}) {
      out.factors.push_back(exponent.sources[1 - side].get());
      if (find_difference(*exponent.sources[side], out, seen)) return true;
      out.factors.pop_back();
    }
    return false;
  }
  if (exponent.op != Op::SUB) return false;
  const Node* maximum = exponent.sources[1].get();
  while (maximum->op == Op::VIEW) maximum = maximum->sources[0].get();
  if (maximum->op != Op::REDUCE || maximum->as<ReduceAttr>().op != Op::MAX ||
      maximum->sources[0] != exponent.sources[0])
    return false;
  out.x = exponent.sources[0].get();
  out.maximum = maximum;
  out.repeated = exponent.sources[1].get();
  return true;
}

}  // namespace

std::optional<SoftmaxPower> softmax_power(const Node& node) {
  SoftmaxPower out;
  std::set<const Node*> seen;
  if ((node.op != Op::EXP && node.op != Op::EXP2) || !find_difference(*node.sources[0], out, seen))
    return std::nullopt;
  return out;
}

}  // namespace tenon
