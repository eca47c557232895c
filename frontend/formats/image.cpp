// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/formats/image.hpp"

#include <fmt/ranges.h>
#include <png.h>
#include <turbojpeg.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "core/support/error.hpp"
#include "frontend/formats/host_array.hpp"
#include "tenon/file_io.hpp"

namespace tenon::formats {
namespace {

constexpr std::string_view kPngMagic = "\x89PNG\r\n\x1a\n", kJpegMagic = "\xff\xd8\xff";
constexpr png_uint_32 kPngFormats[] = {0, PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB,
                                       PNG_FORMAT_RGBA};

[[noreturn]] void damaged(const std::string& origin, const char* kind, const char* why) {
  fail(ErrorKind::kInvalid, "{}: expected a whole {} image, got: {}", origin, kind, why);
}

Array pixels(const std::string& origin, int64_t height, int64_t width, int channels) {
  TN_REQUIRE(height > 0 && width > 0 && height <= kMostPixels / width,
             "{}: expected an image of at most {} pixels, got {} x {}", origin, kMostPixels, width,
             height);
  return host_array(origin, DType::kU8, {height, width, channels});
}

/// libpng keeps its errors as text in this.
struct PngImage : png_image {
  PngImage() : png_image{} { version = PNG_IMAGE_VERSION; }
  ~PngImage() { png_image_free(this); }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;
};

/// libpng gives a position beyond the palette some colour.
void check_palette(std::span<const std::byte> bytes, const std::string& origin) {
  PngImage image;
  if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) == 0)
    damaged(origin, "PNG", image.message);
  image.format = PNG_FORMAT_RGBA_COLORMAP;
  std::vector<uint8_t> places(PNG_IMAGE_SIZE(image)), colours(size_t{4} * 256);
  if (png_image_finish_read(&image, nullptr, places.data(), 0, colours.data()) == 0)
    damaged(origin, "PNG", image.message);
  const uint8_t last = *std::ranges::max_element(places);
  TN_REQUIRE(last < image.colormap_entries,
             "{}: expected positions in a palette of {} colours, got {}", origin,
             image.colormap_entries, last);
}

Array decode_png(std::span<const std::byte> bytes, const std::string& origin, int channels) {
  PngImage image;
  if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) == 0)
    damaged(origin, "PNG", image.message);
  const png_uint_32 own = image.format & (PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA);
  const bool has_palette = (image.format & PNG_FORMAT_FLAG_COLORMAP) != 0;
  image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;  // as other readers, where the file does not say
  image.format = channels == 0 ? own : kPngFormats[channels];
  Array array = pixels(origin, image.height, image.width,
                       static_cast<int>(PNG_IMAGE_SAMPLE_CHANNELS(image.format)));
  if (png_image_finish_read(&image, nullptr, array.bytes.data(), 0, nullptr) == 0)
    damaged(origin, "PNG", image.message);
  if (has_palette) check_palette(bytes, origin);
  return array;
}

Array decode_jpeg(std::span<const std::byte> bytes, const std::string& origin, int channels) {
  const std::unique_ptr<void, decltype(&tjDestroy)> decoder(tjInitDecompress(), tjDestroy);
  if (!decoder) fail(ErrorKind::kOutOfMemory, "{}: expected memory to decode it, got none", origin);
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  int width = 0, height = 0, sampling = 0, colours = 0;
  if (tjDecompressHeader3(decoder.get(), data, bytes.size(), &width, &height, &sampling,
                          &colours) != 0)
    damaged(origin, "JPEG", tjGetErrorStr2(decoder.get()));
  if (width <= 0 || height <= 0) damaged(origin, "JPEG", "no size");
  if (channels == 0) channels = colours == TJCS_GRAY ? 1 : 3;
  TN_REQUIRE(channels == 1 || channels == 3,
             "{}: expected 1 or 3 channels of a JPEG image, which has no alpha, got {}", origin,
             channels);
  TN_REQUIRE(colours != TJCS_CMYK && colours != TJCS_YCCK,
             "{}: expected a grey or red-green-blue JPEG image, got one of printing inks", origin);
  Array array = pixels(origin, height, width, channels);
  const int format = channels == 1 ? TJPF_GRAY : TJPF_RGB;
  if (tjDecompress2(decoder.get(), data, bytes.size(), array.bytes.data(), width, 0, height, format,
                    TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS | TJFLAG_ACCURATEDCT) != 0)
    damaged(origin, "JPEG", tjGetErrorStr2(decoder.get()));
  return array;
}

}  // namespace

Array decode_image(std::span<const std::byte> bytes, const std::string& origin, int channels) {
  TN_REQUIRE(0 <= channels && channels <= 4, "{}: expected 0 to 4 channels, got {}", origin,
             channels);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with(kPngMagic)) return decode_png(bytes, origin, channels);
  TN_REQUIRE(text.starts_with(kJpegMagic), "{}: expected a PNG or JPEG image, got another file",
             origin);
  return decode_jpeg(bytes, origin, channels);
}

Array read_image(const std::string& path, int channels) {
  const std::string text = read_file(path);
  return decode_image(std::as_bytes(std::span(text)), path, channels);
}

void write_png(const std::string& path, const Array& image) {
  check_array("write_png", path, image);
  const std::vector<int64_t>& shape = image.shape;
  const int64_t channels = shape.size() == 3 ? shape[2] : 1;
  TN_REQUIRE(image.dtype == DType::kU8 && (shape.size() == 2 || shape.size() == 3) &&
                 1 <= channels && channels <= 4 && !image.bytes.empty() &&
                 shape[0] <= kMostPixels / shape[1],
             "[write_png] {}: expected u8 [height, width] or [height, width, 1 to 4] of 1 to {} "
             "pixels, got {} [{}]",
             path, kMostPixels, dtype_name(image.dtype), fmt::join(shape, ", "));
  PngImage png;
  png.height = static_cast<png_uint_32>(shape[0]);
  png.width = static_cast<png_uint_32>(shape[1]);
  png.format = kPngFormats[channels];
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
  std::string bytes(size, '\0');
  if (png_image_write_to_memory(&png, bytes.data(), &size, 0, image.bytes.data(), 0, nullptr) == 0)
    fail(ErrorKind::kInternal, "[write_png] {}: expected to encode it, got: {}", path, png.message);
  write_file(path, std::string_view(bytes).substr(0, size));
}

}  // namespace tenon::formats
