// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A matrix that is larger than the memory it may use is multiplied from disk, block by block.
//
//   example_12_disk_matmul [FOLDER]
//
// The device's pool is held to 64 MiB (cpu@pool=64M unless TENON_DEVICES says otherwise); the
// matrix of 16384 x 2048 f32 takes 128 MiB. Each block of rows is read from its file when it is
// used, and each block of the product is written into another file as soon as it is there.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tenon/tenon.hpp"

using namespace tenon;

namespace {

constexpr int64_t kRows = 16384, kInner = 2048, kColumns = 32, kBlock = 2048;

/// Small whole numbers, so that sums are exact: (a i + b k) mod 7 - 3 at row i and column k.
Tensor pattern(int64_t first, int64_t rows, int64_t columns, int64_t a, int64_t b,
               Context& context) {
  const auto times = [&](int64_t n, int64_t factor, std::vector<int64_t> shape) {
    return (arange(n, DType::kI64, context) * factor).reshape(shape);
  };
  const Tensor sum = times(rows, a, {rows, 1}) + times(columns, b, {1, columns});
  return ((sum + first * a) % 7 - 3).astype(DType::kF32);
}

}  // namespace

int main(int argc, char** argv) try {
  namespace fs = std::filesystem;
  const fs::path folder = fs::absolute(argc > 1 ? argv[1] : ".");
  const std::string matrix = "disk:" + (folder / "matrix.bin").string();
  const std::string product = "disk:" + (folder / "product.bin").string();
  ContextOptions options;
  const char* devices = std::getenv("TENON_DEVICES");
  options.devices = std::string(devices ? devices : "cpu@pool=64M") + "," + matrix + "@create," +
                    product + "@create";
  Context context(options);

  for (int64_t row = 0; row < kRows; row += kBlock)
    pattern(row, kBlock, kInner, 3, 5, context)
        .write_file(matrix, static_cast<uint64_t>(row * kInner) * sizeof(float));

  // The whole matrix, by name only; a slice of it is what is read.
  const Tensor a = from_file(matrix, DType::kF32, {kRows, kInner}, 0, context);
  const Tensor b = pattern(0, kInner, kColumns, 2, 3, context);
  for (int64_t row = 0; row < kRows; row += kBlock)
    a.slice({{row, row + kBlock}})
        .matmul(b)
        .write_file(product, static_cast<uint64_t>(row * kColumns) * sizeof(float));

  // Two rows of the product, computed here.
  const Tensor c = from_file(product, DType::kF32, {kRows, kColumns}, 0, context);
  const auto value = [](int64_t n) { return static_cast<float>(n % 7 - 3); };
  for (const int64_t row : {int64_t{5}, kRows - 1}) {
    const std::vector<float> got = c.take(row, 0).to_vector<float>();
    for (int64_t j = 0; j < kColumns; ++j) {
      float expected = 0;
      for (int64_t k = 0; k < kInner; ++k)
        expected += value(3 * row + 5 * k) * value(2 * k + 3 * j);
      if (got[static_cast<size_t>(j)] == expected) continue;
      std::fprintf(stderr, "element [%d, %d]: expected %g, got %g\n", static_cast<int>(row),
                   static_cast<int>(j), expected, got[static_cast<size_t>(j)]);
      return 1;
    }
  }
  std::printf("%d MiB on disk times %d KiB, with %d MiB of memory on %s: right\n",
              static_cast<int>(kRows * kInner / 262144), static_cast<int>(kInner * kColumns / 256),
              static_cast<int>(context.device().bytes_reserved >> 20), context.device().id.c_str());
  return 0;
} catch (const Error& error) {
  std::fprintf(stderr, "12_disk_matmul: %s\n", error.what());
  return 3;
}
