// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lesson 21: the same digits by convolutions, with batch norm and dropout; and what a model is made
// of.
#include "digits.hpp"

namespace nn = tenon::nn;

namespace {

struct ConvNet {
  nn::Conv2d conv1{1, 16, 3, {.padding = 1}}, conv2{16, 32, 3, {.padding = 1}};
  nn::BatchNorm bn1{16}, bn2{32};
  nn::Dropout drop{0.25};
  nn::Linear fc{32 * 2 * 2, 10};
  TENON_MODULE(ConvNet, conv1, conv2, bn1, bn2, drop, fc)

  tenon::Tensor operator()(const tenon::Tensor& x, const nn::Mode& mode) {
    const tenon::Tensor a = nn::max_pool(bn1(conv1(x), mode).relu(), {2, 2});
    const tenon::Tensor b = nn::max_pool(bn2(conv2(a), mode).relu(), {2, 2});
    return fc(drop(nn::flatten(b), mode));
  }
};

}  // namespace

int main(int count, char** words) try {
  const Options options =
      parse_options(count, words, "Learns handwritten digits by convolutions.", 300);
  ConvNet model(model_key(options));
  if (!options.json) {
    for (const nn::Named& named : nn::parameters(model)) std::printf("%s ", named.name.c_str());
    std::printf("\n%lld numbers are learned\n", static_cast<long long>(nn::count(model)));
  }
  const nn::Optimizer optimizer = nn::adamw(
      {.learning_rate = nn::warmup_cosine(5e-3, 20, std::max<int64_t>(options.steps, 21))});
  learn_digits(model, optimizer, options);
  return 0;
} catch (const tenon::Error& error) {
  std::fprintf(stderr, "21_digits_conv: %s\n", error.what());
  return 3;
}
