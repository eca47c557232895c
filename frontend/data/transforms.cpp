// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/data/transforms.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "core/support/error.hpp"
#include "frontend/data/whole.hpp"

namespace tenon::data {
namespace {

Array& image_of(const char* op, Example& example) {
  TN_REQUIRE(!example.empty(), "[{}] expected an example with an image, got an empty one", op);
  Array& image = example[0];
  TN_REQUIRE(image.dtype == DType::kU8 && image.shape.size() == 3 && is_whole(image),
             "[{}] expected an image, u8 [height, width, channels], got {} [{}] of {} bytes", op,
             dtype_name(image.dtype), fmt::join(image.shape, ", "), image.bytes.size());
  return image;
}

void require_size(const char* op, int64_t height, int64_t width) {
  TN_REQUIRE(height > 0 && width > 0, "[{}] expected a size above 0, got [{}, {}]", op, height,
             width);
}

/// `height` x `width` pixels from (top, left) on; what is outside of the image is zero.
Array window(const Array& image, int64_t top, int64_t left, int64_t height, int64_t width) {
  const int64_t channels = image.shape[2];
  Array out = Array::zeros(DType::kU8, {height, width, channels});
  const int64_t first = std::max<int64_t>(0, -left);
  const int64_t last = std::min(width, image.shape[1] - left);
  for (int64_t y = 0; y < height; ++y) {
    if (y + top < 0 || y + top >= image.shape[0] || first >= last) continue;
    const auto* from = image.bytes.data() + ((y + top) * image.shape[1] + left + first) * channels;
    std::memcpy(out.bytes.data() + (y * width + first) * channels, from,
                static_cast<size_t>((last - first) * channels));
  }
  return out;
}

void require_room(const char* op, const Array& image, int64_t height, int64_t width,
                  int64_t padding) {
  TN_REQUIRE(image.shape[0] + 2 * padding >= height && image.shape[1] + 2 * padding >= width,
             "[{}] expected an image of at least {} x {} with {} around it, got {} x {}", op,
             height, width, padding, image.shape[0], image.shape[1]);
}

float of_channel(const std::vector<float>& values, int64_t channel) {
  return values[values.size() == 1 ? 0 : static_cast<size_t>(channel)];
}

}  // namespace

Transform chain(std::vector<Transform> transforms) {
  return [transforms = std::move(transforms)](Example& example, Draws& draws) {
    for (const Transform& transform : transforms) transform(example, draws);
  };
}

Transform crop(int64_t height, int64_t width) {
  require_size("crop", height, width);
  return [=](Example& example, Draws&) {
    Array& image = image_of("crop", example);
    require_room("crop", image, height, width, 0);
    image =
        window(image, (image.shape[0] - height) / 2, (image.shape[1] - width) / 2, height, width);
  };
}

Transform random_crop(int64_t height, int64_t width, int64_t padding) {
  require_size("random_crop", height, width);
  TN_REQUIRE(0 <= padding && padding < int64_t{1} << 31,
             "[random_crop] expected a padding of at least 0 and below 2^31, got {}", padding);
  return [=](Example& example, Draws& draws) {
    Array& image = image_of("random_crop", example);
    require_room("random_crop", image, height, width, padding);
    const int64_t top = draws.below(image.shape[0] + 2 * padding - height + 1) - padding;
    const int64_t left = draws.below(image.shape[1] + 2 * padding - width + 1) - padding;
    image = window(image, top, left, height, width);
  };
}

Transform random_flip(double p) {
  TN_REQUIRE(0 <= p && p <= 1, "[random_flip] expected a chance in [0, 1], got {}", p);
  return [=](Example& example, Draws& draws) {
    Array& image = image_of("random_flip", example);
    if (draws.uniform() >= p || image.bytes.empty()) return;
    const int64_t width = image.shape[1], channels = image.shape[2];
    for (int64_t y = 0; y < image.shape[0]; ++y) {
      uint8_t* row = image.bytes.data() + y * width * channels;
      for (int64_t x = 0; x < width / 2; ++x)
        std::swap_ranges(row + x * channels, row + (x + 1) * channels,
                         row + (width - 1 - x) * channels);
    }
  };
}

Transform normalise(std::vector<float> mean, std::vector<float> deviation) {
  TN_REQUIRE(!mean.empty() && mean.size() == deviation.size(),
             "[normalise] expected as many means as deviations, got {} and {}", mean.size(),
             deviation.size());
  TN_REQUIRE(std::ranges::count(deviation, 0.0F) == 0,
             "[normalise] expected deviations other than 0, got [{}]", fmt::join(deviation, ", "));
  return [mean = std::move(mean), deviation = std::move(deviation)](Example& example, Draws&) {
    Array& image = image_of("normalise", example);
    const int64_t height = image.shape[0], width = image.shape[1], channels = image.shape[2];
    TN_REQUIRE(mean.size() == 1 || static_cast<int64_t>(mean.size()) == channels,
               "[normalise] expected an image of {} channels, got {}", mean.size(), channels);
    Array out = Array::zeros(DType::kF32, {channels, height, width});
    uint8_t* to = out.bytes.data();
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t i = c; i < height * width * channels; i += channels) {
        const float x = static_cast<float>(image.bytes[static_cast<size_t>(i)]) / 255;
        const float value = (x - of_channel(mean, c)) / of_channel(deviation, c);
        std::memcpy(to, &value, sizeof value);
        to += sizeof value;
      }
    image = std::move(out);
  };
}

}  // namespace tenon::data
