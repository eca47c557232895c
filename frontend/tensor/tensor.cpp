// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Handles, and how two operands meet.
#include "tenon/tensor.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>

#include "core/support/error.hpp"
#include "frontend/tensor/pins.hpp"
#include "frontend/tensor/sizes.hpp"
#include "tenon/promote.hpp"

namespace tenon {

Context& ContextRef::get() const {
  Context* const context = *life_;
  TN_REQUIRE(context != nullptr && pin(*life_),
             "[tensor] expected a Tensor whose Context is there, got one that outlived it");
  return *context;
}

const std::shared_ptr<Tensor::State>& Tensor::state() const {
  TN_REQUIRE(state_ != nullptr,
             "[tensor] expected a Tensor, got one without a value: it was made of nothing or moved "
             "from, or is a parameter of a layer or a model made without a key");
  TN_REQUIRE(state_->given_to.empty(),
             "[tensor] expected a Tensor with a value, got one that was donated to [{}]; use what "
             "that returned",
             state_->given_to);
  return state_;
}

Tensor make_tensor(Context& context, NodeRef node) {
  auto state = std::make_shared<Tensor::State>();
  state->context = ContextRef(context);
  state->node = std::move(node);
  return Tensor(std::move(state));
}

NodeRef buffer_node(Context& context, BufferRef buffer, DType dtype, Shape shape,
                    const SymbolValues& symbols, Made made) {
  static std::atomic<uint64_t> next_identity{1};
  ParamAttr attr;
  attr.name = "buffer";
  attr.identity = next_identity++;
  attr.owner = owner_of(std::move(buffer), shape, symbols, std::move(made));
  return builder_of(context).make(Op::PARAM, dtype, std::move(shape), {}, std::move(attr));
}

BufferRef buffer_of(const Node& node) {
  const auto* attr = std::get_if<ParamAttr>(&node.attr);
  return attr != nullptr ? std::static_pointer_cast<Buffer>(attr->owner) : nullptr;
}

Shape to_shape(const std::vector<int64_t>& shape) { return {shape.begin(), shape.end()}; }

int64_t count_of(const char* op, const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t dim : shape)
    TN_REQUIRE(dim >= 0 && !__builtin_mul_overflow(count, dim, &count),
               "[{}] expected sizes of at least 0 and below 2^63 elements, got [{}]", op,
               fmt::join(shape, ", "));
  return count;
}

void check_array(const char* op, const Array& array) {
  check_bytes(op, array.bytes.size(), array.dtype, array.shape);
}

void check_bytes(const char* op, size_t bytes, DType dtype, const std::vector<int64_t>& shape) {
  const size_t size = dtype_size(dtype);
  const int64_t count = count_of(op, shape);
  TN_REQUIRE(bytes % size == 0 && static_cast<int64_t>(bytes / size) == count,
             "[{}] expected {} elements of {} bytes, got {} bytes", op, count, size, bytes);
}

void check_bools(const char* op, std::span<const std::byte> bytes) {
  for (size_t i = 0; i < bytes.size(); ++i)
    TN_REQUIRE(bytes[i] <= std::byte{1}, "[{}] expected bools as bytes of 0 or 1, got {} at {}", op,
               static_cast<int>(bytes[i]), i);
}

namespace {

const Shape& no_dims() {
  static const auto& none = *new Shape();
  return none;
}
/// Before there are threads: a child made by fork would wait for one that makes it.
[[maybe_unused]] const Shape& no_dims_made_at_load = no_dims();

}  // namespace

const Shape& dims_of(const Tensor& x) {
  return x.state()->number ? no_dims() : x.state()->node->shape;
}

void check_count(const char* op, const Shape& shape) {
  if (is_static(shape)) {
    std::vector<int64_t> sizes;
    for (const Dim& dim : shape) sizes.push_back(dim.value());
    count_of(op, sizes);
    return;
  }
  for (const Dim& dim : shape)
    TN_REQUIRE(dim.min() >= 0, "[{}] expected sizes of at least 0, got {}", op, to_string(shape));
}

