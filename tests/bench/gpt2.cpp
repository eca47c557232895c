// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/bench/gpt2.hpp"

#include "tenon/make.hpp"
#include "tests/bench/suite.hpp"

namespace tenon::bench {

Tensor Gpt2Block::operator()(const Tensor& x, nn::KeyValueCache* cache) const {
  const Tensor heads = qkv(ln_1(x)).reshape({x.size(0), x.size(1), 3 * kHeads, -1}).swapaxes(1, 2);
  const std::vector<Tensor> all = chunk(heads, 3, 1);  // [n, heads, length, size] each
  if (cache) cache->append(all[1], all[2]);
  const Tensor seen = cache ? nn::attention(all[0], *cache)
                            : nn::attention(all[0], all[1], all[2], {.causal = true});
  const Tensor y = x + out(seen.swapaxes(1, 2).reshape(x.shape()));
  return y + proj(fc(ln_2(y)).gelu());
}

Tensor Gpt2::operator()(const Tensor& words) const {
  Tensor x = wte(words) + wpe.weight.slice({{0, words.size(1)}});
  for (const Gpt2Block& block : h) x = block(x);
  return ln_f(x).matmul(wte.weight.matrix_transpose());
}

Tensor Gpt2::next(const Tensor& words, std::vector<nn::KeyValueCache>& caches) const {
  const int64_t count = words.size(1);
  const Tensor places = arange(count, DType::kI64, words.context()) + caches[0].length;
  Tensor x = wte(words) + wpe(places);
  for (size_t i = 0; i < h.size(); ++i) x = h[i](x, &caches[i]);
  const Tensor last = ln_f(x.slice({{}, {count - 1, count}}));
  return last.matmul(wte.weight.matrix_transpose()).reshape({kWords});
}

std::vector<nn::KeyValueCache> gpt2_caches(int64_t capacity, Context& context) {
  constexpr int64_t kSize = Gpt2Block::kWidth / Gpt2Block::kHeads;
  return {Gpt2::kLayers,
          nn::KeyValueCache(1, Gpt2Block::kHeads, capacity, kSize, DType::kF32, context)};
}

void load_random(Gpt2& model, Context& context) {
  constexpr float kDeviation = 0.02f * 1.7320508f;  // of uniform numbers in [-1, 1)
  std::vector<float> values =
      random_floats(static_cast<size_t>(Gpt2::kWords) * Gpt2Block::kWidth, 1);
  for (float& x : values) x *= kDeviation;
  for (const nn::Named& named : nn::tensors(model)) {
    const std::vector<int64_t>& shape = named.parameter->declared->shape;
    size_t count = 1;
    for (const int64_t size : shape) count *= static_cast<size_t>(size);
    const bool is_scale = named.name.find("ln_") != std::string::npos;
    const bool is_weight = named.name.ends_with(".weight");
    const std::vector<float> same(shape.size() == 1 ? count : 0,
                                  is_scale && is_weight ? 1.0f : 0.0f);
    // Each table begins elsewhere in the numbers, so that no two rows are equal by their places.
    *named.parameter = tensor<float>(
        same.empty() ? std::span<const float>(values).subspan(values.size() - count) : same, shape,
        context);
  }
}

}  // namespace tenon::bench
