// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// VIEW and INDEX: results are positions, walked in row-major order.
#include "core/reference/kernels.hpp"
#include "core/support/error.hpp"

namespace tenon::reference {
namespace {

/// A view as arithmetic: source = base + sum(i * stride), padding where i is outside [begin, end).
struct Walk {
  int64_t base = 0;
  std::vector<int64_t> stride, begin, end;
};

Walk walk_of(const ViewAttr& attr, const std::vector<int64_t>& shape,
             const std::vector<int64_t>& source_shape, const SymbolValues& symbols) {
  const size_t rank = shape.size();
  const std::vector<int64_t> strides = strides_of(source_shape);
  Walk walk{0, strides, std::vector<int64_t>(rank, 0), shape};
  switch (attr.kind) {
    case ViewKind::kReshape:
      walk.stride = strides_of(shape);
      break;
    case ViewKind::kExpand:
      for (size_t i = 0; i < rank; ++i)
        if (source_shape[i] == 1) walk.stride[i] = 0;
      break;
    case ViewKind::kPermute:
      for (size_t i = 0; i < rank; ++i) walk.stride[i] = strides[attr.axes[i]];
      break;
    case ViewKind::kPad:
      for (size_t i = 0; i < rank; ++i) {
        walk.begin[i] = attr.pairs[i].first.evaluate(symbols);
        walk.end[i] = walk.begin[i] + source_shape[i];
        walk.base -= walk.begin[i] * strides[i];
      }
      break;
    case ViewKind::kShrink:
      for (size_t i = 0; i < rank; ++i)
        walk.base += attr.pairs[i].first.evaluate(symbols) * strides[i];
      break;
    case ViewKind::kFlip:
      for (const int axis : attr.axes) {
        walk.base += (shape[axis] - 1) * strides[axis];
        walk.stride[axis] = -strides[axis];
      }
      break;
  }
  return walk;
}

}  // namespace

void walk_view(const Node& node, const std::vector<int64_t>& shape,
               const std::vector<int64_t>& source_shape, const SymbolValues& symbols,
               const std::function<void(int64_t, int64_t)>& element) {
  const Walk walk = walk_of(node.as<ViewAttr>(), shape, source_shape, symbols);
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  std::vector<int64_t> at(shape.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    int64_t source = walk.base;
    bool in_source = true;
    for (size_t k = 0; k < at.size(); ++k) {
      source += at[k] * walk.stride[k];
      in_source &= at[k] >= walk.begin[k] && at[k] < walk.end[k];
    }
    element(i, in_source ? source : -1);
    for (size_t k = at.size(); k-- > 0;) {
      if (++at[k] < shape[k]) break;
      at[k] = 0;
    }
  }
}

Array view(const Node& node, const Array& x, const SymbolValues& symbols) {
  const auto& attr = node.as<ViewAttr>();
  std::vector<int64_t> shape = concrete_shape(node.shape, symbols);
  if (attr.kind == ViewKind::kReshape) {
    Array out{x.dtype, std::move(shape), x.bytes};
    TN_REQUIRE(out.count() == x.count(), "[reshape] expected {} elements, got {}", x.count(),
               out.count());
    return out;
  }
  Array out = Array::zeros(node.dtype, shape);
  walk_view(node, shape, x.shape, symbols,
            [&](int64_t i, int64_t source) { out.set(i, source < 0 ? attr.fill : x.at(source)); });
  return out;
}

Array index(const Node& node, std::vector<int64_t> shape) {
  Array out = Array::zeros(node.dtype, std::move(shape));
  if (out.bytes.empty()) return out;
  const int axis = node.as<IndexAttr>().axis;
  const int64_t stride = strides_of(out.shape)[axis];
  for (int64_t i = 0; i < out.count(); ++i)
    out.set(i, Scalar::of_int(node.dtype, i / stride % out.shape[axis]));
  return out;
}

}  // namespace tenon::reference