void Axes::out_of_range(uint64_t axis) {
  fail(ErrorKind::kInvalid, "[axes] expected an axis below 2^31, got {}", axis);
}

std::optional<int> one_axis(const char* op, const Axes& axis, int rank) {
  TN_REQUIRE(axis.size() <= 1, "[{}] expected one axis or none, got {}", op, fmt::join(axis, ", "));
  return axis.empty() ? std::nullopt : std::optional(normalise_axis(op, axis[0], rank));
}

int normalise_axis(const char* op, int axis, int rank) {
  if (axis < -rank || axis >= rank)
    throw AxisError(
        fmt::format("[{}] expected an axis in [{}, {}), got {}", op, -rank, rank, axis));
  return axis < 0 ? axis + rank : axis;
}

std::vector<int> normalise_axes(const char* op, const Axes& axes, int rank) {
  std::vector<int> result;
  for (int axis = 0; axes.empty() && axis < rank; ++axis) result.push_back(axis);
  for (const int axis : axes) result.push_back(normalise_axis(op, axis, rank));
  std::ranges::sort(result);
  TN_REQUIRE(std::ranges::adjacent_find(result) == result.end(),
             "[{}] expected each axis once, got {}", op, fmt::join(axes, ", "));
  return result;
}

Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b) {
  const Dim one(1);
  Shape shape(std::max(a.size(), b.size()));
  for (size_t i = 0; i < shape.size(); ++i) {  // from the last axis
    const Dim& x = i < a.size() ? a[a.size() - 1 - i] : one;
    const Dim& y = i < b.size() ? b[b.size() - 1 - i] : one;
    TN_REQUIRE(x == y || x.is_const(1) || y.is_const(1),
               "[{}] expected shapes that broadcast, got {} and {}", op, to_string(a),
               to_string(b));
    shape[shape.size() - 1 - i] = x.is_const(1) ? y : x;
  }
  return shape;
}

std::vector<int64_t> broadcast_shapes(const char* op, const std::vector<int64_t>& a,
                                      const std::vector<int64_t>& b) {
  std::vector<int64_t> out;
  for (const Dim& dim : broadcast_shapes(op, to_shape(a), to_shape(b))) out.push_back(dim.value());
  return out;
}

NodeRef broadcast_to(Builder& builder, NodeRef x, const Shape& shape) {
  if (same_shape(x->shape, shape)) return x;
  if (x->op == Op::CONST) return builder.constant(x->as<ConstAttr>().value, shape);
  Shape padded(shape.size() - x->shape.size(), Dim(1));
  padded.insert(padded.end(), x->shape.begin(), x->shape.end());
  return builder.expand(builder.reshape(std::move(x), std::move(padded)), shape);
}

namespace {

/// A number that never met a tensor belongs to the standard context.
Context& context_of(const Tensor& x) {
  const ContextRef& context = x.state()->context;
  return context.is_set() ? context.get() : Context::standard();
}

DType beside_number(bool number_is_float, DType number, DType tensor) {
  if (number_is_float) return is_float(tensor) ? tensor : DType::kF32;
  return tensor == DType::kBool ? number : tensor;
}

/// Beside a tensor a number takes its dtype, unless it is of a higher kind (bool, integer, float);
/// two numbers agree on the wider of their kinds.
DType dtype_of_both(const Tensor& a, const Tensor& b) {
  if (!is_number(a) && !is_number(b)) {
    const bool traced = a.state()->exact != nullptr;
    if (traced && b.state()->exact && (is_float(a.dtype()) || is_float(b.dtype())))
      return DType::kF32;
    if (traced == (b.state()->exact != nullptr)) return promote_types(a.dtype(), b.dtype());
    const DType number = (traced ? a : b).dtype(), other = (traced ? b : a).dtype();
    return beside_number(is_float(number), number, other);
  }
  if (is_number(a) != is_number(b)) {
    const DType dtype = is_number(a) ? b.dtype() : a.dtype();
    const Number& number = *(is_number(a) ? a : b).state()->number;
    return beside_number(number.is_float(), number.dtype(), dtype);
  }
  const Number &x = *a.state()->number, &y = *b.state()->number;
  if (x.is_float() || y.is_float()) return DType::kF32;
  return dtype_bits(x.dtype()) < dtype_bits(y.dtype()) || y.dtype() == DType::kU64 ? y.dtype()
                                                                                   : x.dtype();
}

NodeRef operand(const char* op, const Tensor& x, Context& context, DType dtype) {
  const Tensor::State& state = *x.state();
  if (is_number(x)) return builder_of(context).constant(state.number->as(op, dtype));
  NodeRef node = state.exact ? state.exact : node_in(context, x);
  return node->dtype == dtype ? node : builder_of(context).cast(std::move(node), dtype);
}

}  // namespace

