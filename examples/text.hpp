// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the programs that learn to write read, and show.
#pragma once

#include <tenon/tenon.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

/// Tenon's documentation as it once was: what learns from it learns the same tomorrow.
inline std::vector<uint8_t> read_text() {
  const char* path = TENON_EXAMPLE_DATA "/documentation.txt";
  std::ifstream in(path, std::ios::binary);
  std::vector<uint8_t> text{std::istreambuf_iterator<char>(in), {}};
  if (!text.empty()) return text;
  std::fprintf(stderr, "expected a text to read, there is none in %s\n", path);
  std::exit(3);
}

/// Rows of `length` bytes [rows, length], i64, from places that are drawn.
inline tenon::Tensor drawn(const tenon::Tensor& text, const tenon::Key& key, int64_t rows,
                           int64_t length) {
  const tenon::Tensor begin = tenon::randint(key, {rows, 1}, 0, text.size(0) - length);
  return text.take(0, (begin + tenon::Tensor::arange(length)).flatten())
      .reshape({rows, length})
      .cast(tenon::DType::kI64);
}

/// As a terminal shows it.
inline std::string as_text(const std::vector<int64_t>& bytes) {
  std::string out;
  for (const int64_t byte : bytes)
    out += byte == '\n' || (byte >= ' ' && byte < 127) ? static_cast<char>(byte) : '.';
  return out;
}
