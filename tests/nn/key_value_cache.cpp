// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention to what was appended, beside attention to all at once.
#include <cmath>

#include "tenon/nn/nn.hpp"
#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"
#include "tests/tensor/refusals.hpp"

#include <catch2/catch_test_macros.hpp>

namespace tenon::test {

TEST_CASE("positions that are appended one after another see what all at once see") {
  on_each_device([](Context& context) {
    constexpr int64_t kCount = 9;
    const Tensor q = normal(Key(1, context), {2, 4, kCount, 6});
    const Tensor k = normal(Key(2, context), {2, 2, kCount, 6});
    const Tensor v = normal(Key(3, context), {2, 2, kCount, 6});
    realize({q, k, v});
    for (const int64_t window : {int64_t{0}, int64_t{3}, INT64_MAX}) {
      const auto step = compile(
          [&](nn::KeyValueCache cache, Tensor a, Tensor b, Tensor c) {
            cache.append(b, c);
            const Tensor out = nn::attention(a, cache, {.window = window});
            return std::pair(cache, out);
          },
          {.donate = {0}});
      nn::KeyValueCache cache(2, 2, kCount, 6, DType::kF32, context);
      std::vector<Tensor> parts;
      const auto add = [&](int64_t begin, int64_t end) {
        const auto part = [&](const Tensor& x) {
          return contiguous(x.slice({{}, {}, Slice{begin, end}}));
        };
        Tensor out = 0.0;
        std::tie(cache, out) = step(cache, part(q), part(k), part(v));
        return out;
      };
      parts.push_back(add(0, 4));  // what is given, then one after another
      for (int64_t i = 4; i < kCount; ++i) parts.push_back(add(i, i + 1));
      CHECK(step.traces() == 2);
      CHECK(cache.length.item<int64_t>() == kCount);
      const Tensor whole = nn::attention(q, k, v, {.causal = true, .window = window});
      CHECK((concatenate(parts, 2) - whole).abs().max().item<float>() < 1e-5f);
      CHECK(std::isnan(add(0, 1).sum().item<float>()));  // there is no room
    }
  });
}

TEST_CASE("a cache refuses what does not fit") {
  on_each_device([](Context& context) {
    nn::KeyValueCache cache(1, 2, 4, 6, DType::kF32, context);
    const Tensor k = zeros({1, 2, 1, 6}, DType::kF32, context);
    refuses(
        [&] { cache.append(k, k.astype(DType::kF16)); },
        "[nn.key_value_cache] expected f32 [1, 2, new, 6], as the cache has, got f16 of rank 4");
    refuses([&] { cache.append(k, k.squeeze(0)); }, "got f32 of rank 3");
    refuses([&] { nn::KeyValueCache(1, 2, 0, 6, DType::kF32, context); },
            "[nn.key_value_cache] expected sizes above 0, got 1, 2, 0 and 6");
    refuses([&] { nn::attention(k, cache, {.mask = k}); },
            "[nn.attention] expected a window of 0 (none) or more and no mask beside a cache, got "
            "a window of 0 and a mask");
  });
}

}  // namespace tenon::test
