// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An app against the installed core; its argument is the plugin to use.
#include <cstdio>
#include <cstdlib>
#include <tenon/nn/nn.hpp>
#include <tenon/tenon.hpp>

int main(int count, char** arguments) try {
  if (count != 2) return 2;
  setenv("TENON_PLUGINS", arguments[1], 1);
  setenv("TENON_DEVICES", "null", 1);
  const auto a = tenon::Tensor::from<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  const auto rows = (a * a + 1.0f).sum({1}).to_vector<float>();
  std::printf("%s: %g %g\n", a.device().c_str(), rows[0], rows[1]);
  tenon::nn::Linear layer(3, 2);
  layer.weight = tenon::Tensor::ones({2, 3});
  layer.bias = tenon::Tensor::ones({2});
  const auto sums = layer(a).to_vector<float>();
  return rows[0] == 17 && rows[1] == 80 && sums[0] == 7 && sums[3] == 16 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 3;
}
