// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules of VIEW, REDUCE, TAKE, STORE and COPY.
#include <algorithm>

#include "core/ir/infer.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

/// a <= b for all values of the symbols.
bool at_most(const Expr& a, const Expr& b) { return less(b, a).is_const(0); }

Shape reshaped(const Shape& from, const Shape& to) {
  TN_REQUIRE(product(from) == product(to),
             "[reshape] expected a shape with as many elements as {}, got {}", to_string(from),
             to_string(to));
  return to;
}

Shape expanded(const Shape& from, const Shape& to) {
  bool fits = from.size() == to.size();
  for (size_t i = 0; fits && i < from.size(); ++i) fits = from[i] == to[i] || from[i].is_const(1);
  TN_REQUIRE(fits, "[expand] expected a shape that {} becomes by growing axes of size 1, got {}",
             to_string(from), to_string(to));
  return to;
}

Shape permuted(const Shape& from, const std::vector<int>& axes) {
  TN_REQUIRE(axes.size() == from.size(), "[permute] expected {} axes, got {}", from.size(),
             axes.size());
  std::vector<bool> used(from.size());
  Shape shape;
  for (const int axis : axes) {
    check_axis("permute", axis, from.size());
    TN_REQUIRE(!used[axis], "[permute] expected each axis once, got {} twice", axis);
    used[axis] = true;
    shape.push_back(from[axis]);
  }
  return shape;
}

void check_pairs(std::string_view op, const ViewAttr& attr, size_t rank) {
  TN_REQUIRE(attr.pairs.size() == rank, "[{}] expected {} pairs, one an axis, got {}", op, rank,
             attr.pairs.size());
}

Shape padded(const Node& x, const ViewAttr& attr) {
  check_pairs("pad", attr, x.shape.size());
  TN_REQUIRE(attr.fill.dtype == x.dtype, "[pad] expected a fill of {}, got {}", dtype_name(x.dtype),
             dtype_name(attr.fill.dtype));
  Shape shape;
  for (size_t i = 0; i < x.shape.size(); ++i) {
    const auto& [before, after] = attr.pairs[i];
    TN_REQUIRE(before.min() >= 0 && after.min() >= 0,
               "[pad] expected sizes of at least 0, got ({}, {}) for axis {}", to_string(before),
               to_string(after), i);
    shape.push_back(before + x.shape[i] + after);
  }
  return shape;
}

Shape shrunk(const Node& x, const ViewAttr& attr) {
  check_pairs("shrink", attr, x.shape.size());
  Shape shape;
  for (size_t i = 0; i < x.shape.size(); ++i) {
    const auto& [begin, end] = attr.pairs[i];
    TN_REQUIRE(begin.min() >= 0 && at_most(begin, end) && at_most(end, x.shape[i]),
               "[shrink] expected 0 <= begin <= end <= {}, got ({}, {}) for axis {}",
               to_string(x.shape[i]), to_string(begin), to_string(end), i);
    shape.push_back(end - begin);
  }
  return shape;
}

Shape view_shape(const NodeType& given, const Node& x, const ViewAttr& attr) {
  switch (attr.kind) {
    case ViewKind::kReshape:
      return reshaped(x.shape, given.shape);
    case ViewKind::kExpand:
      return expanded(x.shape, given.shape);
    case ViewKind::kPermute:
      return permuted(x.shape, attr.axes);
    case ViewKind::kPad:
      return padded(x, attr);
    case ViewKind::kShrink:
      return shrunk(x, attr);
    case ViewKind::kFlip:
      check_axes("flip", attr.axes, x.shape.size());
      return x.shape;
  }
  TN_ASSERT(false);
}

void check_index(std::string_view op, const Node& x, const Node& index, int axis) {
  TN_REQUIRE(is_int(index.dtype), "[{}] expected integer indices, got {}", op, type_string(index));
  check_axis(op, axis, x.shape.size());
  bool fits = index.shape.size() == x.shape.size();
  for (size_t i = 0; fits && i < x.shape.size(); ++i)
    fits = static_cast<int>(i) == axis || index.shape[i] == x.shape[i];
  TN_REQUIRE(fits, "[{}] expected indices shaped as {} but for axis {}, got {}", op,
             to_string(x.shape), axis, to_string(index.shape));
}

}  // namespace

NodeType infer_view(const NodeType& given, const Node& x, const ViewAttr& attr) {
  return {x.dtype, view_shape(given, x, attr)};
}

NodeType infer_reduce(const Node& x, ReduceAttr& attr) {
  TN_REQUIRE(attr.op != Op::INVALID && is_reduction(attr.op),
             "[reduce] expected add, mul, max or min, got {}",
             attr.op == Op::INVALID ? "none" : op_info(attr.op).text);
  check_axes("reduce", attr.axes, x.shape.size());
  TN_REQUIRE(attr.precision == Precision::kDefault || (attr.op == Op::ADD && is_float(x.dtype)),
             "[reduce] expected matmul={} on a sum of floats, got {} of {}",
             precision_name(attr.precision), op_info(attr.op).text, dtype_name(x.dtype));
  if (attr.accumulator == DType::kVoid) attr.accumulator = default_accumulator(x.dtype);
  const DType acc = attr.accumulator;
  const bool same_class = is_float(acc) == is_float(x.dtype) && is_int(acc) == is_int(x.dtype) &&
                          is_signed(acc) == is_signed(x.dtype);
  TN_REQUIRE(same_class && dtype_size(acc) >= dtype_size(x.dtype),
             "[reduce] expected an accumulator that holds {}, got {}", dtype_name(x.dtype),
             dtype_name(acc));
  Shape shape = x.shape;
  for (const int axis : attr.axes) shape[axis] = 1;
  return {x.dtype, std::move(shape)};
}

NodeType infer_take(const Node& x, const Node& index, const TakeAttr& attr) {
  check_index("take", x, index, attr.axis);
  return {x.dtype, index.shape};
}

NodeType infer_store(const Node& x, const Node& index, const Node& values, const StoreAttr& attr) {
  check_index("store", x, index, attr.axis);
  TN_REQUIRE(values.dtype == x.dtype && values.shape == index.shape,
             "[store] expected values of type {}, got {}", type_string(x.dtype, index.shape),
             type_string(values));
  return {x.dtype, x.shape};
}

NodeType infer_copy(const Node& x, const CopyAttr& attr) {
  const bool plain = std::ranges::all_of(
      attr.device, [](char c) { return c > ' ' && c < 0x7f && c != '"' && c != '\\'; });
  TN_REQUIRE(!attr.device.empty() && attr.device.size() <= kMaxName && plain,
             "[copy] expected the name of a device, got \"{}\"",
             plain && attr.device.size() <= kMaxName ? attr.device : "...");
  return {x.dtype, x.shape};
}

}  // namespace tenon
