// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <limits>

#include "core/support/error.hpp"
#include "frontend/nn/shape_text.hpp"
#include "frontend/nn/window.hpp"
#include "tenon/make.hpp"
#include "tenon/nn/attention.hpp"

namespace tenon::nn {

KeyValueCache::KeyValueCache(int64_t n, int64_t groups, int64_t capacity, int64_t size, DType dtype,
                             Context& context)
    : keys(tenon::zeros({n, groups, capacity, size}, dtype, context)),
      values(tenon::zeros({n, groups, capacity, size}, dtype, context)),
      length(tenon::zeros({}, DType::kI64, context)) {
  TN_REQUIRE(n > 0 && groups > 0 && capacity > 0 && size > 0,
             "[nn.key_value_cache] expected sizes above 0, got {}, {}, {} and {}", n, groups,
             capacity, size);
}

void KeyValueCache::append(const Tensor& k, const Tensor& v) {
  for (const Tensor& x : {k, v})
    TN_REQUIRE(x.rank() == 4 && size_at(x, 0) == size_at(keys, 0) &&
                   size_at(x, 1) == size_at(keys, 1) && size_at(x, 3) == size_at(keys, 3) &&
                   size_at(x, 2) == size_at(k, 2) && x.dtype() == keys.dtype(),
               "[nn.key_value_cache] expected {} [{}, {}, new, {}], as the cache has, got {} of "
               "rank {}",
               dtype_name(keys.dtype()), size_at(keys, 0).text(), size_at(keys, 1).text(),
               size_at(keys, 3).text(), dtype_name(x.dtype()), x.rank());
  const Size count = size_at(k, 2);
  const Tensor at = (arange(count, DType::kI64, keys.context()) + length)
                        .reshape({1, 1, count, 1})
                        .broadcast_to(k.sizes());
  keys = keys.scatter(2, at, k);
  values = values.scatter(2, at, v);
  length = length + from_size(count, keys.context());
}

Tensor attention(const Tensor& q, const KeyValueCache& cache, const AttentionOptions& options,
                 const Mode& mode) {
  TN_REQUIRE(!options.mask && options.window >= 0,
             "[nn.attention] expected a window of 0 (none) or more and no mask beside a cache, got "
             "a window of {}{}",
             options.window, options.mask ? " and a mask" : "");
  TN_REQUIRE(q.rank() == 4, "[nn.attention] expected [n, heads, queries, size], got rank {}",
             q.rank());
  Context& context = q.context();
  const Size queries = size_at(q, 2);
  const int64_t capacity = fixed_size_at("nn.attention", cache.keys, 2);
  const Tensor last = arange(queries, DType::kI64, context).expand_dims(1) + cache.length -
                      from_size(queries, context);
  const Tensor key = arange(capacity, DType::kI64, context).expand_dims(0);
  AttentionOptions with = options;
  with.causal = false;
  with.window = 0;
  with.mask = key <= last;
  if (options.window > 0) with.mask = *with.mask & (key > last - clamped_window(options.window));
  const Tensor out = attention(q, cache.keys, cache.values, with, mode);
  return where(cache.length > capacity, std::numeric_limits<double>::quiet_NaN(), out);
}

}  // namespace tenon::nn
