// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/tensor/matrices.hpp"

#include "core/support/error.hpp"

namespace tenon {

Tensors loop(const Dim& trips, const Tensors& carried, const Tensors& captured,
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
    for (const Tensor& t : tensors) inside.push_back(param(t.dtype(), dims_of(t)));
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
  const NodeRef times = trips.is_const()
                            ? builder.constant(Scalar::of_int(DType::kI64, trips.value()))
                            : builder.dim(trips);
  Tensors results;
  for (size_t k = 0; k < carried.size(); ++k)
    results.push_back(
        make_tensor(context, builder.loop(times, nodes(carried), nodes(captured), graph,
                                          /*is_while=*/false, static_cast<int>(k))));
  return results;
}

Tensor matrices(const char* op, const Tensor& x) {
  TN_REQUIRE(x.rank() >= 2, "[{}] expected matrices [.., m, n], got rank {}", op, x.rank());
  const Shape& shape = dims_of(x);
  const Dim batch = product(Shape(shape.begin(), shape.end() - 2));
  return as_real(x).reshape(to_sizes({batch, shape[shape.size() - 2], shape.back()}));
}

Tensor square_matrices(const char* op, const Tensor& x) {
  Tensor all = matrices(op, x);
  TN_REQUIRE(dims_of(all)[1] == dims_of(all)[2], "[{}] expected square matrices [.., n, n], got {}",
             op, to_string(dims_of(x)));
  return all;
}

Tensor unbatched(const Tensor& result, const Tensor& x) {
  const Shape &own = dims_of(result), &whole = dims_of(x);
  Shape shape(whole.begin(), whole.end() - 2);
  shape.insert(shape.end(), own.begin() + 1, own.end());
  return (is_float(result.dtype()) ? rounded(result, real_dtype(x)) : result)
      .reshape(to_sizes(shape));
}

Tensor column_at(const Tensor& x, const Tensor& i) {
  return x.gather(
      2, i.reshape({1, 1, 1}).broadcast_to(to_sizes({dims_of(x)[0], dims_of(x)[1], Dim(1)})));
}

Tensor row_at(const Tensor& x, const Tensor& i) {
  return x.gather(
      1, i.reshape({1, 1, 1}).broadcast_to(to_sizes({dims_of(x)[0], Dim(1), dims_of(x)[2]})));
}

Tensor rows_in_order(const Tensor& x, const Tensor& order) {
  return x.gather(1, order.expand_dims(-1).broadcast_to(
                         to_sizes({dims_of(x)[0], dims_of(order)[1], dims_of(x)[2]})));
}

Tensor identity_like(const Tensor& x, const Dim& n) {
  const Tensor whole = filled(x, to_sizes({dims_of(x)[0], n, n}), 0, x.dtype());
  return where(positions(whole, 1) == positions(whole, 2), constant_like(whole, 1), whole);
}

Tensor diagonal_of(const Tensor& x) {
  const Dim n = min(dims_of(x)[1], dims_of(x)[2]);
  const Tensor place =
      positions(filled(x, to_sizes({dims_of(x)[0], n, Dim(1)}), 0, DType::kI64), 1);
  const Tensor top = x.slice({Slice{}, Slice{0, size_of(n)}});
  return top.gather(2, place).squeeze(-1);
}

std::pair<Tensor, Tensor> with_one_batch(const char* op, const Tensor& a, const Tensor& b) {
  const Shape &x = dims_of(a), &y = dims_of(b);
  const Shape batch =
      broadcast_shapes(op, Shape(x.begin(), x.end() - 2), Shape(y.begin(), y.end() - 2));
  const auto grown = [&](const Tensor& t, const Shape& own) {
    Shape shape = batch;
    shape.insert(shape.end(), own.end() - 2, own.end());
    return t.broadcast_to(to_sizes(shape));
  };
  return {grown(a, x), grown(b, y)};
}

}  // namespace tenon
