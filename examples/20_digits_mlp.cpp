// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lesson 20: handwritten digits by a network of two layers.
#include "digits.hpp"

namespace nn = tenon::nn;

namespace {

struct Mlp {
  nn::Linear fc1{64, 64}, fc2{64, 10};
  TENON_MODULE(Mlp, fc1, fc2)
  tenon::Tensor operator()(const tenon::Tensor& x, const nn::Mode&) const {
    return fc2(fc1(nn::flatten(x)).relu());
  }
};

}  // namespace

int main(int count, char** words) try {
  const Options options =
      parse_options(count, words, "Learns handwritten digits by a network of two layers.", 300);
  learn_digits(Mlp(model_key(options)), nn::adamw({.learning_rate = 5e-3}), options);
  return 0;
} catch (const tenon::Error& error) {
  std::fprintf(stderr, "20_digits_mlp: %s\n", error.what());
  return 3;
}
