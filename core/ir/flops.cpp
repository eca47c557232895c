// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ir/flops.hpp"

namespace tenon {

double flops_of(const Node& node, const std::function<double(const Node&)>& elements) {
  if (!is_float(node.dtype) || node.op == Op::CAST) return 0;
  const OpKind kind = op_info(node.op).kind;
  if (kind == OpKind::REDUCE) return elements(*node.sources[0]);
  if (node.op == Op::FMA) return 2 * elements(node);
  return kind == OpKind::UNARY || kind == OpKind::BINARY ? elements(node) : 0;
}

}  // namespace tenon
