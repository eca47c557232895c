// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loops of the reference, one function for each kind of node. Private to core/reference.
#pragma once

#include <functional>
#include <vector>

#include "core/reference/reference.hpp"

namespace tenon::reference {

using Operands = std::vector<const Array*>;

/// Row-major strides in elements.
std::vector<int64_t> strides_of(const std::vector<int64_t>& shape);

/// Elements as doubles, `count` from `first` on; floats only. And back, rounding once.
void load_floats(const Array& array, int64_t first, int64_t count, double* out);
void store_floats(Array& array, int64_t first, int64_t count, const double* values);
/// The same for integers and bool, sign- or zero-extended; the low bits are stored.
void load_ints(const Array& array, int64_t first, int64_t count, uint64_t* out);
void store_bits(Array& array, int64_t first, int64_t count, const uint64_t* values);
/// Bits of any dtype, zero-extended.
void load_bits(const Array& array, int64_t first, int64_t count, uint64_t* out);

Array elementwise(const Node& node, const Operands& operands);
Array bit_cast(DType dtype, const Array& x);
Array index(const Node& node, std::vector<int64_t> shape);
Array reduce(const Node& node, const Array& x);
Array take(const Node& node, const Array& x, const Array& index);
Array store(const Node& node, const Array& x, const Array& index, const Array& values);

/// Where each element of a VIEW's result comes from: calls `element(result, source)` in order of
/// the result, with source -1 for padding.
void walk_view(const Node& node, const std::vector<int64_t>& shape,
               const std::vector<int64_t>& source_shape, const SymbolValues& symbols,
               const std::function<void(int64_t, int64_t)>& element);
/// The same for REDUCE: calls `element(result, source)`, for each result its sources in row-major
/// order.
void walk_reduce(const ReduceAttr& attr, const std::vector<int64_t>& source_shape,
                 const std::function<void(int64_t, int64_t)>& element);
/// TAKE and STORE: flat positions of element i of the index in an array with x's shape, but for
/// the axis.
struct AxisWalk {
  AxisWalk(const std::vector<int64_t>& x_shape, const std::vector<int64_t>& index_shape, int axis);
  /// Flat index into x, or -1 where `position` is out of bounds.
  int64_t at(int64_t i, int64_t position) const;

 private:
  int64_t size_, inner_, index_size_;
};
int64_t position_at(const Array& index, int64_t i);

Array view(const Node& node, const Array& x, const SymbolValues& symbols);

}  // namespace tenon::reference
