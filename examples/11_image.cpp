// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An image pipeline on tensors: blur, Sobel edges, histogram equalisation.
//   ./example_11_image IMAGE.ppm FOLDER      writes blur.pgm, edges.pgm and equalised.ppm (or .pgm)
//   there
#include <tenon/tenon.hpp>

#include <cstdio>
#include <filesystem>

#include "pnm.hpp"

using namespace tenon;

namespace {

/// The image moved by (dy, dx), its border pixels repeated.
Tensor shifted(const Tensor& image, int64_t dy, int64_t dx) {
  const int64_t height = image.size(0), width = image.size(1);
  const auto clamped = [](int64_t size, int64_t by) {
    return (arange(size) + by).maximum(0).minimum(size - 1);
  };
  return image.take(clamped(height, dy), 0).take(clamped(width, dx), 1);
}

/// Gaussian of five taps, 1 4 6 4 1, along both axes.
Tensor blurred(const Tensor& image) {
  constexpr float kTaps[5] = {1, 4, 6, 4, 1};
  Tensor rows = zeros(image.shape());
  for (int64_t i = 0; i < 5; ++i) rows = rows + shifted(image, i - 2, 0) * (kTaps[i] / 16);
  Tensor both = zeros(image.shape());
  for (int64_t i = 0; i < 5; ++i) both = both + shifted(rows, 0, i - 2) * (kTaps[i] / 16);
  return both;
}

/// Length of the gradient by Sobel's operator.
Tensor edges(const Tensor& image) {
  const auto smooth = [&](int64_t dy, int64_t dx) {  // 1 2 1 across the direction of the difference
    return shifted(image, dy - dx, dx - dy) + shifted(image, dy, dx) * 2.0f +
           shifted(image, dy + dx, dx + dy);
  };
  const Tensor dx = smooth(0, 1) - smooth(0, -1);
  const Tensor dy = smooth(1, 0) - smooth(-1, 0);
  return (dx.square() + dy.square()).sqrt();
}

/// Maps grey levels so that each is about equally common: level -> share of pixels at or below it.
Tensor equalised(const Tensor& bytes) {
  const int64_t count = bytes.size();
  const Tensor levels = bytes.ravel().astype(DType::kI64);
  const Tensor histogram = zeros({256}).scatter_add(0, levels, ones({count}));
  const Tensor share = histogram.cumsum(0) * (255.0f / static_cast<float>(count));
  return share.gather(0, levels).reshape(bytes.shape());
}

Tensor to_bytes(const Tensor& image) {
  return (image.maximum(Tensor(0)).minimum(Tensor(255)) + 0.5f).astype(DType::kU8);
}

void save(const std::string& path, const Tensor& image) {
  Image out{image.size(1), image.size(0), image.rank() == 3 ? image.size(2) : 1,
            to_bytes(image).to_vector<uint8_t>()};
  write_pnm(path, out);
  std::printf("wrote %s (%d x %d)\n", path.c_str(), static_cast<int>(out.width),
              static_cast<int>(out.height));
}

int run(const std::string& path, const std::filesystem::path& folder) {
  const Image image = read_pnm(path);
  const Tensor bytes = tensor<uint8_t>(std::span<const uint8_t>(image.pixels),
                                       {image.height, image.width, image.channels});
  const Tensor color = bytes.astype(DType::kF32);
  // Luma of ITU-R BT.601
  const Tensor grey = image.channels == 1 ? color.squeeze(2)
                                          : color.take(0, 2) * 0.299f + color.take(1, 2) * 0.587f +
                                                color.take(2, 2) * 0.114f;
  std::filesystem::create_directories(folder);
  save((folder / "blur.pgm").string(), blurred(grey));
  save((folder / "edges.pgm").string(), edges(grey));
  // Colours keep their ratios: each channel is scaled as the luma is.
  const Tensor level = to_bytes(grey);
  const Tensor gain = equalised(level) / grey.maximum(Tensor(1));
  save((folder / (image.channels == 3 ? "equalised.ppm" : "equalised.pgm")).string(),
       image.channels == 3 ? color * gain.expand_dims(2) : equalised(level));
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::fprintf(stderr,
                 "usage: 11_image IMAGE FOLDER   (expected a PGM or PPM image and a folder for the "
                 "results)\n");
    return 2;
  }
  return run(argv[1], argv[2]);
} catch (const Error& error) {
  std::fprintf(stderr, "11_image: %s\n", error.what());
  return error.kind() == ErrorKind::kInvalid ? 2 : 3;
} catch (const std::exception& error) {  // of folders, and of no memory
  std::fprintf(stderr, "11_image: %s\n", error.what());
  return 3;
}
