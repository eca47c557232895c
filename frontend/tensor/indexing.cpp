// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gather and scatter.
#include <fmt/ranges.h>

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
  std::vector<int64_t> shape(static_cast<size_t>(rank()), 1);
  shape[static_cast<size_t>(axis)] = index.size();
  std::vector<int64_t> whole = this->shape();
  whole[static_cast<size_t>(axis)] = index.size();
  return gather(axis, index.reshape(std::move(shape)).expand(std::move(whole)));
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
