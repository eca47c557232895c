// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scalar oracle against brute force and against facts.
#include <algorithm>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "sdk/program/op_info.hpp"
#include "sdk/program/scalar.hpp"
#include "sdk/program/view.hpp"

using namespace tenon::sdk;

namespace {

constexpr tn_dtype kNarrow[] = {TN_DTYPE_F16, TN_DTYPE_BF16, TN_DTYPE_F8E4M3, TN_DTYPE_F8E5M2};

/// Finite non-negative values of a narrow float, in order; their index is their code.
std::vector<double> finite_values(uint8_t dtype) {
  std::vector<double> values;
  for (uint64_t code = 0; std::isfinite(to_double(code, dtype)); ++code) {
    values.push_back(to_double(code, dtype));
  }
  return values;
}

/// The nearest code by search, ties to the even one; what is out of range left to the caller.
uint64_t nearest(const std::vector<double>& values, double x) {
  const auto above = std::ranges::lower_bound(values, x);
  if (above == values.begin()) return 0;
  if (above == values.end()) return values.size() - 1;
  const auto code = static_cast<uint64_t>(above - values.begin());
  const double up = *above - x, down = x - above[-1];
  if (up != down) return up < down ? code : code - 1;
  return code % 2 ? code - 1 : code;
}

uint64_t apply(tn_opcode op, uint8_t dtype, uint64_t a, uint64_t b = 0, uint64_t c = 0) {
  const bool is_compare = op == TN_OP_CMPLT || op == TN_OP_CMPNE || op == TN_OP_CMPEQ;
  return scalar_function(op, dtype, is_compare ? uint8_t{TN_DTYPE_BOOL} : dtype)(a, b, c);
}
uint64_t f32(float value) { return std::bit_cast<uint32_t>(value); }

}  // namespace

TEST_CASE("every code of every narrow float comes back") {
  for (const uint8_t dtype : kNarrow) {
    const uint64_t codes = uint64_t{1} << (8 * dtype_bytes(dtype));
    for (uint64_t code = 0; code < codes; ++code) {
      const double value = to_double(code, dtype);
      const uint64_t back = from_double(value, dtype);
      if (std::isnan(value)) {
        REQUIRE(std::isnan(to_double(back, dtype)));
      } else {
        REQUIRE(back == code);
      }
      REQUIRE(parse_scalar(scalar_text(code, dtype), dtype) == code);
    }
  }
}

TEST_CASE("rounding to narrow floats is to the nearest, ties to even") {
  std::mt19937_64 random(3);
  for (const uint8_t dtype : kNarrow) {
    const std::vector<double> values = finite_values(dtype);
    for (int i = 0; i < 20000; ++i) {
      const size_t k = random() % (values.size() - 1);
      const double part = i % 4 == 0 ? 0.5 : std::ldexp(static_cast<double>(random() >> 11), -53);
      const double x = values[k] + (values[k + 1] - values[k]) * part;
      REQUIRE(from_double(x, dtype) == nearest(values, x));
      const auto as_float = static_cast<float>(x);  // a cast from f32 rounds once, too
      REQUIRE(convert(f32(as_float), TN_DTYPE_F32, dtype) == nearest(values, as_float));
    }
  }
  CHECK(from_double(65519, TN_DTYPE_F16) == 0x7bff);
  CHECK(from_double(65520, TN_DTYPE_F16) == 0x7c00);
  CHECK(from_double(1e300, TN_DTYPE_F8E4M3) == 0x7e);
  CHECK(from_double(-INFINITY, TN_DTYPE_F8E4M3) == 0xfe);
  CHECK(from_double(NAN, TN_DTYPE_F8E4M3) == 0x7f);
  CHECK(from_double(-1e-300, TN_DTYPE_F16) == 0x8000);
}

TEST_CASE("64-bit integers to floats round once") {
  std::mt19937_64 random(5);
  for (int i = 0; i < 200000; ++i) {
    const auto x = static_cast<int64_t>(random() >> random() % 60) * (random() % 2 ? 1 : -1);
    REQUIRE(convert(static_cast<uint64_t>(x), TN_DTYPE_I64, TN_DTYPE_F32) ==
            f32(static_cast<float>(x)));
    const uint64_t u = random() >> random() % 60;
    REQUIRE(convert(u, TN_DTYPE_U64, TN_DTYPE_F32) == f32(static_cast<float>(u)));
  }
  // Just above the middle of two bf16 by the last bit of 63.
  const uint64_t middle = (uint64_t{0x101} << 54);
  CHECK(to_double(convert(middle, TN_DTYPE_U64, TN_DTYPE_BF16), TN_DTYPE_BF16) == 0x1p62);
  CHECK(to_double(convert(middle + 1, TN_DTYPE_U64, TN_DTYPE_BF16), TN_DTYPE_BF16) == 0x1.02p62);
}

