// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Optimizers made of others: what they keep, and what they refuse.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <tuple>

#include "tenon/nn/nn.hpp"
#include "tenon/tenon.hpp"

namespace tenon::test {
namespace {

using Catch::Matchers::ContainsSubstring;

bool is_matrix(const nn::Named& named) { return named.tensor->rank() == 2; }

struct TwoWeights {
  nn::Parameter a, b;
  TENON_FIELDS(a, b)
};

std::vector<std::string> names(const nn::Optimizer& optimizer, nn::Linear& model,
                               nn::OptimizerState& state) {
  std::vector<std::string> out;
  for (const nn::NamedState& kept : optimizer.named(nn::learned(model), state))
    out.push_back(kept.name);
  return out;
}

}  // namespace

TEST_CASE("each part of a partition keeps what its own parameters need") {
  nn::Linear model(3, 2, Key(1));
  const nn::Optimizer optimizer =
      nn::partition(is_matrix, nn::muon(), nn::adam({.learning_rate = 0.1}));
  nn::OptimizerState state = optimizer.init(model);
  CHECK(names(optimizer, model, state) ==
        std::vector<std::string>{"chosen.momentum.trace.weight", "chosen.rate.count",
                                 "others.adam.mean.bias", "others.adam.square.bias",
                                 "others.adam.count", "others.rate.count"});
}

TEST_CASE("gradients of any length are clipped to one, and shorter ones stay") {
  const auto clipped = [](double max_norm, const std::vector<float>& a,
                          const std::vector<float>& b) {
    TwoWeights model{zeros({static_cast<int64_t>(a.size())}),
                     zeros({static_cast<int64_t>(b.size())})};
    const nn::Optimizer optimizer = nn::clip_by_global_norm(max_norm);
    nn::OptimizerState state = optimizer.init(model);
    optimizer.update(model,
                     {tensor<float>(a, {static_cast<int64_t>(a.size())}),
                      tensor<float>(b, {static_cast<int64_t>(b.size())})},
                     state);
    return concatenate({model.a, model.b}).to_vector<float>();
  };
  const auto check = [](const std::vector<float>& got, const std::vector<float>& want) {
    REQUIRE(got.size() == want.size());
    for (size_t i = 0; i < got.size(); ++i) {
      INFO(i << ": got " << got[i] << ", expected " << want[i]);
      CHECK(std::abs(got[i] - want[i]) <= 1e-6F * std::abs(want[i]));
    }
  };
  check(clipped(1, {3, 0}, {-4}), {0.6F, 0, -0.8F});
  check(clipped(1, {3e30F, 0}, {-4e30F}), {0.6F, 0, -0.8F});
  check(clipped(1, {3e38F, -3e38F}, {3e38F, 3e38F}), {0.5F, -0.5F, 0.5F, 0.5F});  // longer than f32
  check(clipped(1e-30, {3e-25F, 0}, {-4e-25F}), {0.6e-30F, 0, -0.8e-30F});
  for (const float scale : {1.0F, 1e-30F, 1e-38F, 0.0F}) {
    const std::vector<float> got = clipped(5.5, {3 * scale, 0.1F * scale}, {-4 * scale});
    CHECK(got == std::vector<float>{3 * scale, 0.1F * scale, -4 * scale});
  }
}

TEST_CASE("partitions within partitions split what is left") {
  nn::Linear model(3, 2, Key(1));
  const std::vector<float> weight = model.weight.to_vector<float>();
  const auto is_bias = [](const nn::Named& named) { return named.name == "bias"; };
  const nn::Optimizer optimizer = nn::partition(
      is_matrix, nn::scale(0), nn::partition(is_bias, nn::trace(0.5), nn::trace(0.9)));
  nn::OptimizerState state = optimizer.init(model);
  for (const std::vector<Tensor>& kept : state.slots) CHECK(kept.size() <= 1);
  const Tensor before = *model.bias;
  optimizer.update(model, {ones({2, 3}), ones({2})}, state);
  CHECK(model.weight.to_vector<float>() == weight);
  CHECK((*model.bias - before - 1).abs().max().item<float>() < 1e-6F);
}

TEST_CASE("a clip before scale_loss would see scaled gradients") {
  const nn::Optimizer scaled = nn::scale_loss(nn::sgd());
  CHECK_THROWS_WITH(nn::chain({nn::clip_by_global_norm(1), scaled}),
                    ContainsSubstring("[nn.chain] expected scale_loss around all that is chained, "
                                      "got it after clip"));
  CHECK_THROWS_WITH(nn::partition(is_matrix, nn::adamw(), scaled),
                    ContainsSubstring("[nn.others] expected scale_loss around it"));
  CHECK_THROWS_WITH(nn::partition({}, nn::adamw(), nn::sgd()),
                    ContainsSubstring("[nn.partition] expected a function"));
  CHECK_NOTHROW(nn::chain({scaled, nn::ema(0.9)}));
}

TEST_CASE("every option of an optimizer has a range") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  using Made = std::function<nn::Optimizer(double)>;
  const std::tuple<const char*, Made, std::vector<double>> rows[] = {
      {"factor in (-inf, inf)", [](double v) { return nn::scale(v); }, {}},
      {"decay in [0, 1)", [](double v) { return nn::trace(v); }, {-1, 1}},
      {"b1 in [0, 1)", [](double v) { return nn::scale_by_adam(v); }, {-1, 1}},
      {"b2 in [0, 1)", [](double v) { return nn::scale_by_adam(0.9, v); }, {-1, 1}},
      {"eps in [0, inf)", [](double v) { return nn::scale_by_adam(0.9, 0.99, v); }, {-1}},
      {"decay in [0, 1)", [](double v) { return nn::scale_by_rms(v); }, {-1, 1}},
      {"eps in [0, inf)", [](double v) { return nn::scale_by_rms(0.9, v); }, {-1}},
      {"initial_accumulator_value in [0, inf)", [](double v) { return nn::scale_by_rss(v); }, {-1}},
      {"eps in [0, inf)", [](double v) { return nn::scale_by_rss(0, v); }, {-1}},
      {"b1 in [0, 1)", [](double v) { return nn::scale_by_lion(v); }, {-1, 1}},
      {"b2 in [0, 1)", [](double v) { return nn::scale_by_lion(0.9, v); }, {-1, 1}},
      {"max_norm in (0, inf)", [](double v) { return nn::clip_by_global_norm(v); }, {-1, 0}},
      {"limit in (0, inf)", [](double v) { return nn::clip_by_value(v); }, {-1, 0}},
      {"beta2_decay in (-inf, 0)", [](double v) { return nn::scale_by_factored_rms(v); }, {0, 1}},
      {"eps in [0, inf)", [](double v) { return nn::scale_by_factored_rms(-0.8, v); }, {-1}},
      {"threshold in (0, inf)", [](double v) { return nn::clip_by_block_rms(v); }, {-1, 0}},
      {"min_scale in [0, inf)", [](double v) { return nn::scale_by_param_block_rms(v); }, {-1}},
      {"weight_decay in [0, inf)", [](double v) { return nn::add_decayed_weights(v); }, {-1}},
      {"decay in [0, 1)", [](double v) { return nn::ema(v); }, {-1, 1}},
      {"a rate in [0, inf)", [](double v) { return nn::sgd({.learning_rate = v}); }, {-1}},
      {"decay in [0, 1)", [](double v) { return nn::sgd({.momentum = v}); }, {-1, 1}},
      {"weight_decay in [0, inf)", [](double v) { return nn::sgd({.weight_decay = v}); }, {-1}},
      {"a rate in [0, inf)", [](double v) { return nn::adam({.learning_rate = v}); }, {-1}},
      {"eps in [0, inf)", [](double v) { return nn::adamw({.eps = v}); }, {-1}},
      {"weight_decay in [0, inf)", [](double v) { return nn::adamw({.weight_decay = v}); }, {-1}},
      {"eps in [0, inf)", [](double v) { return nn::rmsprop({.eps = v}); }, {-1}},
      {"decay in [0, 1)", [](double v) { return nn::rmsprop({.momentum = v}); }, {-1, 1}},
      {"eps in [0, inf)", [](double v) { return nn::adagrad({.eps = v}); }, {-1}},
      {"weight_decay in [0, inf)", [](double v) { return nn::lion({.weight_decay = v}); }, {-1}},
      {"eps in [0, inf)", [](double v) { return nn::lamb({.eps = v}); }, {-1}},
      {"decay in [0, 1)", [](double v) { return nn::muon({.momentum = v}); }, {-1, 1}},
      {"eps1 in [0, inf)", [](double v) { return nn::adafactor({.eps1 = v}); }, {-1}},
      {"eps2 in [0, inf)", [](double v) { return nn::adafactor({.eps2 = v}); }, {-1}},
      {"d in (0, inf)", [](double v) { return nn::adafactor({.d = v}); }, {-1, 0}},
      {"weight_decay in [0, inf)",
       [](double v) { return nn::adafactor({.weight_decay = v}); },
       {-1}},
      {"tolerance_grad in [0, inf)",
       [](double v) { return nn::lbfgs({.tolerance_grad = v}); },
       {-1}},
      {"tolerance_change in [0, inf)",
       [](double v) { return nn::lbfgs({.tolerance_change = v}); },
       {-1}},
      {"peak in [0, inf)",
       [](double v) { return nn::scale_by_learning_rate(nn::warmup_cosine(v, 1, 9)); },
       {-1}},
      {"end in [0, inf)",
       [](double v) { return nn::scale_by_learning_rate(nn::linear(1, v, 9)); },
       {-1}},
      {"factor in (0, inf)",
       [](double v) { return nn::scale_by_learning_rate(nn::exponential_decay(1, v, 9)); },
       {-1, 0}},
      {"a rate in [0, inf)",
       [](double v) {
         return nn::scale_by_learning_rate(nn::piecewise({1}, {v, 1}));
       },
       {-1}},
      {"peak in [0, inf)",
       [](double v) { return nn::scale_by_learning_rate(nn::inverse_sqrt(v, 9)); },
       {-1}},
  };
  for (const auto& [words, make, outside] : rows) {
    std::vector<double> all = outside;
    for (const double value : {nan, inf, -inf}) all.push_back(value);
    for (const double value : all) {
      CAPTURE(words, value);
      CHECK_THROWS_WITH(make(value), ContainsSubstring(std::string("expected ") + words + ", got"));
    }
  }
}

