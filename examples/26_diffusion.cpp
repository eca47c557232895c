// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lesson 26: digits out of noise, by a network that has learnt to say what of an image is noise
// (denoising diffusion: Ho, Jain, Abbeel, 2020).
#include <tenon/formats/image.hpp>

#include <cmath>

#include "digits.hpp"

namespace nn = tenon::nn;
using namespace tenon;

namespace {

constexpr int64_t kTimes = 100, kPixels = 64, kWidth = 192, kBatch = 128, kRows = 6;

/// How much noise each time adds, and what is left of an image after it: the paper's line of 1000
/// times from 1e-4 to 0.02 in a tenth of the times.
struct Schedule {
  Tensor beta, left;
  TENON_FIELDS(beta, left)
  Schedule() : beta(linspace(1e-3, 0.2, kTimes)), left(cumprod(1 - beta, 0)) {
    realize({beta, left});
  }
};

struct Block {
  nn::LayerNorm norm{{kWidth}};
  nn::Linear fc{kWidth, kWidth}, proj{kWidth, kWidth};
  TENON_FIELDS(norm, fc, proj)
  Tensor operator()(const Tensor& x, const Tensor& of) const {
    return x + proj(silu(fc(norm(x + of))));
  }
};

struct Denoiser {
  nn::Linear in{kPixels, kWidth}, out{kWidth, kPixels};
  nn::Embedding time{kTimes, kWidth}, digit{10, kWidth};
  std::vector<Block> blocks = std::vector<Block>(3);
  TENON_MODULE(Denoiser, in, time, digit, blocks, out)
  /// Noisy images [n, 64], times and digits [n] to their noise [n, 64].
  Tensor operator()(const Tensor& x, const Tensor& t, const Tensor& digits) const {
    const Tensor of = time(t) + digit(digits);
    Tensor h = in(x);
    for (const Block& block : blocks) h = block(h, of);
    return out(h);
  }
};

/// What a step draws: which images, their times, their noise.
formats::NamedTensors drawn(const Key& key, int64_t images) {
  const std::vector<Key> own = key.split(3);
  return {{"images", randint(own[0], {kBatch}, 0, images)},
          {"times", randint(own[1], {kBatch}, 0, kTimes)},
          {"noise", normal(own[2], {kBatch, kPixels})}};
}

/// Digits 0 to 9 beside each other, in rows: -1 to 1, [rows 8, 80].
Tensor sampled(const Denoiser& model, const Schedule& schedule, const Key& key) {
  constexpr int64_t n = kRows * 10;
  const auto step = compile(
      [](const Denoiser& m, const Schedule& of, const Tensor& x, const Tensor& t, const Key& own) {
        const Tensor beta = of.beta.take(t, 0), left = of.left.take(t, 0);
        const Tensor digits = arange(n) % 10;
        const Tensor noise = m(x, t.broadcast_to({n}), digits);
        const Tensor mean = (x - beta / (1 - left).sqrt() * noise) / (1 - beta).sqrt();
        const Tensor more = normal(own, {n, kPixels}) * beta.sqrt();
        return mean + where(t > 0, more, 0.0);
      });
  const std::vector<Key> keys = key.split(kTimes + 1);
  Tensor x = normal(keys[kTimes], {n, kPixels});
  for (int64_t t = kTimes - 1; t >= 0; --t)
    x = step(model, schedule, x, tensor<int64_t>({t}), keys[static_cast<size_t>(t)]);
  return x.reshape({kRows, 10, 8, 8}).transpose({0, 2, 1, 3}).reshape({kRows * 8, 80});
}

void print_rows(const Tensor& grid, int64_t rows) {
  const std::vector<float> pixels = grid.to_vector<float>();
  for (int64_t i = 0; i < rows * 80; ++i) {
    const float ink = std::min(std::max((pixels[static_cast<size_t>(i)] + 1) * 2.5f, 0.f), 4.f);
    std::printf("%c%s", " .:+#"[std::lround(ink)], i % 80 == 79 ? "\n" : "");
  }
}

}  // namespace

int main(int count, char** words) try {
  const Options options =
      parse_options(count, words, "Learns to make handwritten digits out of noise.", 700, true);
  const Digits known = read_digits().first;
  const Tensor images = known.images.reshape({-1, kPixels}) * 2 - 1;
  const Schedule schedule;
  const std::vector<Key> keys = Key(options.seed).split(3);
  Denoiser model(keys[0]);
  record(options, model, keys[1], [&](const Key& key) { return drawn(key, images.size(0)); });
  const auto loss = [](Denoiser& m, const std::vector<Tensor>& all, const Key& key) {
    const auto draws = drawn(key, all[0].size(0));
    const Tensor &at = draws[0].second, &t = draws[1].second, &noise = draws[2].second;
    const Tensor left = all[2].take(t, 0).expand_dims(1);
    const Tensor x = left.sqrt() * all[0].take(at, 0) + (1 - left).sqrt() * noise;
    return nn::mse_loss(m(x, t, all[1].take(at, 0)), noise);
  };
  const nn::Optimizer optimizer = nn::adamw(
      {.learning_rate = nn::warmup_cosine(3e-3, 20, std::max<int64_t>(options.steps, 21))});
  train::Result learned;
  if (options.steps > 0)
    learned = train::fit(model, optimizer, std::vector{images, known.labels, schedule.left}, loss,
                         {.steps = options.steps, .key = keys[1]});
  print(learned, options, -1);
  if (options.json && options.png.empty()) return 0;
  const Tensor grid = sampled(model, schedule, keys[2]);
  if (!options.json) print_rows(grid, 16);
  if (options.png.empty()) return 0;
  const Tensor bytes = round(clip((grid + 1) * 127.5, 0, 255)).astype(DType::kU8);
  formats::write_png(options.png,
                     nn::interpolate(bytes, {kRows * 8 * 5, int64_t{80} * 5}).to_array());
  return 0;
} catch (const Error& error) {
  std::fprintf(stderr, "26_diffusion: %s\n", error.what());
  return 3;
}
