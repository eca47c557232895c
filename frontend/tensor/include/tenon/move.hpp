// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes, order and parts; reshape, expand, permute, slice, cat and more are members of Tensor.
//
// Any dtype. A negative axis counts from the end. Most are views and cost no kernel; what joins
// tensors is one.
#pragma once

#include <utility>
#include <vector>

#include "tenon/export.hpp"
#include "tenon/tensor.hpp"

namespace tenon {

// Joining and cutting.
TENON_API Tensor concatenate(const std::vector<Tensor>& tensors, int axis = 0);  ///< Tensor::cat
TENON_API Tensor stack(const std::vector<Tensor>& tensors, int axis = 0);  ///< along a new axis
TENON_API Tensor vstack(const std::vector<Tensor>& tensors);  ///< as rows: along axis 0
TENON_API Tensor hstack(const std::vector<Tensor>& tensors);  ///< along axis 1; rank 1: axis 0
/// Into parts of the given sizes, which add up to the axis.
TENON_API std::vector<Tensor> split(const Tensor& x, const std::vector<int64_t>& sizes,
                                    int axis = 0);
/// Into at most `count` parts of ceil(size / count), the last one smaller, as PyTorch.
TENON_API std::vector<Tensor> chunk(const Tensor& x, int64_t count, int axis = 0);

// Repeating.
TENON_API Tensor tile(const Tensor& x, std::vector<int64_t> counts);  ///< the whole, by axis
TENON_API Tensor repeat(const Tensor& x, int64_t count, int axis);    ///< each element in a row
/// Elements that leave an axis at its end come in at its begin; no axes: of the flattened tensor.
TENON_API Tensor roll(const Tensor& x, std::vector<int64_t> shifts, std::vector<int> axes = {});

// Axes.
TENON_API Tensor broadcast_to(const Tensor& x, std::vector<int64_t> shape);  ///< Tensor::expand
/// Axes `from` at the places `to`, the others in order in what is left.
TENON_API Tensor moveaxis(const Tensor& x, std::vector<int> from, std::vector<int> to);
TENON_API Tensor swapaxes(const Tensor& x, int a, int b);  ///< Tensor::transpose
/// A quarter turn, so many times, in the plane of two axes, from the first to the second.
TENON_API Tensor rot90(const Tensor& x, int times = 1, int from = 0, int to = 1);
TENON_API Tensor expand_dims(const Tensor& x, std::vector<int> axes);   ///< places in the result
TENON_API Tensor squeeze(const Tensor& x, std::vector<int> axes = {});  ///< none: all of size 1
TENON_API Tensor atleast_nd(const Tensor& x, int rank);                 ///< leading axes of size 1
TENON_API Tensor ravel(const Tensor& x);                                ///< Tensor::flatten

// Parts.
/// Elements at offset + sum of position * stride of the flattened tensor; strides may be 0 and
/// negative. A gather: one kernel. Throws for what lies outside.
TENON_API Tensor as_strided(const Tensor& x, std::vector<int64_t> shape,
                            std::vector<int64_t> strides, int64_t offset = 0);
/// Elements whose positions on two axes differ by `offset`, as a new last axis.
TENON_API Tensor diagonal(const Tensor& x, int64_t offset = 0, int axis1 = 0, int axis2 = 1);
/// Of rank 1 the matrix with that diagonal, of rank 2 its diagonal.
TENON_API Tensor diag(const Tensor& x, int64_t offset = 0);
/// Windows of `size` elements, `step` apart: the axis counts windows, a new last one is inside.
TENON_API Tensor unfold(const Tensor& x, int axis, int64_t size, int64_t step = 1);

/// What stands before and after an axis: the tensor mirrored without its edge, its edge, or its
/// other end. Tensor::pad puts a number there.
enum class PadMode : uint8_t { kReflect, kReplicate, kCircular };
/// Pairs for the leading axes, as Tensor::pad. Throws where a side is larger than what can be
/// mirrored (size - 1), copied (any, of a size above 0) or gone around (size).
TENON_API Tensor pad(const Tensor& x, const std::vector<std::pair<int64_t, int64_t>>& pairs,
                     PadMode mode);

// Memory.
TENON_API Tensor contiguous(const Tensor& x);  ///< computed now, into one dense buffer
TENON_API Tensor copy(const Tensor& x);        ///< the same, into a buffer of its own

}  // namespace tenon
