// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/nn/graph.hpp"

#include "core/support/error.hpp"
#include "frontend/nn/in_layer.hpp"
#include "frontend/nn/shape_text.hpp"
#include "frontend/nn/wide.hpp"
#include "tenon/make.hpp"
#include "tenon/nn/initialisers.hpp"
#include "tenon/nn/sequential.hpp"

namespace tenon::nn {
namespace {

void check_graph(const char* op, const Tensor& x, const Tensor& graph) {
  TN_REQUIRE(x.rank() >= 2 && graph.rank() >= 2 && size_at(graph, -2) == size_at(x, -2) &&
                 size_at(graph, -1) == size_at(x, -2),
             "[{}] expected features [.., n, size] and a graph [.., n, n], got {} and {}", op,
             shape_text(x), shape_text(graph));
}

Linear projection(int64_t inputs, int64_t outputs) {
  Linear out(inputs, outputs, {.bias = false});
  out.weight = Parameter({outputs, inputs}, xavier_uniform());
  return out;
}

/// Xavier's of [heads, size], in which the last two axes are the fans.
Parameter scores_of(int64_t heads, int64_t size) {
  TN_REQUIRE(heads > 0 && size > 0,
             "[nn.gat_conv] expected heads and outputs above 0, got {} and {}", heads, size);
  return {{1, heads, size}, [](const Key& key, const std::vector<int64_t>& shape) {
            return xavier_uniform()(key, {shape[1], shape[2]}).reshape(shape);
          }};
}

}  // namespace

Tensor adjacency(const Tensor& edges, int64_t n, bool both_ways,
                 const std::optional<Tensor>& weights) {
  const char* const op = "nn.adjacency";
  TN_REQUIRE(edges.rank() == 2 && size_at(edges, 0) == Size(2) && !is_float(edges.dtype()) &&
                 edges.dtype() != DType::kBool,
             "[{}] expected integers [2, edges], got {}{}", op, dtype_name(edges.dtype()),
             shape_text(edges));
  TN_REQUIRE(0 < n && n < (1 << 20), "[{}] expected 1 to {} nodes, got {}", op, (1 << 20) - 1, n);
  const Size count = size_at(edges, 1);
  Tensor of = weights.value_or(tenon::ones({count}, DType::kF32, edges.context()));
  TN_REQUIRE(of.rank() == 1 && size_at(of, 0) == count && is_float(of.dtype()),
             "[{}] expected a float weight for each of {} edges, got {}{}", op, count.text(),
             dtype_name(of.dtype()), shape_text(of));
  const Tensor from = edges.take(0, 0).astype(DType::kI64),
               to = edges.take(1, 0).astype(DType::kI64);
  const Tensor is_node = (from >= 0) & (from < n) & (to >= 0) & (to < n);
  const auto matrix = [&](const Tensor& row, const Tensor& column) {
    const Tensor at = where(is_node, row * n + column, n * n);
    return tenon::zeros({n * n}, of.dtype(), edges.context())
        .scatter_add(0, at, of)
        .reshape({n, n});
  };
  return both_ways ? matrix(to, from) + matrix(from, to) : matrix(to, from);
}

Tensor normalised_adjacency(const Tensor& adjacency) {
  TN_REQUIRE(adjacency.rank() >= 2 && size_at(adjacency, -1) == size_at(adjacency, -2) &&
                 is_float(adjacency.dtype()),
             "[nn.normalised_adjacency] expected floats [.., n, n], got {}{}",
             dtype_name(adjacency.dtype()), shape_text(adjacency));
  const Tensor a = wide(adjacency) +
                   eye(size_at(adjacency, -1), {}, 0, wide(adjacency.dtype()), adjacency.context());
  const Tensor degree = a.sum(-1, true);
  const Tensor root = where(degree > 0, where(degree > 0, degree, 1.0).rsqrt(), 0.0);
  return (a * root * root.matrix_transpose()).astype(adjacency.dtype());
}

GCNConv::GCNConv(int64_t inputs, int64_t outputs, const GCNConvOptions& options)
    : lin(projection(inputs, outputs)) {
  if (options.bias) bias = Parameter({outputs}, zeros());
}

Tensor GCNConv::operator()(const Tensor& x, const Tensor& a) const {
  return in_layer(bias, [&] {
    check_graph("nn.gcn_conv", x, a);
    const Tensor sum = a.matmul(lin(x));
    return bias ? sum + *bias : sum;
  });
}

GATConv::GATConv(int64_t inputs, int64_t outputs, const GATConvOptions& options)
    : att_src(scores_of(options.heads, outputs)),
      att_dst(scores_of(options.heads, outputs)),
      lin(projection(inputs, options.heads * outputs)),
      concat(options.concat),
      slope(options.slope),
      dropout(Dropout(options.dropout).rate) {
  if (options.bias) bias = Parameter({concat ? options.heads * outputs : outputs}, zeros());
}

Tensor GATConv::operator()(const Tensor& x, const Tensor& adjacency, const Mode& mode) const {
  return in_layer(att_src, [&] {
    check_graph("nn.gat_conv", x, adjacency);
    const int64_t heads = att_src.declared->shape[1], size = att_src.declared->shape[2];
    Context& context = x.context();
    std::vector<Size> shape = x.sizes().vector();
    const Size n = shape[shape.size() - 2];
    shape.back() = heads;
    shape.emplace_back(size);
    const Tensor h = lin(x).reshape(shape);  // [.., n, heads, size]
    const auto scores = [&](const Parameter& by) {
      return wide(h * by).sum(-1).matrix_transpose();  // [.., heads, n]
    };
    const Tensor edge = adjacency.dtype() == DType::kBool ? adjacency : adjacency != 0;
    const Tensor seen = (edge | eye(n, {}, 0, DType::kBool, context)).expand_dims(-3);
    const Tensor e = leaky_relu(scores(att_dst).expand_dims(-1) + scores(att_src).expand_dims(-2),
                                slope.value());
    Tensor weights = where(seen, where(seen, e, -1e30).softmax(), 0.0);
    weights = Dropout(dropout.value())(weights, mode);
    const Tensor mixed =
        weights.astype(h.dtype()).matmul(h.swapaxes(-3, -2));  // [.., heads, n, size]
    shape.pop_back();
    shape.back() = heads * size;
    const Tensor out = concat ? mixed.swapaxes(-3, -2).reshape(shape) : mixed.mean(-3);
    return bias ? out + *bias : out;
  });
}

}  // namespace tenon::nn
