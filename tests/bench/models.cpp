// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/bench/models.hpp"

#include <memory>
#include <numeric>

#include "tenon/formats/safetensors.hpp"
#include "tenon/tenon.hpp"
#include "tests/bench/gpt2.hpp"
#include "tests/bench/suite.hpp"

namespace tenon::bench {
namespace {

using Call = std::function<Tensor()>;

struct Mlp {
  nn::Linear fc1{64, 64}, fc2{64, 10};
  TENON_FIELDS(fc1, fc2)
  Tensor operator()(const Tensor& x, const nn::Mode&) { return fc2(fc1(nn::flatten(x)).relu()); }
};

/// Without the dropout of the example, so that its losses are those of the peers.
struct ConvNet {
  nn::Conv2d conv1{1, 16, 3, {.padding = 1}}, conv2{16, 32, 3, {.padding = 1}};
  nn::BatchNorm bn1{16}, bn2{32};
  nn::Linear fc{128, 10};
  TENON_FIELDS(conv1, conv2, bn1, bn2, fc)
  Tensor operator()(const Tensor& x, const nn::Mode& mode) {
    const Tensor a = nn::max_pool(bn1(conv1(x), mode).relu(), {2, 2});
    const Tensor b = nn::max_pool(bn2(conv2(a), mode).relu(), {2, 2});
    return fc(nn::flatten(b));
  }
};

constexpr int64_t kWidth = 128, kHeads = 4, kLength = 128, kBatch = 16;

struct Block {
  nn::LayerNorm ln_1{{kWidth}}, ln_2{{kWidth}};
  nn::Linear qkv{kWidth, 3 * kWidth}, out{kWidth, kWidth};
  nn::Linear fc{kWidth, 4 * kWidth}, proj{4 * kWidth, kWidth};
  TENON_FIELDS(ln_1, ln_2, qkv, out, fc, proj)
  Tensor operator()(const Tensor& x) const {
    const Tensor heads =
        qkv(ln_1(x)).reshape({x.size(0), x.size(1), 3 * kHeads, -1}).swapaxes(1, 2);
    const std::vector<Tensor> all = chunk(heads, 3, 1);  // [n, heads, length, size] each
    const Tensor seen =
        nn::attention(nn::rotary(all[0]), nn::rotary(all[1]), all[2], {.causal = true});
    const Tensor y = x + out(seen.swapaxes(1, 2).reshape(x.shape()));
    return y + proj(fc(ln_2(y)).gelu());
  }
};

struct Transformer {
  nn::Embedding wte{256, kWidth};
  std::vector<Block> h = std::vector<Block>(4);
  nn::LayerNorm ln_f{{kWidth}};
  nn::Linear head{kWidth, 256, {.bias = false}};
  TENON_FIELDS(wte, h, ln_f, head)
  Tensor operator()(const Tensor& bytes, const nn::Mode&) {
    Tensor x = wte(bytes);
    for (const Block& block : h) x = block(x);
    return head(ln_f(x)).reshape({kBatch * kLength, 256});
  }
};

struct Reader {
  nn::Embedding embedding{256, 64};
  nn::LSTM lstm{64, 256};
  nn::Linear head{256, 256};
  TENON_FIELDS(embedding, lstm, head)
  Tensor operator()(const Tensor& bytes, const nn::Mode&) {
    return head(lstm(embedding(bytes)).output).reshape({bytes.size(0) * bytes.size(1), 256});
  }
};

/// Integers below `most` that look drawn.
std::vector<int64_t> some_integers(size_t count, int64_t most) {
  std::vector<int64_t> out(count);
  for (size_t i = 0; i < count; ++i) out[i] = (static_cast<int64_t>(i) * 7919 + 13) % most;
  return out;
}

template <class Model>
formats::NamedTensors named(Model& model) {
  formats::NamedTensors out;
  for (const nn::Named& tensor : nn::tensors(model))
    out.emplace_back("model." + tensor.name, *tensor.tensor);
  return out;
}

/// Steps of AdamW that learn to answer `y` to `x`.
template <class Model>
Call learning(const nn::Optimizer& optimizer, const Tensor& x, const Tensor& y,
              const std::string& file) {
  struct State {
    Model model;
    nn::OptimizerState optimizer;
  };
  const auto state = std::make_shared<State>();
  state->model = nn::init(Model(), Key(1, x.context()));
  formats::NamedTensors tensors = named(state->model);
  tensors.emplace_back("x", x);
  tensors.emplace_back("y", y);
  formats::write_safetensors(file, tensors);
  state->optimizer = optimizer.init(state->model);
  const auto step = compile(
      [optimizer](Model m, nn::OptimizerState s, const Tensor& a, const Tensor& b, const Key& key) {
        const auto [loss, gradients] = nn::value_and_grad(
            m, [&](Model& at) { return nn::cross_entropy(at(a, nn::Mode::training(key)), b); });
        optimizer.update(m, gradients, s);
        return std::tuple(m, s, loss);
      },
      {.name = "step", .donate = {0, 1}});
  const Key key(2, x.context());
  return [state, step, x, y, key] {
    Tensor loss(0);
    std::tie(state->model, state->optimizer, loss) =
        step(state->model, state->optimizer, x, y, Key(key.words()));
    return loss;
  };
}

Tensor images(Context& context) {
  const std::vector<float> values = random_floats(size_t{64} * 64, 5);
  return tensor<float>(std::span<const float>(values), {64, 1, 8, 8}, context);
}

Tensor integers(std::vector<int64_t> shape, int64_t most, Context& context) {
  const auto count = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies());
  const std::vector<int64_t> values = some_integers(static_cast<size_t>(count), most);
  return tensor<int64_t>(std::span<const int64_t>(values), std::move(shape), context);
}

Call mlp_step(Context& context, const std::string& file) {
  return learning<Mlp>(nn::adamw(), images(context), integers({64}, 10, context), file);
}

Call conv_net_step(Context& context, const std::string& file) {
  return learning<ConvNet>(nn::adamw(), images(context), integers({64}, 10, context), file);
}

Call transformer_step(Context& context, const std::string& file) {
  const nn::Optimizer optimizer = nn::chain({nn::clip_by_global_norm(1), nn::adamw()});
  return learning<Transformer>(optimizer, integers({kBatch, kLength}, 256, context),
                               integers({kBatch * kLength}, 251, context), file);
}

Call lstm_step(Context& context, const std::string& file) {
  return learning<Reader>(nn::adamw(), integers({64, 16}, 256, context),
                          integers({64 * 16}, 251, context), file);
}

constexpr int64_t kRead = 256;  ///< words that GPT-2 has read when it answers

std::shared_ptr<Gpt2> gpt2(Context& context, const Tensor& words, const std::string& file) {
  const auto model = std::make_shared<Gpt2>();
  load_random(*model, context);
  formats::NamedTensors tensors = named(*model);
  tensors.emplace_back("words", words);
  formats::write_safetensors(file, tensors);
  return model;
}

/// Reads words after those that caches hold: the caches after them, and logits of the next one.
auto reading(const std::string& name, std::vector<size_t> donated) {
  return compile(
      [](const Gpt2& m, std::vector<nn::KeyValueCache> caches, const Tensor& words,
         const Tensor& length) {
        for (nn::KeyValueCache& cache : caches) cache.length = length;
        const Tensor logits = m.next(words, caches);
        return std::pair(caches, logits);
      },
      {.name = name, .donate = std::move(donated)});
}

Tensor length_of(int64_t count, Context& context) { return tensor<int64_t>(count, context); }

/// Answers to so many words at once, nothing having been read.
Call gpt2_prefill(Context& context, const std::string& file) {
  const Tensor words = integers({1, kRead}, Gpt2::kWords, context), none = length_of(0, context);
  const auto model = gpt2(context, words, file);
  return
      [model, words, none, answer = reading("prefill", {}), empty = gpt2_caches(kRead, context)] {
        return answer(*model, empty, words, none).second;
      };
}

/// Answers to the last word, the others having been read: each call at the same place.
Call gpt2_decode(Context& context, const std::string& file) {
  const Tensor words = integers({1, kRead}, Gpt2::kWords, context);
  const auto model = gpt2(context, words, file);
  const auto before =
      reading("prefill", {})(*model, gpt2_caches(kRead, context), words.slice({{}, {0, kRead - 1}}),
                             length_of(0, context));
  const auto caches = std::make_shared<std::vector<nn::KeyValueCache>>(before.first);
  const Tensor last = contiguous(words.slice({{}, {kRead - 1, kRead}}));
  return [model, caches, last, answer = reading("decode", {1}),
          length = length_of(kRead - 1, context)] {
    Tensor logits(0);
    std::tie(*caches, logits) = answer(*model, *caches, last, length);
    return logits;
  };
}

/// Bytes of the weights that an answer to one word reads: all but the table of positions.
double gpt2_bytes() {
  Gpt2 model;
  return 4.0 * static_cast<double>(nn::count(model) - Gpt2::kPositions * Gpt2Block::kWidth);
}

}  // namespace

std::vector<ModelWorkload> model_workloads() {
  constexpr int kSteps = 3;
  return {{"mlp step", mlp_step, kSteps},
          {"conv net step", conv_net_step, kSteps},
          {"byte transformer step", transformer_step, kSteps},
          {"lstm step", lstm_step, kSteps},
          {"gpt2 prefill of 256", gpt2_prefill},
          {"gpt2 decode", gpt2_decode, 1, gpt2_bytes()}};
}

}  // namespace tenon::bench
