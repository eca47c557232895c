// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Optimizers made of others: what they keep, and what they refuse.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tenon/nn/nn.hpp"
#include "tenon/tenon.hpp"

namespace tenon::test {
namespace {

using Catch::Matchers::ContainsSubstring;

bool is_matrix(const nn::Named& named) { return named.tensor->rank() == 2; }

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
  const nn::Optimizer optimizer = nn::partition(is_matrix, nn::muon(), nn::adam(0.1));
  nn::OptimizerState state = optimizer.init(model);
  CHECK(names(optimizer, model, state) ==
        std::vector<std::string>{"chosen.momentum.trace.weight", "chosen.rate.count",
                                 "others.adam.mean.bias", "others.adam.square.bias",
                                 "others.adam.count", "others.rate.count"});
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

}  // namespace tenon::test
