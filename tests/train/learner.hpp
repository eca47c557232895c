// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A small model with all that a checkpoint has to keep: statistics, draws, an optimizer's state and
// a loader in the midst of an epoch.
#pragma once

#include <bit>
#include <vector>

#include "tenon/data/dataset.hpp"
#include "tenon/nn/nn.hpp"
#include "tenon/tenon.hpp"
#include "tenon/train/train.hpp"

namespace tenon::test {

struct Learner {
  nn::Linear fc1{6, 8};
  nn::BatchNorm bn{8};
  nn::Dropout drop{0.25};
  nn::Linear fc2{8, 3};
  TENON_MODULE(Learner, fc1, bn, drop, fc2)
  Tensor operator()(const Tensor& x, const nn::Mode& mode) {
    return fc2(drop(bn(fc1(x), mode).relu(), mode));
  }
};

inline Tensor learner_loss(Learner& model, const std::vector<Tensor>& batch, const Key& key) {
  return nn::cross_entropy(model(batch[0], nn::Mode::training(key)), batch[1]);
}

/// 23 examples f32 [6] with a little noise of their own, and labels i64 [].
inline data::Dataset learner_data() {
  return {23, [](int64_t index, data::Draws& draws) {
            data::Example example{Array::zeros(DType::kF32, {6}), Array::zeros(DType::kI64, {})};
            for (int64_t i = 0; i < 6; ++i) {
              const auto base = static_cast<double>((index * 7 + i * 3) % 11);
              example[0].set(i, Scalar::of(DType::kF32, base / 11 + draws.uniform() / 8));
            }
            example[1].set(0, Scalar::of_int(DType::kI64, index % 3));
            return example;
          }};
}

inline const nn::Optimizer& learner_optimizer() {
  static const nn::Optimizer optimizer = nn::chain(
      {nn::clip_by_global_norm(1), nn::adamw({.learning_rate = nn::warmup_cosine(0.02, 5, 200)})});
  return optimizer;
}

/// All parameters and buffers.
inline std::vector<uint32_t> bits_of(Learner& model) {
  std::vector<uint32_t> out;
  for (const nn::Named& named : nn::tensors(model))
    for (const float value : named.tensor->astype(DType::kF32).to_vector<float>())
      out.push_back(std::bit_cast<uint32_t>(value));
  return out;
}

}  // namespace tenon::test
