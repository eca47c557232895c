// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An app against the installed libraries; its argument is the plugin to use. It learns y = 2 x.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <tenon/data/loader.hpp>
#include <tenon/formats/safetensors.hpp>
#include <tenon/nn/nn.hpp>
#include <tenon/tenon.hpp>
#include <tenon/train/train.hpp>

using namespace tenon;

int main(int count, char** arguments) try {
  if (count != 2) return 2;
  setenv("TENON_PLUGINS", arguments[1], 1);
  setenv("TENON_DEVICES", "null", 1);
  const auto a = tensor<float>({{1, 2, 3}, {4, 5, 6}});
  const auto rows = (a * a + 1.0f).sum(1).to_vector<float>();
  std::printf("%s: %g %g\n", a.device().c_str(), rows[0], rows[1]);

  tenon::nn::Linear layer(1, 1, {.bias = false});
  layer.weight = ones({1, 1});
  const auto x = tensor<float>({{1}, {2}, {3}, {4}});
  tenon::data::Loader loader(tenon::data::from_tensors({x, x * 2}), {.batch = 2, .threads = 1});
  const auto loss = [](tenon::nn::Linear& m, const std::vector<Tensor>& batch) {
    return tenon::nn::mse_loss(m(batch[0]), batch[1]);
  };
  tenon::train::fit(layer, tenon::nn::sgd({.learning_rate = 0.05}), loader, loss, {.steps = 40});

  tenon::formats::write_safetensors("layer.safetensors",
                                    tenon::formats::NamedTensors{{"weight", layer.weight}});
  const auto read = tenon::formats::read_safetensors("layer.safetensors");
  const float weight = read.tensors.at(0).second.item<float>();
  std::printf("%g\n", static_cast<double>(weight));
  return rows[0] == 17 && rows[1] == 80 && std::abs(weight - 2) < 1e-3f ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 3;
}
