// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes nodes: infers shape and dtype, checks every rule, throws ErrorKind::kInvalid "[op] expected
// ..., got ...".
//
// Nodes are hash-consed: while a node lives, asking the same Builder for an equal one gives the
// same pointer. A Builder may be used from several threads.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/ir/node.hpp"

namespace tenon {

class Builder {
 public:
  Builder();
  ~Builder();
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  NodeRef constant(Scalar value, Shape shape = {});
  NodeRef param(std::string name, DType dtype, Shape shape, uint64_t identity = 0);
  NodeRef dim(const Expr& value);  ///< PARAM with is_dim: i64[]
  NodeRef index(int axis, Shape shape, DType dtype = DType::kI64);
  NodeRef cast(NodeRef x, DType dtype);
  NodeRef bit_cast(NodeRef x, DType dtype);
  NodeRef unary(Op op, NodeRef x);
  NodeRef binary(Op op, NodeRef a, NodeRef b);  ///< BINARY and COMPARE
  NodeRef where(NodeRef condition, NodeRef a, NodeRef b);
  NodeRef fma(NodeRef a, NodeRef b, NodeRef c);

  NodeRef reshape(NodeRef x, Shape shape);
  NodeRef expand(NodeRef x, Shape shape);  ///< axes of size 1 grow; same rank
  NodeRef permute(NodeRef x, std::vector<int> axes);
  NodeRef pad(NodeRef x, std::vector<std::pair<Dim, Dim>> pairs, Scalar fill);
  NodeRef shrink(NodeRef x, std::vector<std::pair<Dim, Dim>> ranges);
  NodeRef flip(NodeRef x, std::vector<int> axes);

  /// accumulator kVoid: f32 for narrower floats; the dtype itself otherwise.
  NodeRef reduce(Op op, NodeRef x, std::vector<int> axes, DType accumulator = DType::kVoid,
                 Precision precision = Precision::kDefault);
  NodeRef take(NodeRef x, NodeRef index, int axis);
  NodeRef store(NodeRef x, NodeRef index, NodeRef values, int axis, StoreMode mode);
  NodeRef copy(NodeRef x, std::string device);
  NodeRef if_(NodeRef condition, std::vector<NodeRef> captured, GraphRef then_graph,
              GraphRef else_graph, int result);
  NodeRef loop(NodeRef trips, std::vector<NodeRef> initial, std::vector<NodeRef> captured,
               GraphRef body, bool is_while, int result);

  NodeRef call(std::vector<NodeRef> inputs, GraphRef body, int result = 0,
               CallMode mode = CallMode::kPlain, GraphRef gradient = nullptr);

  /// Makes any op from its parts, with the same checks. For the parser and the rewriter.
  /// `shape` and `dtype` matter only where they cannot be inferred (CONST, PARAM, INDEX, CAST,
  /// reshape, expand).
  NodeRef make(Op op, DType dtype, Shape shape, std::vector<NodeRef> sources, Attr attr);
  /// Whether make() would return this very node for its parts.
  bool owns(const Node& node) const;

 private:
  struct Table;
  std::unique_ptr<Table> table_;
};

}  // namespace tenon
