// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TAKE and STORE along one axis.
#include "core/reference/kernels.hpp"

namespace tenon::reference {

AxisWalk::AxisWalk(const std::vector<int64_t>& x_shape, const std::vector<int64_t>& index_shape,
                   int axis)
    : size_(x_shape[axis]), inner_(1), index_size_(index_shape[axis]) {
  for (size_t k = axis + 1; k < x_shape.size(); ++k) inner_ *= x_shape[k];
}

int64_t AxisWalk::at(int64_t i, int64_t position) const {
  if (position < 0 || position >= size_) return -1;
  const int64_t outer = i / (inner_ * index_size_);
  return (outer * size_ + position) * inner_ + i % inner_;
}

int64_t position_at(const Array& index, int64_t i) {
  const int64_t position = index.at(i).as_int();  // u64 beyond i64 reads as negative: outside too
  return position;
}

Array take(const Node& node, const Array& x, const Array& index) {
  Array out = Array::zeros(node.dtype, index.shape);
  const AxisWalk walk(x.shape, index.shape, node.as<TakeAttr>().axis);
  for (int64_t i = 0; i < out.count(); ++i) {
    const int64_t from = walk.at(i, position_at(index, i));
    if (from >= 0) out.set(i, x.at(from));
  }
  return out;
}

Array store(const Node& node, const Array& x, const Array& index, const Array& values) {
  Array out = x;
  const auto& attr = node.as<StoreAttr>();
  const AxisWalk walk(x.shape, index.shape, attr.axis);
  for (int64_t i = 0; i < index.count(); ++i) {
    const int64_t to = walk.at(i, position_at(index, i));
    if (to < 0) continue;
    const Scalar value = values.at(i);
    out.set(to, attr.mode == StoreMode::kLast
                    ? value
                    : evaluate_scalar(Op::ADD, out.dtype, {out.at(to), value}));
  }
  return out;
}

}  // namespace tenon::reference
