// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading and writing parts of tensors, as NumPy's brackets do.
//
//   get(x, {0, Slice{1, {}, 2}, new_axis})       x[0, 1::2, None]
//   get(x, {ellipsis, rows})                     x[..., rows]
//   x = set(x, {mask}, 0)                        x[mask] = 0
//   x = set(x, {rows}, values, Combine::kAdd)    np.add.at(x, rows, values)
//
// Nothing is written in place: `set` gives a new tensor. Positions below zero count
// from the end. An integer outside of its axis throws kInvalid; a position in a tensor that is
// outside reads 0 and writes nothing. Results are the same on every device and in every run.
#pragma once

#include <concepts>
#include <cstdint>
#include <variant>
#include <vector>

#include "tenon/export.hpp"
#include "tenon/tensor.hpp"

namespace tenon {

struct Ellipsis {};
struct NewAxis {};
inline constexpr Ellipsis ellipsis;  ///< as many whole axes as are left
inline constexpr NewAxis new_axis;   ///< an axis of size 1

/// One of the things between brackets.
class TENON_API Index {
 public:
  template <std::integral T>
  requires(!std::same_as<T, bool>) Index(T at) : value_(static_cast<int64_t>(at)) {}  // NOLINT
  Index(Slice range) : value_(range) {}        // NOLINT: ends beyond the axis are cut
  Index(Ellipsis all) : value_(all) {}         // NOLINT
  Index(NewAxis axis) : value_(axis) {}        // NOLINT
  Index(Tensor at) : value_(std::move(at)) {}  // NOLINT: integers, or a mask of bool
  using Value = std::variant<int64_t, Slice, Ellipsis, NewAxis, Tensor>;
  const Value& value() const { return value_; }

 private:
  Value value_;
};

/// x[index]. Index tensors broadcast with each other, and their axes stand where the first of them
/// did, or in front where others lie between (NumPy's rule; integers beside them count as such
/// tensors). A mask covers as many axes as it has, and how many are true is read back. Integers,
/// slices and new axes alone are views.
TENON_API Tensor get(const Tensor& x, const std::vector<Index>& index);
/// x with x[index] = values, which broadcast to the part; of several values for one element
/// `combine` says. A single number for a mask reads nothing back. Throws where dtypes differ.
TENON_API Tensor set(const Tensor& x, const std::vector<Index>& index, const Tensor& values,
                     Combine combine = Combine::kReplace);

}  // namespace tenon
