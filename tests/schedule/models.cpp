// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/schedule/models.hpp"

#include <fmt/format.h>

#include "core/support/error.hpp"

namespace tenon::test {

NodeRef Models::param(const std::string& name, Shape shape, DType dtype) {
  return builder.param(name, dtype, std::move(shape));
}

NodeRef Models::number(double value, const Shape& shape, DType dtype) {
  return builder.constant(Scalar::of(dtype, value), shape);
}

NodeRef Models::minus(NodeRef a, NodeRef b) { return add(a, scaled(b, -1)); }

NodeRef Models::exp(NodeRef x) { return builder.unary(Op::EXP2, scaled(x, 1.4426950408889634)); }

NodeRef Models::softmax(NodeRef x, int axis) {
  const NodeRef peak = builder.expand(builder.reduce(Op::MAX, x, {axis}), x->shape);
  const NodeRef e = exp(minus(x, peak));
  const NodeRef sum = builder.reduce(Op::ADD, e, {axis});
  return mul(e, builder.expand(builder.unary(Op::RECIP, sum), x->shape));
}

NodeRef Models::row_vector(NodeRef x, const Shape& like) {
  Shape ones(like.size(), Dim(1));
  ones.back() = x->shape[0];
  return builder.expand(builder.reshape(x, ones), like);
}

NodeRef Models::layer_norm(NodeRef x, NodeRef gain, NodeRef bias) {
  const int axis = static_cast<int>(x->shape.size()) - 1;
  const double n = static_cast<double>(x->shape.back().value());
  const NodeRef mean = scaled(builder.reduce(Op::ADD, x, {axis}), 1 / n);
  const NodeRef centred = minus(x, builder.expand(mean, x->shape));
  const NodeRef variance = scaled(builder.reduce(Op::ADD, mul(centred, centred), {axis}), 1 / n);
  const NodeRef deviation = builder.unary(Op::SQRT, add(variance, number(1e-5, variance->shape)));
  const NodeRef inverse = builder.unary(Op::RECIP, deviation);
  const NodeRef normal = mul(centred, builder.expand(inverse, x->shape));
  return add(mul(normal, row_vector(gain, x->shape)), row_vector(bias, x->shape));
}

NodeRef Models::gelu(NodeRef x) {
  const NodeRef cube = mul(mul(x, x), x);
  const NodeRef inner = scaled(add(x, scaled(cube, 0.044715)), 0.7978845608);
  const NodeRef e = exp(scaled(inner, -2));
  const NodeRef sigmoid = builder.unary(Op::RECIP, add(e, number(1, x->shape)));
  return mul(x, sigmoid);
}

NodeRef Models::matmul(NodeRef a, NodeRef b) {
  const int rank = static_cast<int>(a->shape.size());
  const Dim m = a->shape[rank - 2], k = a->shape[rank - 1], n = b->shape[rank - 1];
  Shape left = a->shape, right = b->shape, all = a->shape, out = a->shape;
  left.insert(left.end() - 1, Dim(1));
  all.insert(all.end() - 1, n);
  out.back() = n;
  std::vector<int> turn;
  for (int i = 0; i < rank - 2; ++i) turn.push_back(i);
  turn.push_back(rank - 1);
  turn.push_back(rank - 2);
  const NodeRef turned = builder.permute(b, turn);
  right = turned->shape;
  right.insert(right.end() - 2, Dim(1));
  const NodeRef x = builder.expand(builder.reshape(a, left), all);
  const NodeRef y = builder.expand(builder.reshape(turned, right), all);
  return builder.reshape(builder.reduce(Op::ADD, mul(x, y), {rank}), out);
}

NodeRef Models::linear(const std::string& name, NodeRef x, int64_t out) {
  const NodeRef weight = param(name + "_w", {x->shape.back(), Dim(out)});
  const NodeRef bias = param(name + "_b", {Dim(out)});
  const NodeRef product = matmul(x, weight);
  return add(product, row_vector(bias, product->shape));
}

NodeRef Models::attention(const std::string& name, NodeRef x, int64_t heads) {
  const Dim tokens = x->shape[0];
  const int64_t width = x->shape[1].value(), size = width / heads;
  const auto split = [&](const std::string& part) {
    const NodeRef y = linear(name + part, x, width);
    return builder.permute(builder.reshape(y, {tokens, Dim(heads), Dim(size)}), {1, 0, 2});
  };
  const NodeRef q = split("_q"), k = split("_k"), v = split("_v");
  const NodeRef scores = scaled(matmul(q, builder.permute(k, {0, 2, 1})), 0.125);
  const NodeRef row = builder.index(1, scores->shape), column = builder.index(2, scores->shape);
  const NodeRef masked =
      builder.where(builder.binary(Op::CMPLT, row, column), number(-1e9, scores->shape), scores);
  const NodeRef mixed = matmul(softmax(masked, 2), v);
  const NodeRef joined = builder.reshape(builder.permute(mixed, {1, 0, 2}), {tokens, Dim(width)});
  return linear(name + "_o", joined, width);
}

NodeRef Models::block(const std::string& name, NodeRef x, int64_t heads) {
  const Dim width = x->shape[1];
  const auto norm = [&](const std::string& part, NodeRef y) {
    return layer_norm(y, param(name + part + "_g", {width}), param(name + part + "_c", {width}));
  };
  const NodeRef h = add(x, attention(name, norm("_n1", x), heads));
  const NodeRef up = gelu(linear(name + "_up", norm("_n2", h), width.value() * 4));
  return add(h, linear(name + "_down", up, width.value()));
}

Graph Models::graph(const std::string& name, std::vector<NodeRef> outputs,
                    std::vector<Expr> symbols) {
  Graph out;
  out.name = name;
  out.symbols = std::move(symbols);
  for (const NodeRef& node : topological(outputs))
    if (node->op == Op::PARAM && !node->as<ParamAttr>().is_dim) out.params.push_back(node);
  for (size_t i = 0; i < outputs.size(); ++i) out.output_names.push_back(fmt::format("y{}", i));
  out.outputs = std::move(outputs);
  return out;
}

Graph Models::transformer(int layers, int64_t tokens, int64_t width, int64_t heads) {
  NodeRef x = param("x", {Dim(tokens), Dim(width)});
  for (int i = 0; i < layers; ++i) x = block(fmt::format("l{}", i), x, heads);
  return graph("transformer", {x});
}

ScheduleOptions on_one_device(const Capabilities& capabilities) {
  ScheduleOptions out;
  out.devices = {{"cpu:0", capabilities}};
  return out;
}

int kernel_count(const Schedule& schedule) {
  int count = 0;
  for (const Step& step : schedule.steps) count += std::holds_alternative<KernelCall>(step.call);
  return count;
}

int copy_count(const Schedule& schedule) {
  int count = 0;
  for (const Step& step : schedule.steps) count += std::holds_alternative<CopyCall>(step.call);
  return count;
}

const KernelCall& kernel(const Schedule& schedule, int number) {
  for (const Step& step : schedule.steps)
    if (const auto* call = std::get_if<KernelCall>(&step.call); call && number-- == 0) return *call;
  fail(ErrorKind::kInternal, "no such kernel");
}

}  // namespace tenon::test
