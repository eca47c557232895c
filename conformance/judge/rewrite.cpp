// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/judge/rewrite.hpp"

#include <cstring>

namespace tenon::conformance::judge {

Strided Strided::dense(std::vector<int64_t> shape) {
  Strided out;
  out.shape = std::move(shape);
  out.strides.resize(out.shape.size());
  int64_t stride = 1;
  for (size_t axis = out.shape.size(); axis-- > 0; stride *= out.shape[axis])
    out.strides[axis] = stride;
  return out;
}

Strided Strided::permuted(const std::vector<int>& axes) const {
  Strided out = *this;
  for (size_t i = 0; i < axes.size(); ++i) {
    out.shape[i] = shape[static_cast<size_t>(axes[i])];
    out.strides[i] = strides[static_cast<size_t>(axes[i])];
  }
  return out;
}

Strided Strided::flipped(const std::vector<int>& axes) const {
  Strided out = *this;
  for (const int a : axes) {
    const auto axis = static_cast<size_t>(a);
    out.offset += (shape[axis] - 1) * strides[axis];
    out.strides[axis] = -strides[axis];
  }
  return out;
}

Strided Strided::sliced(size_t axis, int64_t begin, int64_t end) const {
  Strided out = *this;
  out.offset += begin * strides[axis];
  out.shape[axis] = end - begin;
  return out;
}

std::vector<int64_t> Strided::places() const {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  std::vector<int64_t> out;
  out.reserve(static_cast<size_t>(count));
  std::vector<int64_t> at(shape.size(), 0);
  for (int64_t place = offset; count-- > 0;) {
    out.push_back(place);
    for (size_t axis = shape.size(); axis-- > 0;) {
      place += strides[axis];
      if (++at[axis] < shape[axis]) break;
      place -= strides[axis] * shape[axis];
      at[axis] = 0;
    }
  }
  return out;
}

Array gather(const Array& from, const std::vector<int64_t>& shape,
             const std::vector<int64_t>& places) {
  Array out = Array::zeros(from.dtype, shape);
  const size_t size = dtype_size(from.dtype);
  for (size_t i = 0; i < places.size(); ++i)
    std::memcpy(out.bytes.data() + i * size,
                from.bytes.data() + static_cast<size_t>(places[i]) * size, size);
  return out;
}

void scatter(const Array& from, const std::vector<int64_t>& places, Array& to) {
  const size_t size = dtype_size(from.dtype);
  for (size_t i = 0; i < places.size(); ++i)
    std::memcpy(to.bytes.data() + static_cast<size_t>(places[i]) * size,
                from.bytes.data() + i * size, size);
}

}  // namespace tenon::conformance::judge
