// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lesson 24: digits as sequences of patches, read by a vision transformer (Dosovitskiy et al.,
// 2021).
#include "digits.hpp"

namespace nn = tenon::nn;
using namespace tenon;

namespace {

constexpr int64_t kWidth = 48, kHeads = 4, kPatch = 2, kPatches = (8 / kPatch) * (8 / kPatch);

struct Block {
  nn::LayerNorm ln_1{{kWidth}}, ln_2{{kWidth}};
  nn::MultiHeadAttention attn{kWidth, kHeads};
  nn::Linear fc{kWidth, 2 * kWidth}, proj{2 * kWidth, kWidth};
  TENON_FIELDS(ln_1, ln_2, attn, fc, proj)
  Tensor operator()(const Tensor& x) const {
    const Tensor h = x + attn(ln_1(x));
    return h + proj(fc(ln_2(h)).gelu());
  }
};

struct Vit {
  nn::Conv2d patches{1, kWidth, kPatch, {.stride = kPatch}};
  nn::Parameter cls{{1, 1, kWidth}, nn::normal(0, 0.5)};
  nn::Parameter positions{{kPatches + 1, kWidth}, nn::normal(0, 0.5)};
  std::vector<Block> blocks = std::vector<Block>(2);
  nn::LayerNorm norm{{kWidth}};
  nn::Linear head{kWidth, 10};
  TENON_MODULE(Vit, cls, positions, patches, blocks, norm, head)

  /// Images [n, 1, 8, 8] to logits [n, 10], which are read off a token that stands first.
  Tensor operator()(const Tensor& x, const nn::Mode&) const {
    const int64_t n = x.size(0);
    const Tensor seen = patches(x).reshape({n, kWidth, kPatches}).matrix_transpose();
    Tensor tokens = concatenate({cls.broadcast_to({n, 1, kWidth}), seen}, 1) + positions;
    for (const Block& block : blocks) tokens = block(tokens);
    return head(norm(tokens.take(0, 1)));
  }
};

}  // namespace

int main(int count, char** words) try {
  const Options options =
      parse_options(count, words, "Learns handwritten digits by a vision transformer.", 200);
  const nn::Optimizer optimizer = nn::adamw(
      {.learning_rate = nn::warmup_cosine(3e-3, 20, std::max<int64_t>(options.steps, 21))});
  learn_digits(Vit(model_key(options)), optimizer, options);
  return 0;
} catch (const Error& error) {
  std::fprintf(stderr, "24_vit: %s\n", error.what());
  return 3;
}
