// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lesson 23: an LSTM that reads counting in words byte by byte, and counts itself.
#include <tenon/nn/nn.hpp>
#include <tenon/tenon.hpp>
#include <tenon/train/train.hpp>

#include <cmath>

#include "options.hpp"
#include "record.hpp"
#include "text.hpp"

using namespace tenon;
namespace nn = tenon::nn;

namespace {

constexpr int64_t kWidth = 64, kSize = 256, kBatch = 16, kLength = 64;

struct Reader {
  nn::Embedding embedding{256, kWidth};
  nn::LSTM lstm{kWidth, kSize};
  nn::Linear head{kSize, 256};
  TENON_MODULE(Reader, embedding, lstm, head)
  /// Bytes [length, n] to logits of the next [length, n, 256]; it goes on from a state.
  nn::RecurrentResult operator()(const Tensor& bytes, const std::vector<Tensor>& state = {}) const {
    nn::RecurrentResult out = lstm(embedding(bytes), state);
    out.output = head(out.output);
    return out;
  }
};

/// Of rows of bytes [n, length + 1]: each byte from those before it.
Tensor loss_of(const Reader& model, const Tensor& rows) {
  const Tensor bytes = rows.matrix_transpose();
  const Tensor logits = model(bytes.slice({Slice{0, kLength}})).output;
  return nn::cross_entropy(logits.reshape({kLength * kBatch, 256}),
                           bytes.slice({Slice{1, kLength + 1}}).ravel());
}

/// Bytes that the model finds likely, one after another. What it has read is in its state.
std::string written(const Reader& model, Key key, const std::string& begin, size_t count) {
  std::vector<int64_t> bytes(begin.begin(), begin.end());
  const auto next = compile([](Reader m, std::vector<Tensor> state, Tensor byte, Key k) {
    const auto [logits, after] = m(byte.reshape({1, 1}), state);
    return std::pair(after, categorical(k, logits.reshape({256}) / 0.7));
  });
  std::vector<Tensor> state(2, zeros({1, 1, kSize}));
  for (size_t i = 0; i + 1 < begin.size() + count; ++i) {
    const std::vector<Key> keys = key.split();
    key = keys[0];
    Tensor drawn = 0;
    std::tie(state, drawn) = next(model, state, tensor<int64_t>({bytes[i]}), keys[1]);
    if (i + 1 >= begin.size()) bytes.push_back(drawn.item<int64_t>());
  }
  return as_text(bytes);
}

}  // namespace

int main(int count, char** words) try {
  const Options options = parse_options(count, words, "An LSTM learns to count in words.", 200);
  const Text text = make_text();
  const std::vector<Key> keys = Key(options.seed).split(3);
  Reader model(keys[0]);
  const auto rows = [](const Tensor& all, const Key& key) {
    return drawn(all, key, kBatch, kLength + 1);
  };
  record(options, model, keys[1], [&](const Key& key) {
    return formats::NamedTensors{{"rows", rows(text.learned, key)}};
  });
  if (!options.json)
    std::printf("%lld bytes; %lld numbers are learned\n",
                static_cast<long long>(text.learned.size(0)),
                static_cast<long long>(nn::count(model)));
  const auto loss = [&](Reader& m, const std::vector<Tensor>& all, const Key& key) {
    return loss_of(m, rows(all[0], key));
  };
  train::Result learned;
  if (options.steps > 0)
    learned = train::fit(model, nn::adamw({.learning_rate = 3e-3}), std::vector{text.learned}, loss,
                         {.steps = options.steps, .key = keys[1]});
  print(learned, options, -1, 1 / std::log(2.0), "bits a byte");
  if (options.json) return 0;
  std::printf("%.4f bits a byte of what it did not see\n",
              bits_a_byte(model, text.held_out, kBatch, kLength + 1, loss_of));
  std::printf("---\n%s\n", written(model, keys[2], "seven, ten, ", 200).c_str());
  return 0;
} catch (const Error& error) {
  std::fprintf(stderr, "23_lstm: %s\n", error.what());
  return 3;
}
