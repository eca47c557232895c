// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the programs that learn to write read, and show.
#pragma once

#include <tenon/tenon.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

/// All of docs/, in the order of the names of its files.
inline std::vector<uint8_t> read_text() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(TENON_EXAMPLE_DATA "/../../docs"))
    if (entry.path().extension() == ".md") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<uint8_t> text;
  for (const auto& path : paths) {
    std::ifstream in(path, std::ios::binary);
    text.insert(text.end(), std::istreambuf_iterator<char>(in), {});
  }
  return text;
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
