// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/tensor/matrices.hpp"

#include <fmt/ranges.h>

#include "core/support/error.hpp"

namespace tenon {

Tensors loop(int64_t trips, const Tensors& carried, const Tensors& captured,
             const std::function<Tensors(const Tensor& i, const Tensors& carried,
                                         const Tensors& captured)>& body) {
  Context& context = carried.at(0).context();
  Builder& builder = builder_of(context);
  auto graph = std::make_shared<Graph>();
  graph->name = "body";
  const auto param = [&](DType dtype, const Shape& shape) {
    NodeRef node = builder.param("p" + std::to_string(graph->params.size()), dtype, shape);
    graph->params.push_back(node);
    return make_tensor(context, std::move(node));
  };
  const auto params = [&](const Tensors& tensors) {
    Tensors inside;
    for (const Tensor& t : tensors) inside.push_back(param(t.dtype(), to_shape(t.shape())));
    return inside;
  };
  const Tensor i = param(DType::kI64, {});
  const Tensors state = params(carried), fixed = params(captured);
  for (const Tensor& next : body(i, state, fixed)) {
    graph->outputs.push_back(node_of(next));
    graph->output_names.emplace_back();
  }
  const auto nodes = [](const Tensors& tensors) {
    std::vector<NodeRef> all;
    for (const Tensor& t : tensors) all.push_back(node_of(t));
    return all;
  };
  const NodeRef times = builder.constant(Scalar::of_int(DType::kI64, trips));
  Tensors results;
  for (size_t k = 0; k < carried.size(); ++k)
    results.push_back(
        make_tensor(context, builder.loop(times, nodes(carried), nodes(captured), graph,
                                          /*is_while=*/false, static_cast<int>(k))));
  return results;
}

Tensor matrices(const char* op, const Tensor& x) {
  TN_REQUIRE(x.rank() >= 2, "[{}] expected matrices [.., m, n], got rank {}", op, x.rank());
  int64_t batch = 1;
  for (int axis = 0; axis < x.rank() - 2; ++axis) batch *= x.size(axis);
  return as_real(x).reshape({batch, x.size(-2), x.size(-1)});
}

Tensor square_matrices(const char* op, const Tensor& x) {
  Tensor all = matrices(op, x);
  TN_REQUIRE(x.size(-1) == x.size(-2), "[{}] expected square matrices [.., n, n], got [{}]", op,
             fmt::join(x.shape(), ", "));
  return all;
}

Tensor unbatched(const Tensor& result, const Tensor& x) {
  const std::vector<int64_t> own = result.shape(), whole = x.shape();
  std::vector<int64_t> shape(whole.begin(), whole.end() - 2);
  shape.insert(shape.end(), own.begin() + 1, own.end());
  return (is_float(result.dtype()) ? rounded(result, real_dtype(x)) : result).reshape(shape);
}

Tensor column_at(const Tensor& x, const Tensor& i) {
  return x.gather(2, i.reshape({1, 1, 1}).broadcast_to({x.size(0), x.size(1), 1}));
}

Tensor row_at(const Tensor& x, const Tensor& i) {
  return x.gather(1, i.reshape({1, 1, 1}).broadcast_to({x.size(0), 1, x.size(2)}));
}

Tensor rows_in_order(const Tensor& x, const Tensor& order) {
  return x.gather(1, order.expand_dims(-1).broadcast_to({x.size(0), order.size(1), x.size(2)}));
}

Tensor identity_like(const Tensor& x, int64_t n) {
  const Tensor whole = filled(x, {x.size(0), n, n}, 0, x.dtype());
  return where(positions(whole, 1) == positions(whole, 2), constant_like(whole, 1), whole);
}

Tensor diagonal_of(const Tensor& x) {
  const int64_t n = std::min(x.size(1), x.size(2));
  const Tensor place = positions(filled(x, {x.size(0), n, 1}, 0, DType::kI64), 1);
  const Tensor top = x.slice({Slice{}, Slice{0, n}});
  return top.gather(2, place).squeeze(-1);
}

std::pair<Tensor, Tensor> with_one_batch(const char* op, const Tensor& a, const Tensor& b) {
  const std::vector<int64_t> x = a.shape(), y = b.shape();
  std::vector<int64_t> batch = broadcast_shapes(op, std::vector<int64_t>(x.begin(), x.end() - 2),
                                                std::vector<int64_t>(y.begin(), y.end() - 2));
  const auto grown = [&](const Tensor& t, const std::vector<int64_t>& own) {
    std::vector<int64_t> shape = batch;
    shape.insert(shape.end(), own.end() - 2, own.end());
    return t.broadcast_to(shape);
  };
  return {grown(a, x), grown(b, y)};
}

}  // namespace tenon
