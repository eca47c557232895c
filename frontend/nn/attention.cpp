// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/nn/attention.hpp"

#include <fmt/ranges.h>

#include <cmath>

#include "core/support/error.hpp"
#include "frontend/nn/in_layer.hpp"
#include "frontend/nn/shape_text.hpp"
#include "frontend/nn/wide.hpp"
#include "frontend/nn/window.hpp"
#include "tenon/gradient.hpp"
#include "tenon/make.hpp"
#include "tenon/move.hpp"
#include "tenon/nn/initialisers.hpp"
#include "tenon/nn/sequential.hpp"

namespace tenon::nn {
namespace {

/// Which keys a query sees by its position, [queries, keys].
std::optional<Tensor> seen(const Tensor& q, const Tensor& k, const AttentionOptions& options) {
  if (!options.causal && options.window == 0) return {};
  Context& context = q.context();
  const Size queries = size_at(q, -2), keys = size_at(k, -2);
  const Tensor last = arange(queries, DType::kI64, context).expand_dims(1) +
                      from_size(keys, context) - from_size(queries, context);
  const Tensor key = arange(keys, DType::kI64, context).expand_dims(0);
  const int64_t window = clamped_window(options.window);
  const Tensor near = key > last - window;
  if (!options.causal) return near & (key < last + window);
  return window > 0 ? near & (key <= last) : key <= last;
}

/// [.., groups, rows, size] to [.., groups, heads of each, rows, size], or as many as there are.
Tensor in_groups(const Tensor& x, const Size& groups, const Size& each) {
  std::vector<Size> shape = x.sizes().vector();
  shape[shape.size() - 3] = groups;
  shape.insert(shape.end() - 2, each);
  return x.reshape(shape);
}

/// softmax of the scores, zero where not seen.
Tensor weights_of(const Tensor& scores, const std::optional<Tensor>& sees) {
  // As large as a number may be, so that rows that see nothing stay finite until they are zero.
  const Tensor weights = (sees ? where(*sees, scores, -1e30) : scores).softmax();
  return sees ? where(*sees, weights, 0.0) : weights;
}

/// xᵀ·y of all heads that share the result, as positions of one.
Tensor over_queries(const Tensor& x, const Tensor& y, bool is_grouped) {
  const auto as_one = [&](const Tensor& of) {
    if (!is_grouped) return of;
    std::vector<Size> shape = of.sizes().vector();
    const size_t rows = shape.size() - 2;
    shape[rows] = shape[rows] * shape[rows - 1];
    shape[rows - 1] = 1;
    return of.reshape(shape);
  };
  return as_one(x).matrix_transpose().matmul(as_one(y));
}

/// The products of queries and keys. In its gradient those of keys lie as those of values do, so
/// that both are one pass over all pairs.
Tensor products(const Tensor& queries, const Tensor& keys, bool is_grouped) {
  const TensorFunction function = composite(
      "scores",
      [](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{in[0].matmul(in[1].matrix_transpose())};
      },
      [&](const std::vector<Tensor>& in) {
        const Tensor& g = in[3];
        return std::vector<Tensor>{g.matmul(in[1]), over_queries(g, in[0], is_grouped)};
      });
  return function({queries, keys})[0];
}

/// The weights times values of as many heads. In its gradient the sum over keys of each weight
/// times what came back to it is that over the result's elements: one pass less over all pairs.
Tensor weighted(const Tensor& scores, const Tensor& values, const std::optional<Tensor>& sees,
                bool is_grouped) {
  const auto seen_of = [&](const std::vector<Tensor>& in) {
    return sees ? std::optional<Tensor>(in[2]) : std::nullopt;
  };
  const TensorFunction function = composite(
      "attention",
      [&](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{weights_of(in[0], seen_of(in)).matmul(in[1])};
      },
      [&](const std::vector<Tensor>& in) {
        const Tensor &out = in[in.size() - 2], &g = in.back();
        const Tensor weights = weights_of(in[0], seen_of(in));
        const Tensor above =
            g.matmul(in[1].matrix_transpose()) - (g * out).sum(-1, /*keepdims=*/true);
        const Tensor of_scores = weights * above;
        return std::vector<Tensor>{sees ? where(in[2], of_scores, 0.0) : of_scores,
                                   over_queries(weights, g, is_grouped)};
      });
  std::vector<Tensor> inputs{scores, values};
  if (sees) inputs.push_back(*sees);
  return function(inputs)[0];
}

/// But for heads that share others.
bool same_batch(const Tensor& a, const Tensor& b, bool is_grouped) {
  if (a.rank() != b.rank()) return false;
  for (int i = is_grouped ? 4 : 3; i <= a.rank(); ++i)
    if (size_at(a, -i).text() != size_at(b, -i).text()) return false;
  return true;
}

}  // namespace

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options,
                 const Mode& mode) {
  const char* const op = "nn.attention";
  TN_REQUIRE(q.rank() >= 3 && k.rank() == q.rank() && v.rank() == q.rank(),
             "[{}] expected three tensors [.., heads, positions, size] of one rank, got ranks {}, "
             "{} and {}",
             op, q.rank(), k.rank(), v.rank());
  TN_REQUIRE(is_float(q.dtype()) && is_float(k.dtype()) && is_float(v.dtype()),
             "[{}] expected float dtypes, got {}, {} and {}", op, dtype_name(q.dtype()),
             dtype_name(k.dtype()), dtype_name(v.dtype()));
  const Size heads = size_at(q, -3), groups = size_at(k, -3), size = size_at(q, -1);
  TN_REQUIRE(groups.minimum() > 0 && heads % groups == Size(0) && size_at(v, -3) == groups,
             "[{}] expected heads of the queries that are a multiple of those of keys and values, "
             "got {}, {} and {}",
             op, heads.text(), groups.text(), size_at(v, -3).text());
  TN_REQUIRE(size.minimum() > 0 && size_at(k, -1) == size && size_at(k, -2) == size_at(v, -2),
             "[{}] expected queries and keys of one size and as many keys as values, got sizes {} "
             "and {}, {} and {}",
             op, size.text(), size_at(k, -1).text(), size_at(k, -2).text(), size_at(v, -2).text());
  TN_REQUIRE(options.window >= 0, "[{}] expected a window of 0 (none) or more, got {}", op,
             options.window);
  const bool is_grouped = !(groups == heads);
  const Size each = heads / groups;
  const DType dtype = wide(q.dtype());
  const Tensor rows = is_grouped ? in_groups(q, groups, each) : q;
  const Tensor keys = is_grouped ? in_groups(k, groups, 1) : k;
  const Tensor values = is_grouped ? in_groups(v, groups, 1) : v;
  const Tensor scale = options.scale     ? Tensor(*options.scale)
                       : size.is_fixed() ? Tensor(1 / std::sqrt(static_cast<double>(size.value())))
                                         : from_size(size, q.context()).astype(dtype).rsqrt();
  const bool is_wide = q.dtype() == dtype && k.dtype() == dtype && v.dtype() == dtype;
  Tensor scores = (is_wide && same_batch(rows, keys, is_grouped)
                       ? products(rows, keys, is_grouped)
                       : rows.matmul(keys.matrix_transpose()).astype(dtype)) *
                  scale;
  std::optional<Tensor> sees = seen(q, k, options);
  if (options.mask) {
    Tensor mask = *options.mask;
    if (is_grouped && mask.rank() > 2)
      mask = size_at(mask, -3) == Size(1) ? mask.expand_dims(-3) : in_groups(mask, groups, each);
    if (mask.dtype() == DType::kBool) {
      sees = sees ? *sees & mask : mask;
    } else {  // -inf says what is not seen, too
      const Tensor added = mask.astype(dtype), shows = logical_not(isinf(added) & (added < 0));
      scores = scores + where(shows, added, 0.0);
      sees = sees ? *sees & shows : shows;
    }
  }
  Tensor out = q;
  if (options.dropout == 0 && v.dtype() == dtype && same_batch(scores, values, is_grouped)) {
    out = weighted(scores, values, sees, is_grouped);
  } else {
    Tensor weights = weights_of(scores, sees);
    if (options.dropout > 0) weights = Dropout(options.dropout)(weights, mode);
    out = weights.astype(v.dtype()).matmul(values);
  }
  if (!is_grouped) return out;
  std::vector<Size> shape = q.sizes().vector();
  shape.back() = size_at(v, -1);
  return out.reshape(shape);
}

