// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Order and counting; sort and argsort are rows of functions.def.
//
// -0 counts as 0 and NaN stands after all numbers, as in NumPy. Any shape; a negative axis counts
// from the end. Positions are i64. Wrong axes and dtypes throw kInvalid. Functions whose result's
// size depends on values run what they need and wait: they say so.
#pragma once

#include "tenon/export.hpp"
#include "tenon/tensor.hpp"

namespace tenon {

struct TopK {
  Tensor values, indices;
};
/// The k largest, the largest first (NaN counts as largest), or the k smallest; of equals the
/// first one first. Throws for k outside [0, size of the axis].
TENON_API TopK topk(const Tensor& x, int64_t k, int axis = -1, bool largest = true);

/// Where values would go into `sorted` [n] to keep it sorted, i64 in their shape: before equals, or
/// (`right`) after them. By bisection. Dtypes must be equal.
TENON_API Tensor searchsorted(const Tensor& sorted, const Tensor& values, bool right = false);

/// How often 0, 1, .. length - 1 occur in integers, i64, or the sums of their weights. Other
/// integers are left out.
TENON_API Tensor bincount(const Tensor& x, int64_t length);
TENON_API Tensor bincount(const Tensor& x, int64_t length, const Tensor& weights);
/// The same up to the largest integer, which is read back. Throws for negative ones.
TENON_API Tensor bincount(const Tensor& x);

struct Histogram {
  Tensor counts;  ///< i64 [bins]
  Tensor edges;   ///< f32 or f64 [bins + 1]
};
/// Counts in bins of equal width from `low` to `high`, the last one closed; NaN and what lies
/// outside is left out. Throws unless 0 < bins <= 2^26 and low < high, both finite.
TENON_API Histogram histogram(const Tensor& x, int64_t bins, double low, double high);

struct Unique {
  Tensor values;   ///< sorted; NaN once
  Tensor indices;  ///< of the first occurrence in the flattened tensor
  Tensor inverse;  ///< values[inverse] is the tensor, in its shape
  Tensor counts;
};
/// Reads back how many there are.
TENON_API Unique unique(const Tensor& x);
/// Positions of elements that are not 0, one tensor an axis, in row-major order. Reads back how
/// many there are. Throws for rank 0.
TENON_API std::vector<Tensor> nonzero(const Tensor& x);
/// Elements of x where the mask is true, [count]; the two broadcast. Reads back how many there are.
TENON_API Tensor masked_select(const Tensor& x, const Tensor& mask);

}  // namespace tenon