TEST_CASE("what takes updates for final comes last") {
  CHECK_THROWS_WITH(
      nn::chain({nn::ema(0.5), nn::sgd()}),
      ContainsSubstring("[nn.chain] expected mean as the last piece, got rate after"));
  const nn::Optimizer averaged = nn::chain({nn::sgd(), nn::ema(0.5)});
  for (const nn::Optimizer& around : {nn::multi_steps(averaged, 2), nn::scale_loss(averaged),
                                      nn::partition(is_matrix, averaged, averaged)})
    CHECK_THROWS_WITH(nn::chain({around, nn::scale(2)}), ContainsSubstring("as the last piece"));
  CHECK_NOTHROW(nn::partition(is_matrix, averaged, averaged));
}

TEST_CASE("a gradient that does not fit names its parameter and both types") {
  nn::Linear model(3, 2, Key(1));
  const nn::Optimizer optimizer = nn::sgd();
  nn::OptimizerState state = optimizer.init(model);
  CHECK_THROWS_WITH(optimizer.update(model, {ones({2, 3}), ones({3})}, state),
                    ContainsSubstring("bias: expected a gradient of floats [2], got f32[3]"));
  CHECK_THROWS_WITH(
      optimizer.update(model, {ones({2, 3}, DType::kI32), ones({2})}, state),
      ContainsSubstring("weight: expected a gradient of floats [2, 3], got i32[2, 3]"));
}

}  // namespace tenon::test