TEST_CASE("floats to integers truncate, saturate, and NaN gives 0") {
  const auto cast = [](double x, uint8_t to) { return from_double(x, to); };
  CHECK(cast(-1.9, TN_DTYPE_I8) == 0xff);
  CHECK(cast(127.9, TN_DTYPE_I8) == 127);
  CHECK(cast(1e30, TN_DTYPE_I8) == 127);
  CHECK(cast(-1e30, TN_DTYPE_I16) == 0x8000);
  CHECK(cast(-0.5, TN_DTYPE_U32) == 0);
  CHECK(cast(-3, TN_DTYPE_U64) == 0);
  CHECK(cast(1e30, TN_DTYPE_U64) == ~uint64_t{0});
  CHECK(cast(0x1p63, TN_DTYPE_I64) == INT64_MAX);
  CHECK(cast(0x1p63, TN_DTYPE_U64) == uint64_t{1} << 63);
  CHECK(cast(NAN, TN_DTYPE_I32) == 0);
  CHECK(cast(NAN, TN_DTYPE_BOOL) == 1);
  CHECK(cast(1e-300, TN_DTYPE_BOOL) == 1);
  CHECK(cast(-0.0, TN_DTYPE_BOOL) == 0);
}

TEST_CASE("integers as pinned") {
  CHECK(apply(TN_OP_IDIV, TN_DTYPE_I32, uint32_t(-7), 2) == uint32_t(-3));
  CHECK(apply(TN_OP_MOD, TN_DTYPE_I32, uint32_t(-7), 2) == uint32_t(-1));
  CHECK(apply(TN_OP_IDIV, TN_DTYPE_I8, 0x80, 0xff) == 0x80);
  CHECK(apply(TN_OP_MOD, TN_DTYPE_I64, uint64_t{1} << 63, ~uint64_t{0}) == 0);
  CHECK(apply(TN_OP_IDIV, TN_DTYPE_U64, 5, 0) == 0);
  CHECK(apply(TN_OP_MOD, TN_DTYPE_U64, 5, 0) == 5);
  CHECK(apply(TN_OP_MUL, TN_DTYPE_U8, 200, 200) == (200 * 200 & 0xff));
  CHECK(apply(TN_OP_SHL, TN_DTYPE_I32, 1, 31) == 0x80000000);
  CHECK(apply(TN_OP_SHL, TN_DTYPE_I32, 1, 32) == 0);
  CHECK(apply(TN_OP_SHR, TN_DTYPE_I8, 0x80, 200) == 0xff);
  CHECK(apply(TN_OP_SHR, TN_DTYPE_I32, 0x80000000, 4) == 0xf8000000);
  CHECK(apply(TN_OP_SHR, TN_DTYPE_U32, 0x80000000, 40) == 0);
  CHECK(apply(TN_OP_MAX, TN_DTYPE_I8, 0xff, 1) == 1);
  CHECK(apply(TN_OP_MAX, TN_DTYPE_U8, 0xff, 1) == 0xff);
  CHECK(apply(TN_OP_ADD, TN_DTYPE_BOOL, 1, 1) == 1);
  CHECK(apply(TN_OP_MUL, TN_DTYPE_BOOL, 1, 0) == 0);
}

TEST_CASE("floats as pinned") {
  const uint64_t nan = f32(NAN);
  CHECK(apply(TN_OP_MAX, TN_DTYPE_F32, f32(-0.f), f32(0.f)) == f32(0.f));
  CHECK(apply(TN_OP_MIN, TN_DTYPE_F32, f32(0.f), f32(-0.f)) == f32(-0.f));
  CHECK(std::isnan(to_double(apply(TN_OP_MAX, TN_DTYPE_F32, f32(1), nan), TN_DTYPE_F32)));
  CHECK(apply(TN_OP_CMPLT, TN_DTYPE_F32, nan, nan) == 0);
  CHECK(apply(TN_OP_CMPNE, TN_DTYPE_F32, nan, nan) == 1);
  CHECK(apply(TN_OP_CMPEQ, TN_DTYPE_F32, f32(-0.f), f32(0.f)) == 1);
  CHECK(apply(TN_OP_NEG, TN_DTYPE_F32, nan) == (nan ^ 0x80000000));
  CHECK(apply(TN_OP_RECIP, TN_DTYPE_F32, f32(-0.f)) == f32(-INFINITY));
  CHECK(apply(TN_OP_LOG2, TN_DTYPE_F64, 0) == std::bit_cast<uint64_t>(-double{INFINITY}));
  std::mt19937_64 random(9);
  for (int i = 0; i < 100000; ++i) {  // fma rounds once
    const auto any = [&] {
      return std::ldexp(static_cast<float>(random() >> 40), int(random() % 60) - 50);
    };
    const float x = any(), y = any(), z = random() % 2 ? any() : -any();
    REQUIRE(apply(TN_OP_FMA, TN_DTYPE_F32, f32(x), f32(y), f32(z)) == f32(std::fma(x, y, z)));
  }
}

TEST_CASE("the table has a function for each elementwise op and dtype, and for no other") {
  for (const OpInfo& op : all_ops()) {
    for (uint32_t dtype = 0; dtype < 64; ++dtype) {
      const auto code = static_cast<uint8_t>(dtype);
      const uint8_t to = op.kind == OpKind::COMPARE ? uint8_t{TN_DTYPE_BOOL} : code;
      CHECK((scalar_function(op.op, code, to) != nullptr) ==
            (is_elementwise(op) && takes(op.types, code)));
    }
  }
}
