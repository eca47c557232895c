// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Builder: checks the rules, then interns the node.
#include "core/ir/build.hpp"

#include <algorithm>

#include "core/ir/infer.hpp"
#include "core/ir/node_table.hpp"
#include "core/support/error.hpp"

namespace tenon {

struct Builder::Table {
  NodeTable nodes;
};

Builder::Builder() : table_(std::make_unique<Table>()) {}
Builder::~Builder() = default;

NodeRef Builder::make(Op op, DType dtype, Shape shape, std::vector<NodeRef> sources, Attr attr) {
  NodeType type = infer(op, {dtype, std::move(shape)}, sources, attr);
  Node node;
  node.op = op;
  node.dtype = type.dtype;
  node.shape = std::move(type.shape);
  node.sources = std::move(sources);
  node.attr = std::move(attr);
  return table_->nodes.intern(std::move(node));
}

bool Builder::owns(const Node& node) const { return table_->nodes.holds(node); }

NodeRef Builder::constant(Scalar value, Shape shape) {
  return make(Op::CONST, value.dtype, std::move(shape), {}, ConstAttr{value});
}

NodeRef Builder::param(std::string name, DType dtype, Shape shape, uint64_t identity) {
  return make(Op::PARAM, dtype, std::move(shape), {},
              ParamAttr{std::move(name), false, Expr(0), identity});
}

NodeRef Builder::dim(const Expr& value) {
  return make(Op::PARAM, DType::kI64, {}, {}, ParamAttr{"", true, value, 0});
}

NodeRef Builder::index(int axis, Shape shape, DType dtype) {
  return make(Op::INDEX, dtype, std::move(shape), {}, IndexAttr{axis});
}

NodeRef Builder::cast(NodeRef x, DType dtype) {
  return make(Op::CAST, dtype, {}, {std::move(x)}, CastAttr{false});
}

NodeRef Builder::bit_cast(NodeRef x, DType dtype) {
  return make(Op::CAST, dtype, {}, {std::move(x)}, CastAttr{true});
}

NodeRef Builder::unary(Op op, NodeRef x) {
  return make(op, DType::kVoid, {}, {std::move(x)}, std::monostate());
}

NodeRef Builder::binary(Op op, NodeRef a, NodeRef b) {
  return make(op, DType::kVoid, {}, {std::move(a), std::move(b)}, std::monostate());
}

NodeRef Builder::where(NodeRef condition, NodeRef a, NodeRef b) {
  return make(Op::WHERE, DType::kVoid, {}, {std::move(condition), std::move(a), std::move(b)},
              std::monostate());
}

NodeRef Builder::fma(NodeRef a, NodeRef b, NodeRef c) {
  return make(Op::FMA, DType::kVoid, {}, {std::move(a), std::move(b), std::move(c)},
              std::monostate());
}

NodeRef Builder::reshape(NodeRef x, Shape shape) {
  return make(Op::VIEW, DType::kVoid, std::move(shape), {std::move(x)},
              ViewAttr{ViewKind::kReshape, {}, {}, {}});
}

NodeRef Builder::expand(NodeRef x, Shape shape) {
  return make(Op::VIEW, DType::kVoid, std::move(shape), {std::move(x)},
              ViewAttr{ViewKind::kExpand, {}, {}, {}});
}

NodeRef Builder::permute(NodeRef x, std::vector<int> axes) {
  return make(Op::VIEW, DType::kVoid, {}, {std::move(x)},
              ViewAttr{ViewKind::kPermute, std::move(axes), {}, {}});
}

NodeRef Builder::pad(NodeRef x, std::vector<std::pair<Dim, Dim>> pairs, Scalar fill) {
  return make(Op::VIEW, DType::kVoid, {}, {std::move(x)},
              ViewAttr{ViewKind::kPad, {}, std::move(pairs), fill});
}

NodeRef Builder::shrink(NodeRef x, std::vector<std::pair<Dim, Dim>> ranges) {
  return make(Op::VIEW, DType::kVoid, {}, {std::move(x)},
              ViewAttr{ViewKind::kShrink, {}, std::move(ranges), {}});
}

NodeRef Builder::flip(NodeRef x, std::vector<int> axes) {
  std::ranges::sort(axes);
  return make(Op::VIEW, DType::kVoid, {}, {std::move(x)},
              ViewAttr{ViewKind::kFlip, std::move(axes), {}, {}});
}

NodeRef Builder::reduce(Op op, NodeRef x, std::vector<int> axes, DType accumulator,
                        Precision precision) {
  std::ranges::sort(axes);
  return make(Op::REDUCE, DType::kVoid, {}, {std::move(x)},
              ReduceAttr{op, std::move(axes), accumulator, precision});
}

NodeRef Builder::take(NodeRef x, NodeRef index, int axis) {
  return make(Op::TAKE, DType::kVoid, {}, {std::move(x), std::move(index)}, TakeAttr{axis});
}

NodeRef Builder::store(NodeRef x, NodeRef index, NodeRef values, int axis, StoreMode mode) {
  return make(Op::STORE, DType::kVoid, {}, {std::move(x), std::move(index), std::move(values)},
              StoreAttr{axis, mode});
}

NodeRef Builder::copy(NodeRef x, std::string device) {
  return make(Op::COPY, DType::kVoid, {}, {std::move(x)}, CopyAttr{std::move(device)});
}

NodeRef Builder::if_(NodeRef condition, std::vector<NodeRef> captured, GraphRef then_graph,
                     GraphRef else_graph, int result) {
  captured.insert(captured.begin(), std::move(condition));
  return make(Op::IF, DType::kVoid, {}, std::move(captured),
              IfAttr{std::move(then_graph), std::move(else_graph), result});
}

NodeRef Builder::loop(NodeRef trips, std::vector<NodeRef> initial, std::vector<NodeRef> captured,
                      GraphRef body, bool is_while, int result) {
  const int carried = static_cast<int>(initial.size());
  std::vector<NodeRef> sources = {std::move(trips)};
  sources.insert(sources.end(), initial.begin(), initial.end());
  sources.insert(sources.end(), captured.begin(), captured.end());
  return make(Op::LOOP, DType::kVoid, {}, std::move(sources),
              LoopAttr{std::move(body), carried, is_while, result});
}

NodeRef Builder::call(std::vector<NodeRef> inputs, GraphRef body, int result, CallMode mode,
                      GraphRef gradient) {
  return make(Op::CALL, DType::kVoid, {}, std::move(inputs),
              CallAttr{std::move(body), std::move(gradient), mode, result});
}

}  // namespace tenon
