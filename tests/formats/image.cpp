// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images of another library are read, ours come back, damaged ones are refused.
#include "tenon/formats/image.hpp"

#include <zlib.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdlib>
#include <functional>
#include <random>

#include "tenon/error.hpp"
#include "tests/formats/files.hpp"

using namespace tenon;
using namespace tenon::formats;
using namespace tenon::test;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr int64_t kHeight = 13, kWidth = 19;  // as files/make_images.py has them

using Formula = std::function<int(int64_t y, int64_t x, int64_t channel)>;

int rgb(int64_t y, int64_t x, int64_t channel) {
  return static_cast<int>(channel == 0 ? x * 10 : channel == 1 ? y * 12 : x + y);
}
int grey(int64_t y, int64_t x, int64_t) { return static_cast<int>(x * 5 + y * 3); }

void holds(const Array& image, int64_t channels, const Formula& formula, int off = 0) {
  REQUIRE(image.dtype == DType::kU8);
  REQUIRE(image.shape == std::vector<int64_t>{kHeight, kWidth, channels});
  int worst = 0;
  for (int64_t y = 0; y < kHeight; ++y)
    for (int64_t x = 0; x < kWidth; ++x)
      for (int64_t c = 0; c < channels; ++c) {
        const auto place = static_cast<size_t>((y * kWidth + x) * channels + c);
        worst = std::max(worst, std::abs(image.bytes[place] - formula(y, x, c)));
      }
  CHECK(worst <= off);
}

Array decode(const std::string& bytes) {
  return decode_image(std::as_bytes(std::span(bytes)), "x.png");
}

}  // namespace

TEST_CASE("PNG images of every kind are read to the value") {
  holds(read_image(stored("rgb.png")), 3, rgb);
  holds(read_image(stored("grey.png")), 1, grey);
  holds(read_image(stored("grey16.png")), 1, grey);
  const auto alpha = [](const Formula& colour, int64_t last) {
    return [=](int64_t y, int64_t x, int64_t c) {
      return c == last ? (x > 9 ? 255 : 0) : colour(y, x, c);
    };
  };
  holds(read_image(stored("rgba.png")), 4, alpha(rgb, 3));
  holds(read_image(stored("la.png")), 2, alpha(grey, 1));
  holds(read_image(stored("palette.png")), 3, [](int64_t, int64_t x, int64_t c) {
    return x % 4 == 3 ? static_cast<int>(9 - c) : x % 4 == c ? 255 : 0;
  });
}

TEST_CASE("JPEG images are read, to what their quality leaves") {
  holds(read_image(stored("rgb.jpg")), 3, rgb, 6);
  holds(read_image(stored("progressive.jpg")), 3, rgb, 6);
  holds(read_image(stored("grey.jpg")), 1, grey, 3);
}

TEST_CASE("channels are made of those that the file has") {
  holds(read_image(stored("grey.png"), 3), 3, grey);
  holds(read_image(stored("grey.jpg"), 3), 3, grey, 3);
  CHECK(read_image(stored("rgb.jpg"), 1).shape.back() == 1);
  CHECK(read_image(stored("rgb.png"), 1).shape.back() == 1);
  holds(read_image(stored("rgb.png"), 4), 4,
        [](int64_t y, int64_t x, int64_t c) { return c == 3 ? 255 : rgb(y, x, c); });
  holds(read_image(stored("rgba.png"), 3), 3,
        [](int64_t y, int64_t x, int64_t c) { return x > 9 ? rgb(y, x, c) : 0; });
  CHECK_THROWS_WITH(read_image(stored("rgb.png"), 5), ContainsSubstring("0 to 4 channels"));
  CHECK_THROWS_WITH(read_image(stored("rgb.jpg"), 4), ContainsSubstring("has no alpha"));
}