NodeRef node_in(Context& context, const Tensor& x) {
  TN_REQUIRE(is_number(x) || &x.context().impl() == &context.impl(),
             "[tensor] expected tensors of one context, got two");
  return node_of(x);
}

std::vector<NodeRef> nodes_in(Context& context, const std::vector<Tensor>& tensors) {
  std::vector<NodeRef> out;
  for (const Tensor& x : tensors) out.push_back(node_in(context, x));
  return out;
}

Context& context_of(const char* op, std::initializer_list<std::span<const Tensor>> lists) {
  Context* context = nullptr;
  for (const std::span<const Tensor> list : lists) {
    for (const Tensor& x : list) {
      if (is_number(x)) continue;
      TN_REQUIRE(!context || context == &x.context(),
                 "[{}] expected tensors of one context, got two", op);
      context = &x.context();
    }
  }
  return context ? *context : Context::standard();
}

Operands promote_and_broadcast(const char* op, const Tensor& a, const Tensor& b) {
  Operands result;
  result.context = is_number(a) ? &context_of(b) : &context_of(a);
  const DType dtype = dtype_of_both(a, b);
  Builder& builder = builder_of(*result.context);
  const Shape shape = broadcast_shapes(op, dims_of(a), dims_of(b));
  result.a = broadcast_to(builder, operand(op, a, *result.context, dtype), shape);
  result.b = broadcast_to(builder, operand(op, b, *result.context, dtype), shape);
  return result;
}

Builder& builder_of(const Tensor& x) { return builder_of(x.context()); }

Tensor constant_like(const Tensor& x, Number value) {
  Builder& builder = builder_of(x);
  return make_tensor(x.context(), builder.constant(value.as("constant", x.dtype()), dims_of(x)));
}

Tensor::Tensor(Number value) : state_(std::make_shared<State>()) { state_->number = value; }

DType Tensor::dtype() const {
  return state()->number ? state()->number->dtype() : state()->node->dtype;
}
std::vector<int64_t> Tensor::shape() const {
  std::vector<int64_t> shape;
  for (const Dim& dim : dims_of(*this)) shape.push_back(fixed_size("shape", dim));
  return shape;
}
int Tensor::rank() const {
  return state()->number ? 0 : static_cast<int>(state()->node->shape.size());
}
int64_t Tensor::size() const { return fixed_size("size", product(dims_of(*this))); }
int64_t Tensor::size(int axis) const {
  return fixed_size("size",
                    dims_of(*this)[static_cast<size_t>(normalise_axis("size", axis, rank()))]);
}
Context& Tensor::context() const { return context_of(*this); }

const NodeRef& node_of(const Tensor& x) {
  Tensor::State& own = *x.state();
  // It stands alone here, and may meet a tensor later: it stays a number.
  if (own.number && !own.node)
    own.node = builder_of(Context::standard()).constant(own.number->as("tensor", x.dtype()));
  return own.node;
}

}  // namespace tenon