Tensor rotary(const Tensor& x, const Tensor& first, double base, bool interleaved) {
  TN_REQUIRE(x.rank() >= 2 && size_at(x, -1).is_fixed() && x.size(-1) % 2 == 0,
             "[nn.rotary] expected [.., positions, an even size], got {}", shape_text(x));
  TN_REQUIRE(base > 0, "[nn.rotary] expected a base above 0, got {}", base);
  const int64_t half = x.size(-1) / 2;
  Context& context = x.context();
  const DType dtype = wide(x.dtype());
  const Tensor position =
      (arange(size_at(x, -2), DType::kI64, context) + first).astype(dtype).expand_dims(1);
  const Tensor pair = arange(half, dtype, context);
  const Tensor angle = position * (pair * (-std::log(base) / static_cast<double>(half))).exp();
  std::vector<Size> shape = x.sizes().vector();
  std::vector<Size> paired = shape;
  paired.back() = interleaved ? half : 2;
  paired.emplace_back(interleaved ? 2 : half);
  const int axis = interleaved ? -1 : -2;
  const Tensor pairs = x.astype(dtype).reshape(paired);
  const Tensor a = pairs.take(0, axis), b = pairs.take(1, axis);
  const Tensor cos = angle.cos(), sin = angle.sin();
  return stack({a * cos - b * sin, a * sin + b * cos}, axis).reshape(shape).astype(x.dtype());
}

