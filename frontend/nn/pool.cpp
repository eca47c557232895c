// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/nn/pool.hpp"

#include <limits>

#include "core/support/error.hpp"
#include "frontend/nn/shape_text.hpp"
#include "frontend/nn/wide.hpp"
#include "tenon/index.hpp"
#include "tenon/make.hpp"
#include "tenon/move.hpp"
#include "tenon/nn/conv.hpp"

namespace tenon::nn {
namespace {

using Shape = std::vector<int64_t>;

/// Windows as the options say, with what stands beyond an edge, and the axes inside of them.
struct Windows {
  Tensor values;
  std::vector<int> axes;
};

Shape or_all(const char* op, const Shape& given, size_t count, int64_t all) {
  if (given.empty()) return Shape(count, all);
  TN_REQUIRE(given.size() == count, "[{}] expected an option for each of {} axes, got {}", op,
             count, given.size());
  return given;
}

/// The options of each axis of a window.
struct PoolSteps {
  Shape strides, padding, dilations;
};

PoolSteps pool_steps_of(const char* op, const Shape& window, const PoolOptions& options) {
  const size_t n = window.size();
  PoolSteps out{options.strides.empty() ? window : or_all(op, options.strides, n, 1),
                or_all(op, options.padding, n, 0), or_all(op, options.dilations, n, 1)};
  for (size_t i = 0; i < n; ++i) {
    TN_REQUIRE(window[i] > 0 && out.strides[i] > 0 && out.dilations[i] > 0,
               "[{}] expected windows, strides and dilations above 0, got {}, {} and {}", op,
               window[i], out.strides[i], out.dilations[i]);
    TN_REQUIRE(0 <= out.padding[i] && out.padding[i] <= window[i] / 2,
               "[{}] expected a padding of 0 to half a window of {}, got {}", op, window[i],
               out.padding[i]);
  }
  return out;
}

Windows windows_of(const char* op, const Tensor& x, const Shape& window, const PoolOptions& options,
                   Number beyond) {
  const size_t n = window.size();
  TN_REQUIRE(n > 0 && static_cast<size_t>(x.rank()) >= n,
             "[{}] expected windows of 1 to {} axes, got {}", op, x.rank(), n);
  const PoolSteps steps = pool_steps_of(op, window, options);
  std::vector<std::pair<int64_t, int64_t>> pairs(static_cast<size_t>(x.rank()) - n);
  for (const int64_t padding : steps.padding) pairs.emplace_back(padding, padding);
  Windows out{windows(x.pad(pairs, beyond), window, steps.strides, steps.dilations), {}};
  for (size_t i = 1; i <= n; ++i) out.axes.push_back(-static_cast<int>(i));
  return out;
}

Number lowest(DType dtype) {
  TN_REQUIRE(is_float(dtype), "[nn.max_pool] expected a float dtype, got {}", dtype_name(dtype));
  return -std::numeric_limits<double>::infinity();
}

/// Begin and count of each of m parts of n elements, [m, 1], and how many one has at most.
struct Parts {
  Parts(const char* op, const Tensor& x, int axis, int64_t parts) : m(parts) {
    const Size n = size_at(x, axis);
    TN_REQUIRE(m > 0 && n.minimum() > 0, "[{}] expected sizes above 0, got {} of {}", op, m,
               n.text());
    const Tensor part = arange(m, DType::kI64, x.context()).expand_dims(1),
                 all = from_size(n, x.context());
    begin = part * all / m;
    count = ((part + 1) * all + (m - 1)) / m - begin;
    // Both ends of a part may lie within an element.
    most = n % m == Size(0) ? n / m : (n + (m - 1)) / m + 1;
  }
  int64_t m;
  Tensor begin, count;
  Size most = 0;
};

/// A new last axis of what is in each part; a part of fewer repeats its last element.
Tensor gathered(const Tensor& x, int axis, const Parts& parts) {
  const Tensor k = arange(parts.most, DType::kI64, x.context());
  const Tensor at = parts.begin + k.minimum(parts.count - 1);
  std::vector<Size> shape = x.sizes().vector();
  shape[static_cast<size_t>(axis)] = parts.m;
  shape.insert(shape.begin() + axis + 1, parts.most);
  return moveaxis(x.take(at.ravel(), axis).reshape(shape), axis + 1, -1);
}

/// Each axis by itself, which is the same for sums over boxes and for maxima.
template <class OfParts>
Tensor adaptive(const char* op, const Tensor& x, const Shape& sizes, const OfParts& of_parts) {
  const int lead = x.rank() - static_cast<int>(sizes.size());
  TN_REQUIRE(lead >= 0, "[{}] expected up to {} sizes, got {}", op, x.rank(), sizes.size());
  Tensor out = x;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int axis = lead + static_cast<int>(i);
    if (size_at(out, axis) == Size(sizes[i])) continue;
    out = of_parts(out, axis, Parts(op, out, axis, sizes[i]));
  }
  return out;
}

}  // namespace

