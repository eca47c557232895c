// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements by position.
#include "core/support/as_op.hpp"
#include "core/support/error.hpp"
#include "frontend/tensor/sizes.hpp"

namespace tenon {

namespace {

void require_index(const char* op, const Tensor& index) {
  TN_REQUIRE(is_int(index.dtype()), "[{}] expected an index of integers, got {}", op,
             dtype_name(index.dtype()));
}

}  // namespace

Tensor gather(const Tensor& x, int axis, const Tensor& index) {
  require_index("gather", index);
  axis = normalise_axis("gather", axis, x.rank());
  return as_op("gather", [&] {
    return make_tensor(x.context(),
                       builder_of(x).take(node_of(x), node_in(x.context(), index), axis));
  });
}

Tensor take(const Tensor& x, const Tensor& indices, int axis) {
  axis = normalise_axis("take", axis, x.rank());
  TN_REQUIRE(indices.rank() == 1, "[take] expected indices of rank 1, got rank {}", indices.rank());
  require_index("take", indices);
  const auto at = static_cast<size_t>(axis);
  Shape shape(static_cast<size_t>(x.rank()), Dim(1)), whole = dims_of(x);
  shape[at] = whole[at] = dims_of(indices)[0];
  Builder& builder = builder_of(x);
  const NodeRef own = builder.reshape(node_in(x.context(), indices), std::move(shape));
  return gather(x, axis, make_tensor(x.context(), builder.expand(own, std::move(whole))));
}

Tensor take(const Tensor& x, int64_t index, int axis) {
  axis = normalise_axis("take", axis, x.rank());
  const Dim& extent = dims_of(x)[static_cast<size_t>(axis)];
  TN_REQUIRE(-extent.min() <= index && index < extent.min(),
             "[take] expected an index in [{}, {}), got {}", to_string(-extent), to_string(extent),
             index);
  const Size at = size_of(index < 0 ? extent + index : Dim(index));
  std::vector<Slice> ranges(static_cast<size_t>(axis) + 1);
  ranges.back() = {at, at + 1};
  return x.slice(std::move(ranges)).squeeze(axis);
}

namespace {

Tensor store(const char* op, StoreMode mode, const Tensor& x, int axis, const Tensor& index,
             const Tensor& values) {
  Context& context = x.context();
  axis = normalise_axis(op, axis, x.rank());
  require_index(op, index);
  return as_op(op, [&] {
    return make_tensor(context, builder_of(x).store(node_of(x), node_in(context, index),
                                                    node_in(context, values), axis, mode));
  });
}

}  // namespace

Tensor scatter(const Tensor& x, int axis, const Tensor& index, const Tensor& values) {
  return store("scatter", StoreMode::kLast, x, axis, index, values);
}

Tensor scatter_add(const Tensor& x, int axis, const Tensor& index, const Tensor& values) {
  return store("scatter_add", StoreMode::kAdd, x, axis, index, values);
}

}  // namespace tenon
