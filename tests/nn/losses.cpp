// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Losses of what is infinite, tiny or huge: what PyTorch's goldens do not have.
#include <cmath>
#include <functional>

#include "tenon/nn/nn.hpp"
#include "tenon/tenon.hpp"

#include <catch2/catch_test_macros.hpp>

namespace tenon::test {
namespace {

using Floats = std::vector<float>;

TEST_CASE("what has the target 0 counts 0, however unlikely it is") {
  const Tensor logs = tensor<float>({-INFINITY, 0}), target = tensor<float>({0, 1});
  CHECK(nn::kl_divergence(logs, target, nn::Reduction::kNone).to_vector<float>() == Floats{0, 0});
  CHECK(std::isinf(nn::kl_divergence(logs, tensor<float>({0.5, 0.5})).item<float>()));
  const auto slopes = [](const Tensor& loss, const std::vector<Tensor>& by) {
    Floats all;
    for (const Tensor& g : grad(loss, by))
      for (const float v : g.to_vector<float>()) all.push_back(v);
    return all;
  };
  const Floats of_kl = slopes(nn::kl_divergence(logs, target, nn::Reduction::kSum), {logs, target});
  CHECK(of_kl == Floats{0, -1, 0, 1});

  const Tensor logits = tensor<float>({{-INFINITY, 0, 0}}), soft = tensor<float>({{0, 0.5, 0.5}});
  CHECK(std::abs(nn::cross_entropy(logits, soft).item<float>() - std::log(2.0F)) < 1e-6F);
  for (const float g : slopes(nn::cross_entropy(logits, soft), {logits}))
    CHECK(std::abs(g) < 1e-6F);
  nn::ClassOptions options;
  options.weight = tensor<float>({0, 1, 1});
  CHECK(std::abs(nn::cross_entropy(logits, soft, options).item<float>() - std::log(2.0F)) < 1e-6F);
  CHECK(std::isinf(nn::cross_entropy(logits, tensor<float>({{1, 0, 0}})).item<float>()));
}

TEST_CASE("cross entropy from infinite logits") {
  const Tensor x = tensor<float>({INFINITY, -INFINITY, INFINITY, -INFINITY, 2});
  const Tensor t = tensor<float>({1, 0, 0, 1, 1});
  const Floats losses =
      nn::binary_cross_entropy_with_logits(x, t, {}, nn::Reduction::kNone).to_vector<float>();
  CHECK(Floats(losses.begin(), losses.begin() + 4) == Floats{0, 0, INFINITY, INFINITY});
  const Tensor loss = nn::binary_cross_entropy_with_logits(x, t, {}, nn::Reduction::kSum);
  const Floats slopes = grad(loss, {x})[0].to_vector<float>();
  CHECK(Floats(slopes.begin(), slopes.begin() + 4) == Floats{0, 0, 1, -1});
}

TEST_CASE("losses that are infinite have the slopes of their branch") {
  const Tensor x = tensor<float>({INFINITY, -INFINITY, 0.5, 3}), t = zeros({4});
  const auto slopes = [&](const std::function<Tensor(const Tensor&)>& loss) {
    return grad(loss(x), {x})[0].to_vector<float>();
  };
  const nn::Reduction sum = nn::Reduction::kSum;
  CHECK(slopes([&](const Tensor& v) { return nn::huber_loss(v, t, 2, sum); }) ==
        Floats{2, -2, 0.5, 2});
  CHECK(slopes([&](const Tensor& v) { return nn::smooth_l1_loss(v, t, 1, sum); }) ==
        Floats{1, -1, 0.5, 1});
  CHECK(slopes([&](const Tensor& v) { return nn::l1_loss(v, t, sum); }) == Floats{1, -1, 1, 1});
  CHECK(slopes([&](const Tensor& v) { return nn::hinge_loss(v, ones({4}), 1, sum); }) ==
        Floats{0, -1, -1, 0});
}

TEST_CASE("the angle between short and long vectors") {
  for (const float size : {1e-30F, 1e-6F, 1.0F, 1e20F, 3e38F}) {
    INFO(size);
    const Tensor a = tensor<float>({{size, size, 0}}), b = tensor<float>({{size, -size, 0}});
    const double epsilon = size < 1e-10F ? 0 : 1e-8;
    CHECK(std::abs(nn::cosine_similarity(a, a, -1, epsilon).item<float>() - 1) < 1e-6F);
    CHECK(std::abs(nn::cosine_similarity(a, b, -1, epsilon).item<float>()) < 1e-6F);
  }
  // Below epsilon a vector counts as that long.
  const Tensor none = tensor<float>({{1e-9F, 0}});
  CHECK(std::abs(nn::cosine_similarity(none, none).item<float>() - 0.01F) < 1e-6F);
  CHECK(nn::cosine_similarity(zeros({1, 2}), zeros({1, 2})).item<float>() == 0);
}

TEST_CASE("a label of u64 beyond i64 is no class") {
  const Tensor logits = zeros({2, 3});
  const Tensor labels = tensor<uint64_t>({1, UINT64_MAX - 99});  // -100 would be ignored
  CHECK(std::isnan(nn::cross_entropy(logits, labels).item<float>()));
}

}  // namespace
}  // namespace tenon::test
