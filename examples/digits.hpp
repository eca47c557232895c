// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The handwritten digits of data/digits.npy, and a model that learns them: a step draws its batch,
// so that nothing is copied to the device between steps.
#pragma once

#include <tenon/nn/nn.hpp>
#include <tenon/tenon.hpp>
#include <tenon/train/train.hpp>

#include "options.hpp"
#include "record.hpp"

struct Digits {
  tenon::Tensor images;  ///< f32 [n, 1, 8, 8], 0 to 1
  tenon::Tensor labels;  ///< i64 [n]
};

/// Every fifth is held out.
inline std::pair<Digits, Digits> read_digits() {
  const tenon::Tensor rows = tenon::tensor(tenon::read_npy(TENON_EXAMPLE_DATA "/digits.npy"));
  const int64_t n = rows.size(0);
  const auto part = [&](bool held) {
    std::vector<int64_t> at;
    for (int64_t i = 0; i < n; ++i)
      if ((i % 5 == 0) == held) at.push_back(i);
    const auto count = static_cast<int64_t>(at.size());
    const tenon::Tensor own = rows.take(tenon::tensor<int64_t>(at, {count}), 0);
    const tenon::Tensor pixels = own.slice({{}, {0, 64}}).astype(tenon::DType::kF32) / 16;
    Digits out{pixels.reshape({count, 1, 8, 8}), own.take(64, 1).astype(tenon::DType::kI64)};
    tenon::realize({out.images, out.labels});
    return out;
  };
  return {part(false), part(true)};
}

/// Which images a step learns from.
inline tenon::Tensor drawn_digits(const tenon::Key& key, int64_t count) {
  return tenon::randint(key, {64}, 0, count);
}

/// Of the numbers that a model begins with.
inline tenon::Key model_key(const Options& options) { return tenon::Key(options.seed).split()[0]; }

template <class Model>
void learn_digits(Model model, const tenon::nn::Optimizer& optimizer, const Options& options) {
  using tenon::Key;
  using tenon::Tensor;
  namespace nn = tenon::nn;
  const auto [known, held] = read_digits();
  const std::vector<Key> keys = Key(options.seed).split();
  record(options, model, keys[1], [count = known.images.size(0)](const Key& key) {
    return tenon::formats::NamedTensors{{"images", drawn_digits(key.split()[0], count)}};
  });
  const auto loss = [](Model& m, const std::vector<Tensor>& all, const Key& key) {
    const std::vector<Key> own = key.split();
    const Tensor at = drawn_digits(own[0], all[0].size(0));
    const Tensor x = all[0].take(at, 0), y = all[1].take(at, 0);
    return nn::cross_entropy(m(x, nn::Mode::training(own[1])), y);
  };
  tenon::train::Result learned;
  if (options.steps > 0)
    learned = tenon::train::fit(model, optimizer, std::vector{known.images, known.labels}, loss,
                                {.steps = options.steps, .key = keys[1]});
  const Tensor answers = tenon::argmax(model(held.images, nn::Mode()), 1);
  const float right = (answers == held.labels).astype(tenon::DType::kF32).mean().item<float>();
  print(learned, options, static_cast<double>(right));
  if (!options.json)
    std::printf("%.1f%% of the digits that it has not seen are right\n",
                100 * static_cast<double>(right));
}
