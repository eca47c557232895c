// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lesson 22: a transformer that reads counting in words byte by byte, and counts itself.
#include <tenon/nn/nn.hpp>
#include <tenon/tenon.hpp>
#include <tenon/train/train.hpp>

#include <algorithm>
#include <cmath>

#include "options.hpp"
#include "record.hpp"
#include "text.hpp"

using namespace tenon;
namespace nn = tenon::nn;

namespace {

constexpr int64_t kWidth = 128, kHeads = 4, kLength = 128, kBatch = 16;

/// GPT-2's block (Radford et al., 2019), but that positions are angles (Su et al., 2021), by which
/// a small model soon finds what stood where: what is normed is attended to, then transformed.
struct Block {
  nn::LayerNorm ln_1{{kWidth}}, ln_2{{kWidth}};
  nn::Linear qkv{kWidth, 3 * kWidth}, out{kWidth, kWidth};
  nn::Linear fc{kWidth, 4 * kWidth}, proj{4 * kWidth, kWidth};
  TENON_FIELDS(ln_1, ln_2, qkv, out, fc, proj)
  Tensor attend(const Tensor& x) const {
    const Tensor heads = qkv(x).reshape({x.size(0), x.size(1), 3 * kHeads, -1}).swapaxes(1, 2);
    const std::vector<Tensor> all = chunk(heads, 3, 1);  // [n, heads, length, size] each
    const Tensor seen =
        nn::attention(nn::rotary(all[0]), nn::rotary(all[1]), all[2], {.causal = true});
    return out(seen.swapaxes(1, 2).reshape(x.shape()));
  }
  Tensor operator()(const Tensor& x) const {
    const Tensor h = x + attend(ln_1(x));
    return h + proj(fc(ln_2(h)).gelu());
  }
};

struct Transformer {
  nn::Embedding wte{256, kWidth};
  std::vector<Block> h = std::vector<Block>(4);
  nn::LayerNorm ln_f{{kWidth}};
  nn::Linear head{kWidth, 256, {.bias = false}};
  TENON_MODULE(Transformer, wte, h, ln_f, head)
  /// Bytes [n, length] to logits of the next [n, length, 256].
  Tensor operator()(const Tensor& bytes) const {
    Tensor x = wte(bytes);
    for (const Block& block : h) x = block(x);
    return head(ln_f(x));
  }
};

Tensor loss_of(const Transformer& model, const Tensor& rows) {
  const Tensor logits = model(rows.slice({{}, {0, kLength}}));
  return nn::cross_entropy(logits.reshape({kBatch * kLength, 256}),
                           rows.slice({{}, {1, kLength + 1}}).ravel());
}

/// Bytes that the model finds likely, one after another.
std::string written(const Transformer& model, Key key, const std::string& begin, int64_t count) {
  std::vector<int64_t> bytes(begin.begin(), begin.end());
  const auto next = compile([](Transformer m, Tensor row, Tensor last, Key k) {
    const Tensor logits = m(row).take(last, 1).reshape({256});
    return categorical(k, logits / 0.8);
  });
  for (int64_t i = 0; i < count; ++i) {
    const std::vector<Key> keys = key.split();
    key = keys[0];
    const auto shown = std::min<int64_t>(kLength, static_cast<int64_t>(bytes.size()));
    std::vector<int64_t> row(bytes.end() - shown, bytes.end());
    row.resize(kLength);  // what stands after the last byte is not seen
    const Tensor at = tensor<int64_t>({shown - 1});
    bytes.push_back(next(model, tensor<int64_t>(row, {1, kLength}), at, keys[1]).item<int64_t>());
  }
  return as_text(bytes);
}

}  // namespace

int main(int count, char** words) try {
  const Options options = parse_options(count, words, "Learns to count in words.", 200);
  const Text text = make_text();
  const std::vector<Key> keys = Key(options.seed).split(3);
  Transformer model(keys[0]);
  const nn::Optimizer optimizer = nn::chain(
      {nn::clip_by_global_norm(1), nn::adamw({.learning_rate = nn::warmup_cosine(
                                                  4e-3, 20, std::max<int64_t>(options.steps, 21)),
                                              .b2 = 0.99,
                                              .weight_decay = 0.1})});
  if (!options.json)
    std::printf("%lld bytes; %lld numbers are learned\n",
                static_cast<long long>(text.learned.size(0)),
                static_cast<long long>(nn::count(model)));
  const auto rows = [](const Tensor& all, const Key& key) {
    return drawn(all, key, kBatch, kLength + 1);
  };
  record(options, model, keys[1], [&](const Key& key) {
    return formats::NamedTensors{{"rows", rows(text.learned, key)}};
  });
  const auto loss = [rows](Transformer& m, const std::vector<Tensor>& all, const Key& key) {
    return loss_of(m, rows(all[0], key));
  };
  train::Result learned;
  if (options.steps > 0)
    learned = train::fit(model, optimizer, std::vector{text.learned}, loss,
                         {.steps = options.steps, .key = keys[1]});
  print(learned, options, -1, 1 / std::log(2.0), "bits a byte");
  if (options.json) return 0;
  std::printf("%.4f bits a byte of what it did not see\n",
              bits_a_byte(model, text.held_out, kBatch, kLength + 1, loss_of));
  std::printf("---\n%s\n", written(model, keys[2], "seven, ten, ", 200).c_str());
  return 0;
} catch (const Error& error) {
  std::fprintf(stderr, "22_text: %s\n", error.what());
  return 3;
}
