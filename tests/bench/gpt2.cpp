// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/bench/gpt2.hpp"

#include "tests/bench/suite.hpp"

namespace tenon::bench {

Tensor Gpt2Block::operator()(const Tensor& x) const {
  const Tensor heads = qkv(ln_1(x)).reshape({x.size(0), x.size(1), 3 * kHeads, -1}).transpose(1, 2);
  const std::vector<Tensor> all = chunk(heads, 3, 1);  // [n, heads, length, size] each
  const Tensor seen = nn::attention(all[0], all[1], all[2], {.causal = true});
  const Tensor y = x + out(seen.transpose(1, 2).reshape(x.shape()));
  return y + proj(fc(ln_2(y)).gelu());
}

Tensor Gpt2::operator()(const Tensor& words) const {
  Tensor x = wte(words) + wpe.weight.slice({{0, words.size(1)}});
  for (const Gpt2Block& block : h) x = block(x);
  return ln_f(x).matmul(wte.weight.transpose());
}

void load_random(Gpt2& model) {
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
    *named.parameter = Tensor::from<float>(
        same.empty() ? std::span<const float>(values).subspan(values.size() - count) : same, shape);
  }
}

}  // namespace tenon::bench
