// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Narrow dtypes with f32 parameters, scaled losses, gathered gradients and means of parameters.
#include "tenon/nn/precision.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tenon/nn/nn.hpp"
#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"

namespace tenon::test {
namespace {

using Catch::Matchers::ContainsSubstring;

struct One {
  nn::Parameter w{std::vector<int64_t>{2}, nn::constant(1)};
  TENON_MODULE(One, w)
};

struct Normed {
  nn::Linear fc{3, 4};
  nn::BatchNorm bn{4};
  TENON_MODULE(Normed, fc, bn)
};

}  // namespace

TEST_CASE("gradients that f16 does not hold are there where the loss was scaled") {
  on_each_device([](Context& context) {
    const Tensor x = full({2}, 0x1p-13, DType::kF16, context);
    const auto learned = [&](const nn::Optimizer& optimizer) {
      One model(Key(1, context));
      nn::OptimizerState state = optimizer.init(model);
      const auto [loss, gradients] = nn::value_and_grad(model, [&](One& m) {
        const Tensor narrow = nn::compute_in(DType::kF16, m, [&](One& n) {
          CHECK(n.w.dtype() == DType::kF16);
          return (n.w * x * x).sum();
        });
        return narrow.astype(DType::kF32) * nn::loss_scale(optimizer, state);
      });
      CHECK(gradients[0].dtype() == DType::kF32);
      optimizer.update(model, gradients, state);
      CHECK(model.w.dtype() == DType::kF32);
      return (model.w - 1).to_vector<float>();
    };
    const nn::Optimizer sgd = nn::sgd({.learning_rate = 0x1p10});
    // The slope is 2^-26, and the least number above 0 in f16 is 2^-24.
    CHECK(learned(sgd) == std::vector<float>{0, 0});
    CHECK(learned(nn::scale_loss(sgd, {.begin = 1024})) ==
          std::vector<float>{-0x1p-16F, -0x1p-16F});
  });
}

TEST_CASE("what a narrow copy keeps is kept in the model, in its dtype") {
  on_each_device([](Context& context) {
    Normed model(Key(1, context));
    const Tensor x = normal(Key(2, context), {5, 3}).astype(DType::kBF16);
    const std::vector<float> before = model.bn.running_mean.to_vector<float>();
    const auto [loss, gradients] = nn::value_and_grad(model, [&](Normed& m) {
      return nn::compute_in(DType::kBF16, m, [&](Normed& n) {
        return n.bn(n.fc(x), nn::Mode::training()).astype(DType::kF32).square().sum();
      });
    });
    CHECK(model.bn.running_mean.dtype() == DType::kF32);
    CHECK(model.bn.running_mean.to_vector<float>() != before);
    CHECK(model.fc.weight.dtype() == DType::kF32);
    REQUIRE(gradients.size() == 4);
    for (const Tensor& gradient : gradients) CHECK(gradient.dtype() == DType::kF32);
  });
}

TEST_CASE("a scale that shrank as far as it can lets a finite gradient through") {
  on_each_device([](Context& context) {
    const nn::Optimizer optimizer =
        nn::scale_loss(nn::sgd({.learning_rate = 1}), {.begin = 1e-20, .backoff = 1e-30});
    One model(Key(1, context));
    nn::OptimizerState state = optimizer.init(model);
    optimizer.update(model, {full({2}, INFINITY, DType::kF32, context)}, state);
    const Tensor scale = nn::loss_scale(optimizer, state);
    CHECK(scale.item<float>() == 0x1p-126F);
    optimizer.update(model, {full({2}, 1, DType::kF32, context) * scale}, state);
    CHECK(model.w.to_vector<float>() == std::vector<float>{0, 0});
  });
}

TEST_CASE("means of parameters begin with them") {
  on_each_device([](Context& context) {
    const nn::Optimizer optimizer =
        nn::multi_steps(nn::chain({nn::sgd({.learning_rate = 1}), nn::ema(0.5)}), 2);
    One model(Key(1, context));
    nn::OptimizerState state = optimizer.init(model);
    const auto mean = [&] { return nn::averaged(model, optimizer, state).w.to_vector<float>(); };
    CHECK(mean() == std::vector<float>{1, 1});
    const auto step = compile(
        [&](One m, nn::OptimizerState kept, const Tensor& gradient) {
          optimizer.update(m, {gradient}, kept);
          return std::tuple(m, kept);
        },
        {.name = "step", .donate = {0, 1}});
    const Tensor gradient = full({2}, 1, DType::kF32, context);
    for (const float expected : {1.0F, 0.0F, 0.0F, -0.5F}) {  // w is 1, 0, 0, -1
      std::tie(model, state) = step(model, state, gradient);
      CHECK(mean() == std::vector<float>{expected, expected});
    }
  });
}

TEST_CASE("pieces around others refuse what means nothing") {
  on_each_device([](Context& context) {
    const nn::Optimizer sgd = nn::sgd();
    CHECK_THROWS_WITH(nn::multi_steps(sgd, 0), ContainsSubstring("every_k above 0, got 0"));
    CHECK_THROWS_WITH(nn::ema(1), ContainsSubstring("decay in [0, 1), got 1"));
    CHECK_THROWS_WITH(nn::scale_loss(sgd, {.begin = 0}), ContainsSubstring("got 0, 2, 0.5"));
    CHECK_THROWS_WITH(nn::scale_loss(sgd, {.backoff = 2}),
                      ContainsSubstring("a backoff in (0, 1]"));
    const nn::Optimizer scaled = nn::scale_loss(sgd);
    CHECK_THROWS_WITH(
        nn::multi_steps(nn::chain({scaled, nn::ema(0.9)}), 2),
        ContainsSubstring("[nn.multi_steps] expected scale_loss around it, got it within"));
    CHECK_THROWS_WITH(nn::scale_loss(scaled), ContainsSubstring("got it within"));
    One model(Key(1, context));
    nn::OptimizerState state = sgd.init(model);
    CHECK_THROWS_WITH(nn::averaged(model, sgd, state), ContainsSubstring("one without"));
    CHECK(nn::loss_scale(sgd, state).item<float>() == 1);
    const nn::Optimizer around = nn::multi_steps(nn::chain({nn::adam(), nn::ema(0.5)}), 2);
    CHECK_THROWS_WITH(nn::loss_scale(nn::scale_loss(around), {}), ContainsSubstring("got another"));
    // Names for checkpoints.
    nn::OptimizerState kept = around.init(model);
    std::vector<std::string> names;
    for (const nn::NamedState& named : around.named(nn::learned(model), kept))
      names.push_back(named.name);
    CHECK(names == std::vector<std::string>{"multi_steps.sum.w", "multi_steps.count",
                                            "multi_steps.adam.mean.w", "multi_steps.adam.square.w",
                                            "multi_steps.adam.count", "multi_steps.rate.count",
                                            "multi_steps.mean.parameter.w",
                                            "multi_steps.mean.count"});
    around.update(model, {full({2}, 1, DType::kF32, context)}, kept);
    around.update(model, {full({2}, 1, DType::kF32, context)}, kept);
    CHECK(nn::averaged(model, around, kept).w.to_vector<float>() == model.w.to_vector<float>());
  });
}

}  // namespace tenon::test