MultiHeadAttention::MultiHeadAttention(int64_t width, int64_t head_count,
                                       const MultiHeadOptions& options)
    : in_proj_weight({3 * width, width}, xavier_uniform()),
      out_proj(width, width, {.bias = options.bias}),
      heads(head_count),
      causal(options.causal),
      dropout(Dropout(options.dropout).rate) {
  TN_REQUIRE(heads > 0 && width % heads == 0,
             "[nn.multi_head_attention] expected a width that divides into heads, got {} and {}",
             width, heads);
  if (!options.bias) return;
  in_proj_bias = Parameter({3 * width}, zeros());
  out_proj.bias = Parameter({width}, zeros());
}

Tensor MultiHeadAttention::operator()(const Tensor& x, const Mode& mode) const {
  return (*this)(x, x, x, {}, mode);
}

Tensor MultiHeadAttention::operator()(const Tensor& q, const Tensor& k, const Tensor& v,
                                      const AttentionOptions& options, const Mode& mode) const {
  return in_layer(in_proj_weight, [&] {
    const int64_t width = out_proj.weight.declared->shape[0];
    const auto projected = [&](const Tensor& x, int64_t which) {
      TN_REQUIRE(x.rank() == 3 && size_at(x, -1) == Size(width),
                 "[nn.multi_head_attention] expected [n, positions, {}], got {}", width,
                 shape_text(x));
      const Slice rows{which * width, (which + 1) * width};
      Tensor out = x.matmul(in_proj_weight.slice({rows}).matrix_transpose());
      if (in_proj_bias) out = out + in_proj_bias->slice({rows});
      return out.reshape({size_at(x, 0), size_at(x, 1), heads, width / heads}).swapaxes(1, 2);
    };
    AttentionOptions with = options;
    with.causal = with.causal || causal;
    with.dropout = dropout.value();
    const Tensor out = attention(projected(q, 0), projected(k, 1), projected(v, 2), with, mode);
    return out_proj(out.swapaxes(1, 2).reshape({size_at(q, 0), size_at(q, 1), width}));
  });
}

}  // namespace tenon::nn
