// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gather and scatter.
#include "core/support/error.hpp"
#include "frontend/tensor/state.hpp"

namespace tenon {

Tensor Tensor::gather(int axis, const Tensor& index) const {
  return make_tensor(context(), builder_of(*this).take(node_of(*this), node_in(context(), index),
                                                       normalise_axis("gather", axis, rank())));
}

Tensor Tensor::take(int axis, const Tensor& index) const {
  axis = normalise_axis("take", axis, rank());
  TN_REQUIRE(index.rank() == 1, "[take] expected an index of rank 1, got rank {}", index.rank());
  const auto at = static_cast<size_t>(axis);
  Shape shape(static_cast<size_t>(rank()), Dim(1)), whole = dims_of(*this);
  shape[at] = whole[at] = dims_of(index)[0];
  Builder& builder = builder_of(*this);
  return gather(
      axis, make_tensor(context(),
                        builder.expand(builder.reshape(node_in(context(), index), std::move(shape)),
                                       std::move(whole))));
}

Tensor Tensor::scatter(int axis, const Tensor& index, const Tensor& values) const {
  return make_tensor(
      context(),
      builder_of(*this).store(node_of(*this), node_in(context(), index), node_in(context(), values),
                              normalise_axis("scatter", axis, rank()), StoreMode::kLast));
}

Tensor Tensor::scatter_add(int axis, const Tensor& index, const Tensor& values) const {
  return make_tensor(
      context(),
      builder_of(*this).store(node_of(*this), node_in(context(), index), node_in(context(), values),
                              normalise_axis("scatter_add", axis, rank()), StoreMode::kAdd));
}

}  // namespace tenon
