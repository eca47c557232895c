// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes in messages, and sizes of axes, which may be symbols.
#pragma once

#include <string>

#include "core/support/error.hpp"
#include "tenon/tensor.hpp"

namespace tenon::nn {

inline std::string shape_text(const Sizes& sizes) {
  std::string out = "[";
  for (size_t i = 0; i < sizes.size(); ++i) out += (i ? ", " : "") + sizes[i].text();
  return out + "]";
}
inline std::string shape_text(const Tensor& x) { return shape_text(x.sizes()); }

/// Of an axis that is there; one below zero counts from the end.
inline Size size_at(const Tensor& x, int axis) {
  return x.sizes()[static_cast<size_t>(axis < 0 ? axis + x.rank() : axis)];
}

/// The same where a function needs a number.
inline int64_t fixed_size_at(const char* op, const Tensor& x, int axis) {
  const Size size = size_at(x, axis);
  TN_REQUIRE(size.is_fixed(), "[{}] expected a number as the size of axis {}, got {} in [{}, {}]",
             op, axis < 0 ? axis + x.rank() : axis, size.text(), size.minimum(), size.maximum());
  return size.value();
}

}  // namespace tenon::nn
