// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rules of each op: check the parts of a node and infer its dtype and shape. Shared by Builder
// and verifier. Private to core/ir.
#pragma once

#include <span>

#include "core/ir/node.hpp"

namespace tenon {

struct NodeType {
  DType dtype = DType::kVoid;
  Shape shape;
  bool operator==(const NodeType&) const = default;
};

using Sources = std::span<const NodeRef>;

/// `given` matters where a type cannot be inferred (see Builder::make). Fills in a REDUCE's default
/// accumulator. Throws kInvalid.
NodeType infer(Op op, const NodeType& given, Sources sources, Attr& attr);

NodeType infer_view(const NodeType& given, const Node& x, const ViewAttr& attr);
NodeType infer_reduce(const Node& x, ReduceAttr& attr);
NodeType infer_take(const Node& x, const Node& index, const TakeAttr& attr);
NodeType infer_store(const Node& x, const Node& index, const Node& values, const StoreAttr& attr);
NodeType infer_copy(const Node& x, const CopyAttr& attr);
NodeType infer_if(Sources sources, const IfAttr& attr);
NodeType infer_loop(Sources sources, const LoopAttr& attr);
NodeType infer_call(Sources sources, const CallAttr& attr);

/// Throws unless axes are ascending and within [0, rank).
void check_axes(std::string_view op, const std::vector<int>& axes, size_t rank);
void check_axis(std::string_view op, int axis, size_t rank);

}  // namespace tenon
