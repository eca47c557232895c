// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/make.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/ir/narrow_float.hpp"
#include "core/support/as_op.hpp"
#include "core/support/error.hpp"
#include "frontend/tensor/axes.hpp"
#include "frontend/tensor/formula.hpp"
#include "frontend/tensor/sizes.hpp"

namespace tenon {
namespace {

/// Positions along an axis of a shape, i64.
Tensor positions(Context& context, int axis, const Shape& shape) {
  return make_tensor(context, builder_of(context).index(axis, shape));
}

/// column - row on the last two axes.
Tensor diagonals(Context& context, const Shape& shape) {
  const int rows = static_cast<int>(shape.size()) - 2;
  return positions(context, rows + 1, shape) - positions(context, rows, shape);
}

double as_double(const Number& number) { return number.as("arange", DType::kF64).as_double(); }

__extension__ using Wide = __int128;
Wide as_wide(const Number& number) {
  if (const auto narrow = number.in(DType::kI64)) return narrow->as_int();
  return static_cast<uint64_t>(number.as("arange", DType::kU64).as_int());
}

/// Throws for a number among first, first + by, .. that a float dtype would round. Those between
/// two powers of two lie on one grid: the first of them tells, and the step where there is a
/// second.
void require_exact(Wide first, Wide by, Wide count, DType dtype) {
  if (!is_float(dtype)) return;
  const int bits = float_format(dtype).mantissa_bits + 1;
  const Wide step = by < 0 ? -by : by;
  const auto above = [&](Wide way) { return (way + step - 1) / step; };
  for (Wide i = 0; i < count;) {
    const Wide n = first + i * by, size = n < 0 ? -n : n;
    const bool grows = n == 0 || (n < 0) == (by < 0);
    int binade = bits;  // size < 2^binade
    while (size >> binade != 0) ++binade;
    const Wide grid = Wide{1} << (binade - bits), end = Wide{1} << binade, begin = end / 2;
    const Wide more = grows            ? above(end - size)
                      : binade == bits ? above(end + size)
                                       : (size - begin) / step + 1;
    const Wide wrong = n % grid != 0 ? n : n + by;
    TN_REQUIRE(wrong % grid == 0 || (n % grid == 0 && (more == 1 || i + 1 == count)),
               "[arange] expected numbers that {} holds, got {}", dtype_name(dtype),
               static_cast<double>(wrong));
    i += more;
  }
}

/// first, first + distance, ..: in whole numbers, all of which the dtype holds.
Tensor whole_range(const Number& begin, const Number& end, const Number& step, DType dtype,
                   Context& context) {
  const Wide first = as_wide(begin), by = as_wide(step), way = as_wide(end) - first;
  const Wide count = (way > 0) == (by > 0) ? (way + by - (by > 0 ? 1 : -1)) / by : 0;
  TN_REQUIRE(count < Wide{1} << 62, "[arange] expected fewer than 2^62 numbers from {} to {}",
             begin.text(), end.text());
  const auto size = static_cast<int64_t>(count);
  const Tensor index = positions(context, 0, {size});
  if (size == 0) return index.astype(dtype);
  const Wide last = first + (count - 1) * by;
  const bool beyond = std::max(first, last) > INT64_MAX;
  TN_REQUIRE(!beyond || std::min(first, last) >= 0,
             "[arange] expected numbers that i64 holds or u64 holds, got {} to {}", begin.text(),
             end.text());
  require_exact(first, by, count, dtype);
  begin.as("arange", dtype);
  (last < 0 ? Number(static_cast<int64_t>(last)) : Number(static_cast<uint64_t>(last)))
      .as("arange", dtype);
  // Modulo 2^64, which is right for all that 64 bits hold.
  const Tensor moved = index * static_cast<int64_t>(by) + static_cast<int64_t>(first);
  return (beyond ? moved.bit_cast(DType::kU64) : moved).astype(dtype);
}

void require_matrix(const char* op, const Tensor& x) {
  TN_REQUIRE(x.rank() >= 2, "[{}] expected a tensor of rank 2 or more, got rank {}", op, x.rank());
}

Shape matrix_shape(const char* op, const Size& rows, const std::optional<Size>& columns) {
  Shape shape = to_shape(Sizes{rows, columns.value_or(rows)});
  check_count(op, shape);
  return shape;
}

}  // namespace

Tensor tensor(const Array& array, Context& context) {
  return tensor(std::as_bytes(std::span(array.bytes)), array.dtype, array.shape, context);
}

Tensor tensor(std::span<const std::byte> bytes, DType dtype, std::vector<int64_t> shape,
              Context& context) {
  check_bytes("tensor", bytes.size(), dtype, shape);
  if (dtype == DType::kBool) check_bools("tensor", bytes);
  BufferRef buffer = runtime_of(context).device().allocate(bytes.size(), "tensor");
  if (!bytes.empty()) buffer->device().write(*buffer, 0, bytes.data(), bytes.size());
  return make_tensor(context, buffer_node(context, std::move(buffer), dtype, to_shape(shape)));
}

template <class T>
Tensor tensor(std::span<const T> values, std::vector<int64_t> shape, Context& context) {
  const int64_t count = count_of("tensor", shape);
  TN_REQUIRE(count == static_cast<int64_t>(values.size()),
             "[tensor] expected {} values for shape [{}], got {}", count, fmt::join(shape, ", "),
             values.size());
  return tensor(std::as_bytes(values), DTypeOf<T>::value, std::move(shape), context);
}

#define TENON_TENSOR(T) \
  template Tensor tensor<T>(std::span<const T>, std::vector<int64_t>, Context&);
TENON_TENSOR(bool)
TENON_TENSOR(int8_t)
TENON_TENSOR(int16_t)
TENON_TENSOR(int32_t)
TENON_TENSOR(long)
TENON_TENSOR(long long)
TENON_TENSOR(uint8_t)
TENON_TENSOR(uint16_t)
TENON_TENSOR(uint32_t)
TENON_TENSOR(unsigned long)
TENON_TENSOR(unsigned long long)
TENON_TENSOR(float)
TENON_TENSOR(double)
#undef TENON_TENSOR

Tensor full(const Sizes& shape, Number value, DType dtype, Context& context) {
  return make_tensor(context,
                     builder_of(context).constant(value.as("full", dtype), to_shape(shape)));
}
Tensor zeros(const Sizes& shape, DType dtype, Context& context) {
  return full(shape, 0, dtype, context);
}
Tensor ones(const Sizes& shape, DType dtype, Context& context) {
  return full(shape, 1, dtype, context);
}

Tensor arange(const Size& n, DType dtype, Context& context) {
  TN_REQUIRE(n.minimum() >= 0, "[arange] expected a size of at least 0, got {}", n.text());
  if (n.maximum() > 0) {
    require_exact(0, 1, n.maximum(), dtype);
    Number(n.maximum() - 1).as("arange", dtype);
  }
  Builder& builder = builder_of(context);
  const NodeRef index = builder.index(0, {dim_of(n)});
  return make_tensor(context, dtype == DType::kI64 ? index : builder.cast(index, dtype));
}

Tensor full_like(const Tensor& x, Number value, std::optional<DType> dtype) {
  return full(x.sizes(), value, dtype.value_or(x.dtype()), x.context());
}
Tensor zeros_like(const Tensor& x, std::optional<DType> dtype) { return full_like(x, 0, dtype); }
Tensor ones_like(const Tensor& x, std::optional<DType> dtype) { return full_like(x, 1, dtype); }

Tensor arange(Number begin, Number end, Number step, std::optional<DType> dtype, Context& context) {
  const double from = as_double(begin), to = as_double(end), by = as_double(step);
  TN_REQUIRE(by != 0 && std::isfinite(from) && std::isfinite(to) && std::isfinite(by),
             "[arange] expected finite numbers and a step that is not 0, got {}, {} and {}",
             begin.text(), end.text(), step.text());
  if (!begin.is_float() && !end.is_float() && !step.is_float())
    return whole_range(begin, end, step, dtype.value_or(DType::kI64), context);
  const double count = std::max(0.0, std::ceil((to - from) / by));
  TN_REQUIRE(count < 0x1p62, "[arange] expected fewer than 2^62 numbers, got {}", count);
  const auto size = static_cast<int64_t>(count);
  const DType wanted = dtype.value_or(DType::kF32);
  TN_REQUIRE(is_float(wanted), "[arange] expected a float dtype for {}, {} and {}, got {}",
             begin.text(), end.text(), step.text(), dtype_name(wanted));
  for (const double end_of : {from, from + (count - 1) * by})
    TN_REQUIRE(
        count == 0 || std::isfinite(cast(Scalar::of(DType::kF64, end_of), wanted).as_double()),
        "[arange] expected numbers that {} holds, got {}", dtype_name(wanted), end_of);
  const DType inside = dtype_bits(wanted) < 32 ? DType::kF32 : wanted;
  return (positions(context, 0, {size}).astype(inside) * by + from).astype(wanted);
}

Tensor linspace(double begin, double end, int64_t count, bool endpoint, DType dtype,
                Context& context) {
  TN_REQUIRE(count >= 0, "[linspace] expected a count of at least 0, got {}", count);
  TN_REQUIRE(is_float(dtype), "[linspace] expected a float dtype, got {}", dtype_name(dtype));
  return as_op("linspace", [&]() -> Tensor {
    const int64_t steps = endpoint ? count - 1 : count;
    const double step = steps > 1 ? step_of(begin, end, steps) : 0;  // of one step the ends are all
    const DType inside = dtype_bits(dtype) < 32 ? DType::kF32 : dtype;
    const Tensor index = positions(context, 0, {count});
    const auto times = [&](const Tensor& n) { return n.astype(inside) * step; };
    if (steps <= 0) return (times(index) + begin).astype(dtype);
    // From the nearer end, so that the last number is the end.
    const Tensor upper = index >= (steps + 1) / 2;
    return where(upper, end - times(steps - index), times(index) + begin).astype(dtype);
  });
}

Tensor logspace(double begin, double end, int64_t count, bool endpoint, double base, DType dtype,
                Context& context) {
  TN_REQUIRE(is_float(dtype), "[logspace] expected a float dtype, got {}", dtype_name(dtype));
  const DType inside = dtype_bits(dtype) < 32 ? DType::kF32 : dtype;
  return as_op("logspace", [&] {
    const Tensor exponents = linspace(begin, end, count, endpoint, inside, context);
    return pow(full_like(exponents, base), exponents).astype(dtype);
  });
}

Tensor eye(const Size& rows, std::optional<Size> columns, int64_t offset, DType dtype,
           Context& context) {
  return (diagonals(context, matrix_shape("eye", rows, columns)) == offset).astype(dtype);
}

Tensor tri(const Size& rows, std::optional<Size> columns, int64_t offset, DType dtype,
           Context& context) {
  return (diagonals(context, matrix_shape("tri", rows, columns)) <= offset).astype(dtype);
}

Tensor tril(const Tensor& x, int64_t offset) {
  require_matrix("tril", x);
  return where(diagonals(x.context(), dims_of(x)) <= offset, x, constant_like(x, 0));
}

Tensor triu(const Tensor& x, int64_t offset) {
  require_matrix("triu", x);
  return where(diagonals(x.context(), dims_of(x)) < offset, constant_like(x, 0), x);
}

Tensor one_hot(const Tensor& x, int64_t classes, DType dtype) {
  TN_REQUIRE(is_int(x.dtype()), "[one_hot] expected integers, got {}", dtype_name(x.dtype()));
  TN_REQUIRE(classes >= 0, "[one_hot] expected a count of at least 0, got {}", classes);
  Shape shape = dims_of(x);
  shape.emplace_back(classes);
  const Tensor places = positions(x.context(), x.rank(), shape);
  const DType wide = x.dtype() == DType::kU64 ? DType::kU64 : DType::kI64;
  return (x.expand_dims(-1).astype(wide) == places.astype(wide)).astype(dtype);
}

std::vector<Tensor> meshgrid(const std::vector<Tensor>& axes, bool ij) {
  std::vector<Size> shape;
  for (const Tensor& axis : axes) {
    TN_REQUIRE(axis.rank() == 1, "[meshgrid] expected tensors of rank 1, got rank {}", axis.rank());
    shape.push_back(axis.sizes()[0]);
  }
  std::vector<Tensor> grids;
  for (size_t i = 0; i < axes.size(); ++i) {
    std::vector<Size> own(axes.size(), Size(1));
    own[i] = shape[i];
    const Tensor grid = axes[i].reshape(own).broadcast_to(shape);
    grids.push_back(ij || axes.size() < 2 ? grid : grid.swapaxes(0, 1));
  }
  return grids;
}

}  // namespace tenon
