// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the programs that learn to write read, and show.
#pragma once

#include <tenon/tenon.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

struct Text {
  tenon::Tensor learned, held_out;  ///< u8 [bytes]
};

/// Tenon's documentation and public headers as they once were, each file whole, in the order of the
/// SHA-256 digests of their paths. The last twentieth is held out.
inline Text read_text() {
  const char* path = TENON_EXAMPLE_DATA "/tenon.txt";
  std::ifstream in(path, std::ios::binary);
  const std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(in), {}};
  if (bytes.empty()) {
    std::fprintf(stderr, "expected a text to read, there is none in %s\n", path);
    std::exit(3);
  }
  const auto count = static_cast<int64_t>(bytes.size());
  const auto text = tenon::Tensor::from<uint8_t>(bytes, {count});
  const int64_t cut = count - count / 20;
  return {contiguous(text.slice({tenon::Slice{0, cut}})),
          contiguous(text.slice({tenon::Slice{cut, count}}))};
}

/// Rows of `length` bytes [rows, length], i64, that begin at the places [rows, 1].
inline tenon::Tensor rows_at(const tenon::Tensor& text, const tenon::Tensor& begin,
                             int64_t length) {
  return text.take(0, (begin + tenon::Tensor::arange(length)).flatten())
      .reshape({begin.size(0), length})
      .cast(tenon::DType::kI64);
}

/// From places that are drawn.
inline tenon::Tensor drawn(const tenon::Tensor& text, const tenon::Key& key, int64_t rows,
                           int64_t length) {
  return rows_at(text, tenon::randint(key, {rows, 1}, 0, text.size(0) - length), length);
}

/// As a terminal shows it.
inline std::string as_text(const std::vector<int64_t>& bytes) {
  std::string out;
  for (const int64_t byte : bytes)
    out += byte == '\n' || (byte >= ' ' && byte < 127) ? static_cast<char>(byte) : '.';
  return out;
}

/// Bits that a byte of a text takes: the mean of loss(model, rows) over rows of `length` bytes from
/// its begin on, `count` at a time; the last byte of a row is the first of the next.
template <class Model, class Loss>
double bits_a_byte(const Model& model, const tenon::Tensor& text, int64_t count, int64_t length,
                   const Loss& loss) {
  const auto bits = tenon::compile([&](Model m, tenon::Tensor all, tenon::Tensor first) {
    const tenon::Tensor begin = (first + tenon::Tensor::arange(count)).unsqueeze(1) * (length - 1);
    return loss(m, rows_at(all, begin, length)) / std::log(2.0);
  });
  const int64_t batches = (text.size(0) - 1) / (count * (length - 1));
  double sum = 0;
  for (int64_t i = 0; i < batches; ++i)
    sum += bits(model, text, tenon::Tensor::from<int64_t>({i * count}, {1})).template item<float>();
  return sum / static_cast<double>(batches);
}
