// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The handwritten digits of data/digits.npy, and a model that learns them: one step is traced, and
// draws its batch, so that nothing is copied to the device between steps.
#pragma once

#include <tenon/nn/nn.hpp>
#include <tenon/tenon.hpp>

#include <chrono>

#include "options.hpp"

struct Digits {
  tenon::Tensor images;  ///< f32 [n, 1, 8, 8], 0 to 1
  tenon::Tensor labels;  ///< i64 [n]
};

/// Every fifth is held out.
inline std::pair<Digits, Digits> read_digits() {
  const tenon::Tensor rows = tenon::Tensor::from_npy(TENON_EXAMPLE_DATA "/digits.npy");
  const int64_t n = rows.size(0);
  const auto part = [&](bool held) {
    std::vector<int64_t> at;
    for (int64_t i = 0; i < n; ++i)
      if ((i % 5 == 0) == held) at.push_back(i);
    const auto count = static_cast<int64_t>(at.size());
    const tenon::Tensor own = rows.take(0, tenon::Tensor::from<int64_t>(at, {count}));
    const tenon::Tensor pixels = own.slice({{}, {0, 64}}).cast(tenon::DType::kF32) / 16;
    Digits out{pixels.reshape({count, 1, 8, 8}), own.select(1, 64).cast(tenon::DType::kI64)};
    tenon::Tensor::realize({out.images, out.labels});
    return out;
  };
  return {part(false), part(true)};
}

template <class Model>
Learned learn_digits(Model model, const tenon::nn::Optimizer& optimizer, const Options& options) {
  using tenon::Key;
  using tenon::Tensor;
  namespace nn = tenon::nn;
  const auto [known, held] = read_digits();
  const std::vector<Key> keys = Key(options.seed).split();
  nn::initialise(model, keys[0]);
  nn::OptimizerState state = optimizer.init(model);

  const auto step = tenon::compile(
      [&](Model m, nn::OptimizerState kept, Tensor images, Tensor labels, Key key) {
        const std::vector<Key> own = key.split();
        const Tensor at = tenon::randint(own[0], {64}, 0, images.size(0));
        const Tensor x = images.take(0, at), y = labels.take(0, at);
        const auto [loss, gradients] = nn::value_and_gradient(m, [&](Model& used) {
          return nn::cross_entropy(used(x, nn::Mode::training(own[1])), y);
        });
        optimizer.update(m, gradients, kept);
        return std::tuple(m, kept, loss);
      },
      {.name = "step", .donate = {0, 1}});

  Learned learned;
  Key rest = keys[1];
  const auto begin = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < options.steps; ++i) {
    const std::vector<Key> next = rest.split();
    rest = next[0];
    Tensor loss = 0;
    std::tie(model, state, loss) = step(model, state, known.images, known.labels, next[1]);
    learned.losses.push_back(loss.item<float>());
    if (!options.json && (i + 1) % 50 == 0)
      std::printf("step %4lld: loss %.4f\n", static_cast<long long>(i + 1),
                  static_cast<double>(learned.losses.back()));
  }
  const Tensor answers = tenon::argmax(model(held.images, nn::Mode()), 1);
  learned.accuracy =
      static_cast<double>((answers == held.labels).cast(tenon::DType::kF32).mean().item<float>());
  learned.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return learned;
}
