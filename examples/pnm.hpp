// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads PGM and PPM images (P2, P3, P5, P6; up to 8 bits), writes P5 and P6. Format:
// netpbm.sourceforge.net/doc
#pragma once

#include <tenon/tenon.hpp>

#include <fstream>
#include <string>
#include <vector>

struct Image {
  int64_t width = 0, height = 0, channels = 1;
  std::vector<uint8_t> pixels;  ///< row by row, channels together
};

[[noreturn]] inline void refuse(tenon::ErrorKind kind, const std::string& path,
                                const std::string& sentence) {
  throw tenon::Error(kind, "[" + path + "] " + sentence);
}

/// The next number of the header or of a text raster; comments run from # to the end of the line.
inline int64_t read_number(std::istream& in, const std::string& path, const char* what) {
  while (in >> std::ws && in.peek() == '#') in.ignore(1 << 20, '\n');
  int64_t value = -1;
  if (!(in >> value) || value < 0) {
    refuse(tenon::ErrorKind::kInvalid, path,
           std::string("expected ") + what + ", found something else");
  }
  return value;
}

inline Image read_pnm(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) refuse(tenon::ErrorKind::kEnvironment, path, "expected a readable file");
  std::string magic(2, '\0');
  in.read(magic.data(), 2);
  const bool is_text = magic == "P2" || magic == "P3";
  if (!is_text && magic != "P5" && magic != "P6") {
    refuse(tenon::ErrorKind::kInvalid, path, "expected a PGM or PPM image (P2, P3, P5, P6)");
  }
  Image image;
  image.channels = magic == "P3" || magic == "P6" ? 3 : 1;
  image.width = read_number(in, path, "a width");
  image.height = read_number(in, path, "a height");
  const int64_t maximum = read_number(in, path, "a maximum value");
  if (image.width < 1 || image.height < 1 || image.width > 1 << 15 || image.height > 1 << 15) {
    refuse(tenon::ErrorKind::kInvalid, path,
           "expected sides of 1 to 32768 pixels, got " + std::to_string(image.width) + " x " +
               std::to_string(image.height));
  }
  if (maximum < 1 || maximum > 255) {
    refuse(tenon::ErrorKind::kInvalid, path,
           "expected a maximum value of 1 to 255, got " + std::to_string(maximum));
  }
  image.pixels.resize(static_cast<size_t>(image.width * image.height * image.channels));
  if (is_text) {
    for (uint8_t& pixel : image.pixels)
      pixel = static_cast<uint8_t>(std::min<int64_t>(read_number(in, path, "a pixel"), maximum));
  } else {
    in.get();  // the one white space after the header
    in.read(reinterpret_cast<char*>(image.pixels.data()),
            static_cast<std::streamsize>(image.pixels.size()));
    if (in.gcount() != static_cast<std::streamsize>(image.pixels.size())) {
      refuse(tenon::ErrorKind::kInvalid, path,
             "expected " + std::to_string(image.pixels.size()) + " bytes of pixels, got " +
                 std::to_string(in.gcount()));
    }
  }
  // A sample is a share of the maximum.
  for (uint8_t& pixel : image.pixels)
    pixel = static_cast<uint8_t>((std::min<int64_t>(pixel, maximum) * 255 + maximum / 2) / maximum);
  return image;
}

inline void write_pnm(const std::string& path, const Image& image) {
  std::ofstream out(path, std::ios::binary);
  out << (image.channels == 3 ? "P6" : "P5") << '\n'
      << image.width << ' ' << image.height << "\n255\n";
  out.write(reinterpret_cast<const char*>(image.pixels.data()),
            static_cast<std::streamsize>(image.pixels.size()));
  if (!out.flush()) refuse(tenon::ErrorKind::kEnvironment, path, "expected to write the file");
}
