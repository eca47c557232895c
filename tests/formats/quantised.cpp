// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks of few bits mean what ggml's loops say, alone and in products; bytes that are cut off are
// refused.
#include "tenon/formats/quantised.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <random>

#include "core/ir/narrow_float.hpp"
#include "tenon/error.hpp"
#include "tenon/literal.hpp"
#include "tenon/make.hpp"
#include "tenon/random.hpp"
#include "tests/tensor/devices.hpp"

using namespace tenon;
using namespace tenon::formats;
using namespace tenon::test;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr BlockFormat kFormats[] = {BlockFormat::kQ8_0, BlockFormat::kQ4_0, BlockFormat::kQ4_1};

/// Random blocks, their binary16 numbers between 2^-10 and 2^-5 in size, of either sign.
std::vector<uint8_t> random_blocks(BlockFormat format, int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  const int64_t bytes = block_bytes(format);
  const int64_t halves = format == BlockFormat::kQ4_1 ? 2 : 1;
  std::vector<uint8_t> out(static_cast<size_t>(count * bytes));
  for (uint8_t& byte : out) byte = static_cast<uint8_t>(random());
  for (int64_t b = 0; b < count; ++b)
    for (int64_t h = 0; h < halves; ++h)
      out[static_cast<size_t>(b * bytes + 2 * h + 1)] =
          static_cast<uint8_t>(0x14 + random() % 0x14 + (random() & 0x80));
  return out;
}

float half_at(const uint8_t* bytes) {
  const auto bits = static_cast<uint64_t>(bytes[0] + 256 * bytes[1]);
  return static_cast<float>(narrow_to_double(bits, DType::kF16));
}

/// As ggml's dequantize_row_q8_0, dequantize_row_q4_0 and dequantize_row_q4_1.
std::vector<float> by_loops(BlockFormat format, const std::vector<uint8_t>& blocks) {
  const auto bytes = static_cast<size_t>(block_bytes(format));
  std::vector<float> out(blocks.size() / bytes * 32);
  for (size_t b = 0; b < blocks.size() / bytes; ++b) {
    const uint8_t* block = &blocks[b * bytes];
    float* y = &out[b * 32];
    const float d = half_at(block);
    const float m = format == BlockFormat::kQ4_1 ? half_at(block + 2) : 0;
    for (size_t j = 0; j < 16; ++j) {
      if (format == BlockFormat::kQ8_0) {
        y[j] = static_cast<float>(static_cast<int8_t>(block[2 + j])) * d;
        y[j + 16] = static_cast<float>(static_cast<int8_t>(block[18 + j])) * d;
        continue;
      }
      const uint8_t pair = block[(format == BlockFormat::kQ4_1 ? 4 : 2) + j];
      const int low = pair & 15, high = pair >> 4;
      const int middle = format == BlockFormat::kQ4_0 ? 8 : 0;
      y[j] = static_cast<float>(low - middle) * d + m;
      y[j + 16] = static_cast<float>(high - middle) * d + m;
    }
  }
  return out;
}

Tensor tensor_of(const std::vector<uint8_t>& bytes, Context& context) {
  return tensor<uint8_t>(bytes, {static_cast<int64_t>(bytes.size())}, context);
}

}  // namespace

TEST_CASE("blocks are what ggml's loops make of them, bit for bit") {
  on_each_device([](Context& context) {
    for (const BlockFormat format : kFormats) {
      const std::vector<uint8_t> blocks = random_blocks(format, 21, 5);
      const Tensor y = dequantise(tensor_of(blocks, context), format, {7, 96});
      CHECK(y.shape() == std::vector<int64_t>{7, 96});
      CHECK(y.to_vector<float>() == by_loops(format, blocks));
    }
  });
}

