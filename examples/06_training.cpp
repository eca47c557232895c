// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lesson 6: a network that learns. A step of training is a function of weights, moments, a batch,
// the rate and a random key; `compile` traces it once, and each call writes the new weights over
// the old ones. The network learns which of two spirals a point lies on.
#include <tenon/tenon.hpp>

#include <cmath>
#include <cstdio>
#include <numbers>

using namespace tenon;

namespace {

struct Network {
  std::vector<Tensor> weights;
  auto fields() { return std::tie(weights); }
};

struct State {
  Network network, mean, square;  // Adam's two moments (Kingma and Ba, 2014) have the same fields
  auto fields() { return std::tie(network, mean, square); }
};

Tensor logits(const std::vector<Tensor>& w, const Tensor& x) {
  const Tensor a = (x.matmul(w[0]) + w[1]).tanh();
  const Tensor b = (a.matmul(w[2]) + w[3]).tanh();
  return b.matmul(w[4]) + w[5];
}

std::pair<State, Tensor> step(State s, const Tensor& x, const Tensor& side, const Tensor& rate,
                              const Tensor& number) {
  const auto [loss, g] = value_and_grad([&](const std::vector<Tensor>& w) {
    // -log sigmoid(+-z), which stays finite for every z
    return softplus(-logits(w, x) * side).mean();
  })(s.network.weights);
  for (size_t i = 0; i < g.size(); ++i) {
    Tensor &w = s.network.weights[i], &m = s.mean.weights[i], &v = s.square.weights[i];
    m = m * 0.9 + g[i] * 0.1;
    v = v * 0.99 + g[i].square() * 0.01;
    w = w - rate * (m / (1 - pow(0.9, number))) / ((v / (1 - pow(0.99, number))).sqrt() + 1e-8);
  }
  return {s, loss};
}

}  // namespace

int main() try {
  const int64_t points = 128;
  const std::vector<Key> keys = Key(7).split(3);
  const Tensor side = (arange(points) % 2 * 2 - 1).astype(DType::kF32).expand_dims(1);
  const Tensor turn = uniform(keys[0], {points, 1}, 0.5, 2.5);
  const Tensor angle = turn * std::numbers::pi;
  const Tensor x = concatenate({turn * angle.cos() * side, turn * angle.sin() * side}, 1);

  State state;
  const std::vector<int64_t> sizes{2, 32, 32, 1};
  const std::vector<Key> layers = keys[1].split(3);
  for (size_t l = 0; l < 3; ++l) {
    const double scale = 1 / std::sqrt(static_cast<double>(sizes[l]));
    state.network.weights.push_back(normal(layers[l], {sizes[l], sizes[l + 1]}, 0.0, scale));
    state.network.weights.push_back(zeros({sizes[l + 1]}));
  }
  for (const Tensor& w : state.network.weights) {
    state.mean.weights.push_back(zeros(w.shape()));
    state.square.weights.push_back(zeros(w.shape()));
  }

  const auto train = compile(step, {.name = "train", .donate = {0}});
  Tensor loss = 0;
  for (int i = 1; i <= 240; ++i) {
    const double rate = 0.02 * (1 - i / 300.0);
    std::tie(state, loss) = train(state, x, side, rate, i);
    if (i % 80 == 0) std::printf("step %d: loss %.4f\n", i, loss.item<float>());
  }
  const float right =
      (logits(state.network.weights, x) * side > 0).astype(DType::kF32).mean().item<float>();
  std::printf("%.1f%% of the points are on the right side, after %zu trace\n", 100 * right,
              train.traces());
  return right > 0.97f && train.traces() == 1 ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "06_training: %s\n", error.what());
  return 3;
}