TEST_CASE("what write_png writes is read back") {
  const Folder folder;
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{3, 5}, {1, 1, 1}, {2, 7, 2}, {5, 3, 3}, {4, 4, 4}}) {
    Array image = Array::zeros(DType::kU8, shape);
    for (size_t i = 0; i < image.bytes.size(); ++i) image.bytes[i] = static_cast<uint8_t>(i * 37);
    write_png(folder / "x.png", image);
    CHECK(read_image(folder / "x.png").bytes == image.bytes);
  }
  const auto refuses = [&](const Array& image) {
    CHECK_THROWS_WITH(write_png(folder / "new.png", image),
                      ContainsSubstring("expected u8 [height"));
  };
  refuses(Array::zeros(DType::kF32, {2, 2}));
  refuses(Array::zeros(DType::kU8, {2, 2, 5}));
  refuses(Array::zeros(DType::kU8, {2, 0}));
  refuses(Array::zeros(DType::kU8, {4}));
  CHECK(folder.files() == 1);
}

TEST_CASE("a position beyond the palette is refused") {
  const auto word = [](uint32_t value) {
    std::string bytes(4, '\0');
    for (int i = 0; i < 4; ++i)
      bytes[static_cast<size_t>(i)] = static_cast<char>(value >> (24 - 8 * i));
    return bytes;
  };
  const std::string good = bytes_of(stored("palette.png"));
  const size_t at = good.find("PLTE");
  uint32_t size = 0;
  for (size_t i = 0; i < 4; ++i) size = size << 8 | static_cast<uint8_t>(good[at - 4 + i]);
  REQUIRE(size >= 12);  // positions 0 to 3 are used
  const auto with_colours = [&](uint32_t count) {
    const std::string chunk = "PLTE" + good.substr(at + 4, size_t{3} * count);
    const uint32_t sum = static_cast<uint32_t>(crc32(
        0, reinterpret_cast<const unsigned char*>(chunk.data()), static_cast<uInt>(chunk.size())));
    return good.substr(0, at - 4) + word(3 * count) + chunk + word(sum) +
           good.substr(at + 8 + size);
  };
  CHECK(decode(with_colours(4)).bytes == decode(good).bytes);
  for (const uint32_t count : {1U, 3U})
    CHECK_THROWS_WITH(decode(with_colours(count)),
                      ContainsSubstring("expected positions in a palette of " +
                                        std::to_string(count) + " colours, got 3"));
}

TEST_CASE("sizes that lie are refused before there is memory for them") {
  std::string bytes = bytes_of(stored("rgb.png"));
  for (size_t i : {16, 20}) bytes[i] = bytes[i + 1] = 0;
  bytes.replace(16, 8, std::string("\0\x0f\0\0\0\x0f\0\0", 8));
  // libpng refuses the checksum or we the size: never a picture of 2^39 pixels
  CHECK_THROWS_AS(decode(bytes), Error);
  std::string jpeg = bytes_of(stored("rgb.jpg"));
  const size_t frame = jpeg.find("\xff\xc0");
  REQUIRE(frame != std::string::npos);
  jpeg.replace(frame + 5, 4, "\xff\xdc\xff\xdc");  // 65500 x 65500
  CHECK_THROWS_WITH(decode(jpeg), ContainsSubstring("pixels"));
}

TEST_CASE("what is no image, or not whole, is refused") {
  CHECK_THROWS_WITH(decode(""), ContainsSubstring("expected a PNG or JPEG image"));
  CHECK_THROWS_WITH(decode("GIF89a"), ContainsSubstring("expected a PNG or JPEG image"));
  CHECK_THROWS_WITH(read_image(stored("cmyk.jpg")), ContainsSubstring("printing inks"));
  for (const char* name : {"rgb.png", "palette.png", "rgb.jpg", "progressive.jpg"}) {
    const std::string good = bytes_of(stored(name));
    for (size_t size = 8; size + 20 < good.size(); size += 7) {
      INFO(name << " of " << size << " bytes");
      CHECK_THROWS_WITH(decode(good.substr(0, size)), ContainsSubstring("expected a whole"));
    }
  }
}

TEST_CASE("an image with any byte changed is read or refused") {
  std::mt19937 random(7);
  for (const char* name : {"rgb.png", "palette.png", "rgb.jpg", "progressive.jpg"}) {
    const std::string good = bytes_of(stored(name));
    for (int round = 0; round < 500; ++round) {
      std::string bytes = good;
      for (unsigned changes = 1 + random() % 3; changes-- > 0;)
        bytes[random() % bytes.size()] = static_cast<char>(random());
      try {
        decode(bytes);
      } catch (const Error& error) {
        CHECK(error.kind() == ErrorKind::kInvalid);
      }
    }
  }
}
