// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GPT-2 small (Radford et al., 2019): 12 layers, 124 million parameters.
#pragma once

#include <cstdint>
#include <vector>

#include "tenon/nn/nn.hpp"
#include "tenon/tenon.hpp"

namespace tenon::bench {

struct Gpt2Block {
  static constexpr int64_t kWidth = 768, kHeads = 12;
  nn::LayerNorm ln_1{{kWidth}}, ln_2{{kWidth}};
  nn::Linear qkv{kWidth, 3 * kWidth}, out{kWidth, kWidth};
  nn::Linear fc{kWidth, 4 * kWidth}, proj{4 * kWidth, kWidth};
  TENON_FIELDS(ln_1, ln_2, qkv, out, fc, proj)
  /// [n, length, width] to as much; with a cache, of the positions after those that are in it.
  Tensor operator()(const Tensor& x, nn::KeyValueCache* cache = nullptr) const;
};

struct Gpt2 {
  static constexpr int64_t kWords = 50257, kPositions = 1024, kLayers = 12;
  nn::Embedding wte{kWords, Gpt2Block::kWidth}, wpe{kPositions, Gpt2Block::kWidth};
  std::vector<Gpt2Block> h = std::vector<Gpt2Block>(kLayers);
  nn::LayerNorm ln_f{{Gpt2Block::kWidth}};
  TENON_FIELDS(wte, wpe, h, ln_f)
  /// Words [n, length] to logits of the next [n, length, words].
  Tensor operator()(const Tensor& words) const;
  /// Words [1, length] that come after those in the caches to logits of the next one [words].
  Tensor next(const Tensor& words, std::vector<nn::KeyValueCache>& caches) const;
};

/// Of every layer, for `capacity` positions.
std::vector<nn::KeyValueCache> gpt2_caches(int64_t capacity, Context& context);

/// Values as a file would give them, without a kernel: all deviate by 0.02, norms do nothing.
void load_random(Gpt2& model, Context& context = Context::standard());

}  // namespace tenon::bench
