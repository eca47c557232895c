// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the programs that learn to write read, and show.
#pragma once

#include <tenon/tenon.hpp>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

/// A number below 100 in words: "forty-two".
inline std::string in_words(unsigned number) {
  static constexpr const char* kSmall[] = {
      "zero",     "one",     "two",     "three",     "four",     "five",    "six",
      "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen",
      "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
  static constexpr const char* kTens[] = {"twenty", "thirty",  "forty",  "fifty",
                                          "sixty",  "seventy", "eighty", "ninety"};
  if (number < 20) return kSmall[number];
  const std::string tens = kTens[number / 10 - 2];
  return number % 10 == 0 ? tens : tens + "-" + kSmall[number % 10];
}

struct Text {
  tenon::Tensor learned, held_out;  ///< u8 [bytes]
};

/// Counting in words, a line each: "seven, ten, thirteen, sixteen, nineteen, twenty-two." Spelling
/// is learned first, then the order of numbers, then that a line goes on by the step that it began
/// with, of up to nine upwards or downwards. About a twentieth of the lines that there can be is
/// held out and never learned from.
inline Text make_text() {
  constexpr int kLines = 12000, kNumbers = 6;
  std::minstd_rand random(1);  // the standard says its sequence
  std::vector<uint8_t> learned, held_out;
  for (int line = 0; line < kLines; ++line) {
    const bool rises = random() % 2 == 0;
    const unsigned step = random() % 9 + 1, way = (kNumbers - 1) * step;
    const unsigned least = random() % (100 - way);
    std::vector<uint8_t>& text = (least + step) % 20 == 0 ? held_out : learned;
    for (unsigned i = 0; i < kNumbers; ++i) {
      const std::string word = in_words(rises ? least + i * step : least + way - i * step);
      text.insert(text.end(), word.begin(), word.end());
      for (const char c : {i + 1 < kNumbers ? ',' : '.', i + 1 < kNumbers ? ' ' : '\n'})
        text.push_back(static_cast<uint8_t>(c));
    }
  }
  const auto bytes = [](const std::vector<uint8_t>& text) {
    return tenon::tensor(text, {static_cast<int64_t>(text.size())});
  };
  return {bytes(learned), bytes(held_out)};
}

/// Rows of `length` bytes [rows, length], i64, that begin at the places [rows, 1].
inline tenon::Tensor rows_at(const tenon::Tensor& text, const tenon::Tensor& begin,
                             int64_t length) {
  return text.take((begin + tenon::arange(length)).ravel(), 0)
      .reshape({begin.size(0), length})
      .astype(tenon::DType::kI64);
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
    const tenon::Tensor begin = (first + tenon::arange(count)).expand_dims(1) * (length - 1);
    return loss(m, rows_at(all, begin, length)) / std::log(2.0);
  });
  const int64_t batches = (text.size(0) - 1) / (count * (length - 1));
  double sum = 0;
  for (int64_t i = 0; i < batches; ++i)
    sum += bits(model, text, tenon::tensor<int64_t>({i * count})).template item<float>();
  return sum / static_cast<double>(batches);
}
