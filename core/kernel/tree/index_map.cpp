// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/tree/index_map.hpp"

namespace tenon {
namespace {

bool is_one(const Dim& dim) { return dim.is_const(1); }

/// Splits a row-major position over the dimensions [begin, end) of a shape.
void unravel(const Expr& position, const Shape& shape, size_t begin, size_t end, IndexTuple& out) {
  Expr rest = position;
  size_t first = begin;
  while (first < end && is_one(shape[first])) ++first;
  for (size_t d = end; d-- > begin;) {
    if (is_one(shape[d])) {
      out[d] = 0;
    } else if (d == first) {
      out[d] = rest;
    } else {
      const Expr size = max(shape[d], 1);
      out[d] = mod(rest, size);
      rest = floor_div(rest, size);
    }
  }
}

std::vector<Expr> prefix_products(const Shape& shape) {
  std::vector<Expr> products{1};
  for (const Dim& dim : shape) products.push_back(products.back() * dim);
  return products;
}

}  // namespace

Expr linearise(const IndexTuple& index, const Shape& shape) {
  Expr position = 0, stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    position = position + index[d] * stride;
    stride = stride * shape[d];
  }
  return position;
}

IndexTuple reshape_index(const IndexTuple& index, const Shape& shape, const Shape& source) {
  IndexTuple out(source.size(), Expr(0));
  if (product(source).is_const(0)) return out;
  const std::vector<Expr> from = prefix_products(source), to = prefix_products(shape);
  size_t i = 0, j = 0;
  while (i < source.size()) {
    size_t next_i = i, next_j = j;
    // The nearest ends with equal products. The ends of both shapes have equal products.
    bool found = false;
    for (size_t a = i + 1; a <= source.size() && !found; ++a)
      for (size_t b = j; b <= shape.size() && !found; ++b)
        if (from[a] == to[b]) next_i = a, next_j = b, found = true;
    if (!found) next_i = source.size(), next_j = shape.size();
    if (next_i == i + 1 && next_j == j + 1) {
      out[i] = index[j];
    } else {
      Expr position = 0, stride = 1;
      for (size_t d = next_j; d-- > j;) {
        position = position + index[d] * stride;
        stride = stride * shape[d];
      }
      unravel(position, source, i, next_i, out);
    }
    i = next_i, j = next_j;
  }
  return out;
}

SourceIndex view_index(const Node& view, const IndexTuple& index) {
  const auto& attr = view.as<ViewAttr>();
  const Shape& source = view.sources[0]->shape;
  SourceIndex out;
  out.index = index;
  switch (attr.kind) {
    case ViewKind::kReshape:
      out.index = reshape_index(index, view.shape, source);
      break;
    case ViewKind::kExpand:
      for (size_t d = 0; d < source.size(); ++d)
        if (is_one(source[d])) out.index[d] = 0;
      break;
    case ViewKind::kPermute:
      for (size_t d = 0; d < index.size(); ++d) out.index[attr.axes[d]] = index[d];
      break;
    case ViewKind::kPad:
      for (size_t d = 0; d < index.size(); ++d) {
        const Expr& before = attr.pairs[d].first;
        out.in_bounds = logical_and(out.in_bounds, less(before - 1, index[d]));
        out.in_bounds = logical_and(out.in_bounds, less(index[d], before + source[d]));
        out.index[d] = index[d] - before;
      }
      break;
    case ViewKind::kShrink:
      for (size_t d = 0; d < index.size(); ++d) out.index[d] = index[d] + attr.pairs[d].first;
      break;
    case ViewKind::kFlip:
      for (const int d : attr.axes) out.index[d] = source[d] - 1 - index[d];
      break;
  }
  return out;
}

}  // namespace tenon
