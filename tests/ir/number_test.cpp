// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A number keeps its value until it gets a dtype. One that does not fit is refused; the message
// names both.
#include "tenon/number.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "core/support/error.hpp"

namespace tenon::test {
namespace {

std::string text_in(const Number& number, DType dtype) {
  const auto scalar = number.in(dtype);
  return scalar ? to_string(*scalar) : "refused";
}

TEST_CASE("numbers in the dtypes that hold them") {
  CHECK(text_in(16777217, DType::kI64) == "16777217");
  CHECK(text_in(INT64_MIN, DType::kI64) == "-9223372036854775808");
  CHECK(text_in(UINT64_MAX, DType::kU64) == "18446744073709551615");
  CHECK(text_in(0.1, DType::kF64) == "0.1");
  CHECK(text_in(0.1F, DType::kF64) == "0.10000000149011612");
  CHECK(text_in(0.1, DType::kF32) == "0.1");
  CHECK(text_in(16777217, DType::kF32) == "16777216.0");
  CHECK(text_in(2.0, DType::kI8) == "2");
  CHECK(text_in(-0.0, DType::kU8) == "0");
  CHECK(text_in(true, DType::kBool) == "true");
  CHECK(text_in(1, DType::kBool) == "true");
  CHECK(text_in(true, DType::kF16) == "1.0");
  CHECK(text_in(1e-320, DType::kF32) == "0.0");
  CHECK(text_in(INFINITY, DType::kF16) == "inf");
  CHECK(text_in(NAN, DType::kF8E4M3) == "nan");
  CHECK(Number(464).in(DType::kF8E4M3)->as_double() == 448);
  CHECK(Number(65519).in(DType::kF16)->as_double() == 65504);
}

TEST_CASE("numbers that a dtype does not hold") {
  CHECK(text_in(-1, DType::kU8) == "refused");
  CHECK(text_in(-1, DType::kU64) == "refused");
  CHECK(text_in(256, DType::kU8) == "refused");
  CHECK(text_in(UINT64_MAX, DType::kI64) == "refused");
  CHECK(text_in(1e20, DType::kI32) == "refused");
  CHECK(text_in(0x1p63, DType::kI64) == "refused");
  CHECK(text_in(-0x1p63, DType::kI64) == "-9223372036854775808");
  CHECK(text_in(0x1p64, DType::kU64) == "refused");
  CHECK(text_in(2.5, DType::kI32) == "refused");
  CHECK(text_in(NAN, DType::kI32) == "refused");
  CHECK(text_in(INFINITY, DType::kI64) == "refused");
  CHECK(text_in(2, DType::kBool) == "refused");
  CHECK(text_in(0.5, DType::kBool) == "refused");
  CHECK(text_in(1e300, DType::kF32) == "refused");
  CHECK(text_in(65520, DType::kF16) == "refused");
  CHECK(text_in(465, DType::kF8E4M3) == "refused");
  CHECK(text_in(INFINITY, DType::kF8E4M3) == "refused");
}

TEST_CASE("both are named") {
  try {
    Number(-1).as("full", DType::kU8);
    FAIL("expected an error");
  } catch (const Error& e) {
    CHECK(e.kind() == ErrorKind::kInvalid);
    CHECK(std::string(e.what()) == "[full] expected a value of u8, got -1");
  }
}

}  // namespace
}  // namespace tenon::test
