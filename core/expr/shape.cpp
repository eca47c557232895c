// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes: lists of dimensions.
#include <algorithm>

#include "core/expr/expr.hpp"

namespace tenon {

Dim product(const Shape& shape) {
  Dim result = 1;
  for (const Dim& d : shape) result = result * d;
  return result;
}

bool is_static(const Shape& shape) {
  return std::ranges::all_of(shape, [](const Dim& d) { return d.is_const(); });
}

std::string to_string(const Shape& shape) {
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) out += ", ";
    out += to_string(shape[i]);
  }
  return out + "]";
}

Shape row_major_strides(const Shape& shape) {
  Shape strides(shape.size(), Dim(1));
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

bool same_shape(const Shape& a, const Shape& b) { return a == b; }

}  // namespace tenon