TEST_CASE("products with blocks are those with the numbers that they stand for") {
  constexpr int64_t kColumns = 37, kTerms = 160;
  on_each_device([](Context& context) {
    for (const BlockFormat format : kFormats) {
      const std::vector<uint8_t> blocks = random_blocks(format, kColumns * kTerms / 32, 7);
      const std::vector<float> weights = by_loops(format, blocks);
      const Tensor w = dequantise(tensor_of(blocks, context), format, {kColumns, kTerms});
      for (const int64_t rows : {1, 5, 16, 70}) {
        const Tensor x = normal(Key(3, context), {rows, kTerms});
        const std::vector<float> factors = x.to_vector<float>();
        const std::vector<float> y = x.matmul(w.matrix_transpose()).to_vector<float>();
        double worst = 0;
        for (int64_t i = 0; i < rows * kColumns; ++i) {
          double sum = 0, size = 0;
          for (int64_t k = 0; k < kTerms; ++k) {
            const double term =
                static_cast<double>(factors[static_cast<size_t>(i / kColumns * kTerms + k)]) *
                static_cast<double>(weights[static_cast<size_t>(i % kColumns * kTerms + k)]);
            sum += term;
            size += std::abs(term);
          }
          worst = std::max(worst,
                           std::abs(static_cast<double>(y[static_cast<size_t>(i)]) - sum) / size);
        }
        INFO("format " << static_cast<int>(format) << ", " << rows << " rows");
        CHECK(worst < 1e-5);
      }
    }
  });
}

TEST_CASE("rows of a table in blocks are taken without the others") {
  on_each_device([](Context& context) {
    const std::vector<uint8_t> blocks = random_blocks(BlockFormat::kQ8_0, 12, 9);
    const std::vector<float> all = by_loops(BlockFormat::kQ8_0, blocks);
    const Tensor table = dequantise(tensor_of(blocks, context), BlockFormat::kQ8_0, {6, 64});
    const std::vector<float> rows =
        table.take(tensor<int64_t>({4, 1}, context), 0).to_vector<float>();
    CHECK(std::equal(rows.begin(), rows.begin() + 64, all.begin() + std::ptrdiff_t{4} * 64));
    CHECK(std::equal(rows.begin() + 64, rows.end(), all.begin() + 64));
  });
}

TEST_CASE("blocks that do not fit their shape are refused") {
  Context context(cpu_and_null());
  const Tensor bytes = zeros({340}, DType::kU8, context);
  const auto refused = [&](const Tensor& blocks, BlockFormat format, std::vector<int64_t> shape,
                           const char* message) {
    CHECK_THROWS_WITH(dequantise(blocks, format, shape), ContainsSubstring(message));
  };
  CHECK_NOTHROW(dequantise(bytes, BlockFormat::kQ8_0, {5, 64}));
  CHECK_NOTHROW(dequantise(bytes, BlockFormat::kQ4_1, {17, 32}));
  refused(bytes, BlockFormat::kQ8_0, {10, 31}, "a last axis of whole blocks of 32, got 31");
  refused(bytes, BlockFormat::kQ8_0, {}, "a last axis of whole blocks of 32, got no axis");
  refused(bytes, BlockFormat::kQ8_0, {5, 96}, "expected 15 blocks of 34 bytes for q8_0, got 340");
  // As of a file that ends too early, in a block or after one.
  refused(bytes.slice({Slice{0, 339}}), BlockFormat::kQ8_0, {5, 64}, "10 blocks of 34 bytes");
  refused(bytes.slice({Slice{0, 306}}), BlockFormat::kQ8_0, {5, 64}, "10 blocks of 34 bytes");
  refused(bytes, BlockFormat::kQ4_0, {10, 32}, "expected 10 blocks of 18 bytes for q4_0, got 340");
  refused(bytes, BlockFormat::kQ8_0, {-5, -64}, "expected sizes of at least 0, got -5");
  refused(bytes, BlockFormat::kQ8_0, {int64_t{1} << 40, int64_t{1} << 40}, "fewer than 2^63");
  refused(bytes.bit_cast(DType::kI8), BlockFormat::kQ8_0, {5, 64}, "blocks of u8, got i8");
  CHECK(dequantise(bytes.slice({Slice{0, 0}}), BlockFormat::kQ8_0, {0, 64}).size() == 0);
}
