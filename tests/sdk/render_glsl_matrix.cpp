// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix atoms as GLSL against plain products. That the text becomes valid SPIR-V is for spirv.cpp.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstring>

#include "sdk/render/glsl_dialect.hpp"
#include "sdk/render/glsl_matrix.hpp"
#include "tests/sdk/matrix_tile.hpp"
#include "tests/sdk/samples.hpp"
#include "tests/sdk/shader_kernels.hpp"

using namespace tenon::sdk;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string replaced_all(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

tn_matrix_atom atom(uint32_t n, uint32_t k, tn_dtype a, tn_dtype b, tn_dtype sum) {
  return glsl_atom(16, n, k, a, b, sum, 32, true).value();
}

/// Twice: each row of the sums is multiplied by a factor of its own before a product is added.
constexpr std::string_view kScaled =
    R"(program scaled(%a: global f16 read align 16, %f: global f32 read align 16, %c: global f32 write align 16) workgroup 32 1 1 subgroup 32 {
  %3 = const 0 : i32
  %4 = const 1 : i32
  %5 = const 2 : i32
  %6 = const 16 : i32
  %7 = const 1.0 : f32x8
  %8 = matrix_load.1052688.c.transposed %f, %3, %3 : f32x8
  %9 = matrix_load.1052688.a %a, %3, %6 : f16x8
  %10 = matrix_load.1052688.b %a, %3, %6 : f16x8
  %11 = loop %3, %5, %4 : i32 {
    %12 = carry %7 : f32x8
    %13 = mul %12, %8 : f32x8
    %14 = matrix_multiply.1052688 %9, %10, %13 : f32x8
    end %14
  }
  %16 = const 2.0 : f32x8
  %17 = mul %12, %16 : f32x8
  matrix_store.1052688.c %c, %3, %6, %17
}
)";

}  // namespace

TEST_CASE("matrix atoms as GLSL") {
  const tn_matrix_atom atoms[] = {atom(16, 16, TN_DTYPE_F16, TN_DTYPE_F16, TN_DTYPE_F32),
                                  atom(8, 16, TN_DTYPE_BF16, TN_DTYPE_BF16, TN_DTYPE_F32),
                                  atom(16, 32, TN_DTYPE_I8, TN_DTYPE_I8, TN_DTYPE_I32),
                                  atom(8, 32, TN_DTYPE_U8, TN_DTYPE_I8, TN_DTYPE_I32)};
  std::vector<MatrixTile> tiles;
  ShaderKernels kernels;
  for (const tn_matrix_atom& each : atoms) {
    for (unsigned bits = 0; bits < 8; ++bits) {
      tiles.push_back({each, {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0}, false, 16});
      kernels.add(tile_program(tiles.back()));
    }
  }
  kernels.build();
  for (size_t i = 0; i < tiles.size(); ++i) {
    const MatrixTile& t = tiles[i];
    CAPTURE(t.text());
    const auto element = [&](uint32_t role, uint32_t row, uint32_t column) {
      return t.small(role, row, column);
    };
    Bytes bytes[] = {t.stored(0, element), t.stored(1, element), Bytes(size_t{t.count(2)} * 4)};
    kernels.run(i, {1, 1, 1}, {{&bytes[0]}, {&bytes[1]}, {&bytes[2]}});
    CHECK(t.differences(bytes[2]) == 0);
  }
}

TEST_CASE("sums that are multiplied row by row, and by a constant, as GLSL") {
  constexpr uint32_t kSize = 16;
  std::vector<uint16_t> ones(kSize * kSize, 0x3c00);
  std::vector<float> factors(kSize), sums(kSize * kSize);
  for (uint32_t i = 0; i < kSize; ++i) factors[i] = static_cast<float>(i) - 3;
  Bytes a = bytes_of(ones), f = bytes_of(factors), c = bytes_of(sums);
  ShaderKernels kernels;
  kernels.add(parsed(kScaled));
  kernels.build();
  kernels.run(0, {1, 1, 1}, {{&a}, {&f}, {&c}});
  std::memcpy(sums.data(), c.data(), c.size());
  for (uint32_t row = 0; row < kSize; ++row) {
    const float once = factors[row] + kSize, twice = once * factors[row] + kSize;
    CHECK(sums[row * kSize + 5] == 2 * twice);
  }
}

TEST_CASE("what cooperative matrices cannot do is refused") {
  std::string text(kScaled);
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string out = text;
    out.replace(out.find(from), from.size(), to);
    return print_glsl(parsed(out).view());
  };
  CHECK_THAT(with("mul %12, %8", "mul %8, %12"), ContainsSubstring("tn_mul_101010_2(v8, v12)"));
  CHECK_THROWS_WITH(with("mul %12, %8", "add %12, %8"), "glsl: has no words for add of a fragment");
  const std::string unknown = replaced_all(text, "1052688", "4278190081");
  CHECK_THROWS_WITH(print_glsl(parsed(unknown).view()),
                    "glsl: has no words for matrix atom 4278190081");
  CHECK_THROWS_WITH(with("const 16 : i32", "const 17 : i32"),
                    "glsl: matrix_load: expected rows that are aligned to 16 bytes");
  CHECK_THROWS_WITH(with("a %a, %3", "a %a, %4"),
                    "glsl: matrix_load: expected rows that are aligned to 16 bytes");
  CHECK_THROWS_WITH(with("b %a", "b.lines %a"),
                    ContainsSubstring("expected lines in memory aligned to 1024 bytes, got 16"));
  std::string lines = replaced_all(text, "align 16", "align 1024");
  lines.replace(lines.find("b %a"), 4, "b.lines %a");
  CHECK_THROWS_WITH(print_glsl(parsed(lines).view()),
                    "glsl: matrix_load: expected rows that are aligned to 16 bytes");
  CHECK_THROWS_WITH(with("%f: global f32 read align 16", "%f: global f32 read align 4"),
                    "glsl: matrix_load: expected rows that are aligned to 16 bytes");
}