void check_pool(const char* op, const Shape& window, const PoolOptions& options) {
  pool_steps_of(op, window, options);
}

Tensor max_pool(const Tensor& x, const Shape& window, const PoolOptions& options) {
  const Windows of = windows_of("nn.max_pool", x, window, options, lowest(x.dtype()));
  return of.values.max(of.axes);
}

Tensor avg_pool(const Tensor& x, const Shape& window, const PoolOptions& options,
                bool count_padding) {
  const Windows of = windows_of("nn.avg_pool", x, window, options, 0);
  if (count_padding || options.padding.empty()) return of.values.mean(of.axes);
  const Windows ones = windows_of("nn.avg_pool", ones_like(x), window, options, 0);
  return of.values.sum(of.axes) / ones.values.sum(ones.axes);
}

Tensor lp_pool(const Tensor& x, double p, const Shape& window, const PoolOptions& options) {
  TN_REQUIRE(p > 0, "[nn.lp_pool] expected p above 0, got {}", p);
  const Windows of = windows_of("nn.lp_pool", x, window, options, 0);
  return norm(of.values, p, of.axes);
}

Tensor adaptive_avg_pool(const Tensor& x, const Shape& sizes) {
  TN_REQUIRE(is_float(x.dtype()), "[nn.adaptive_avg_pool] expected a float dtype, got {}",
             dtype_name(x.dtype()));
  return adaptive("nn.adaptive_avg_pool", x, sizes, [](const Tensor& of, int axis, const Parts& p) {
    // Repeated elements of a shorter part do not count.
    const Tensor parts = wide(gathered(of, axis, p));
    Shape beside(static_cast<size_t>(parts.rank()), 1);
    beside[static_cast<size_t>(axis)] = p.m;
    const Tensor count = p.count.reshape(beside);
    const Tensor is_own = arange(p.most, DType::kI64, of.context()) < count;
    return (where(is_own, parts, 0.0).sum(-1) / count.squeeze(-1).astype(parts.dtype()))
        .astype(of.dtype());
  });
}

Tensor adaptive_max_pool(const Tensor& x, const Shape& sizes) {
  return adaptive("nn.adaptive_max_pool", x, sizes, [](const Tensor& of, int axis, const Parts& p) {
    return gathered(of, axis, p).max(-1);
  });
}

Tensor fractional_max_pool(const Tensor& x, const Shape& window, const Shape& sizes,
                           const Tensor& samples) {
  const char* const op = "nn.fractional_max_pool";
  const int n = static_cast<int>(window.size()), lead = x.rank() - n;
  TN_REQUIRE(n > 0 && lead >= 0 && sizes.size() == window.size(),
             "[{}] expected a window and a size for each of 1 to {} axes, got {} and {}", op,
             x.rank(), window.size(), sizes.size());
  std::vector<Size> whole = x.sizes().vector();
  whole.erase(whole.begin() + lead, whole.end());
  whole.emplace_back(n);
  TN_REQUIRE(is_float(samples.dtype()), "[{}] expected float samples, got {}", op,
             dtype_name(samples.dtype()));
  const Tensor drawn = samples.broadcast_to(whole);
  Tensor out = x;
  for (int i = 0; i < n; ++i) {
    const int axis = lead + i;
    const int64_t size = window[static_cast<size_t>(i)], count = sizes[static_cast<size_t>(i)];
    const Size length = size_at(x, axis);
    TN_REQUIRE(
        0 < size && 0 < count && size <= length.minimum() && count <= length.minimum() - size + 1,
        "[{}] expected a window and so many places for it in {} elements, got {} and {}", op,
        length.text(), size, count);
    const Tensor s = drawn.take(i, -1).expand_dims(-1);  // [.., 1]
    const Tensor last = from_size(length - size, x.context()).astype(s.dtype()),
                 step = last / std::max<int64_t>(count - 1, 1);
    const Tensor k = arange(count, s.dtype(), x.context());
    const Tensor begin = where(k == count - 1, last, ((k + s) * step).floor() - (s * step).floor())
                             .astype(DType::kI64);  // [.., count]
    // Windows at every place, of which the drawn ones are taken: [.., others.., count, size].
    const Tensor all = windows(moveaxis(out, axis, -1), {size}, {1}, {1});
    std::vector<Size> at = all.sizes().vector(), beside = begin.sizes().vector();
    beside.insert(beside.end() - 1, static_cast<size_t>(n - 1), Size(1));
    beside.emplace_back(1);
    at[at.size() - 2] = count;
    out = moveaxis(gather(all, -2, begin.reshape(beside).broadcast_to(at)).max(-1), -1, axis);
  }
  return out;
}

}  // namespace tenon::nn
