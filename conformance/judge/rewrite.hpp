// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small tools of the metamorphic relations: graphs with a node replaced, arrays with their elements
// in another order.
#pragma once

#include <vector>

#include "conformance/cases/case.hpp"
#include "core/ir/build.hpp"

namespace tenon::conformance::judge {

/// A view of a dense array: sizes, strides and offset in elements.
struct Strided {
  std::vector<int64_t> shape, strides;
  int64_t offset = 0;

  static Strided dense(std::vector<int64_t> shape);
  Strided permuted(const std::vector<int>& axes) const;  ///< result axis i is axis axes[i]
  Strided flipped(const std::vector<int>& axes) const;
  Strided sliced(size_t axis, int64_t begin, int64_t end) const;
  /// Flat positions of its elements in the dense array, row-major.
  std::vector<int64_t> places() const;
};

/// The elements at these places, as a dense array of the shape.
Array gather(const Array& from, const std::vector<int64_t>& shape,
             const std::vector<int64_t>& places);
/// Puts the elements of `from` at these places.
void scatter(const Array& from, const std::vector<int64_t>& places, Array& to);

}  // namespace tenon::conformance::judge
