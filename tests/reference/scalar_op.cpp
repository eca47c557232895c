// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ops.def pins, on single values.
#include "core/ir/scalar_op.hpp"
#include "core/interval/interval.hpp"
#include "tenon/plugin.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

using namespace tenon;

static_assert(kFlushInput == TN_NUMERICS_FLUSH_INPUT && kFlushOutput == TN_NUMERICS_FLUSH_OUTPUT);
static_assert(kNoNan == TN_NUMERICS_NO_NAN && kNoInf == TN_NUMERICS_NO_INF);
static_assert(kNoSignedZero == TN_NUMERICS_NO_SIGNED_ZERO && kContract == TN_NUMERICS_CONTRACT);

namespace {

int64_t ints(Op op, DType dtype, int64_t a, int64_t b) {
  const DType result = op_info(op).kind == OpKind::COMPARE ? DType::kBool : dtype;
  std::vector<Scalar> x{Scalar::of_int(dtype, a), Scalar::of_int(dtype, b)};
  x.resize(op_info(op).arity);
  return evaluate_scalar(op, result, x).as_int();
}

double floats(Op op, DType dtype, double a, double b = 0, double c = 0) {
  std::vector<Scalar> x{Scalar::of(dtype, a), Scalar::of(dtype, b), Scalar::of(dtype, c)};
  x.resize(op_info(op).arity);
  return evaluate_scalar(op, dtype, x).as_double();
}

}  // namespace

TEST_CASE("integers wrap, divide toward zero and never trap") {
  CHECK(ints(Op::ADD, DType::kI8, 127, 1) == -128);
  CHECK(ints(Op::MUL, DType::kU16, 65535, 65535) == 1);
  CHECK(ints(Op::IDIV, DType::kI32, -7, 2) == -3);
  CHECK(ints(Op::MOD, DType::kI32, -7, 2) == -1);
  CHECK(ints(Op::IDIV, DType::kI64, 5, 0) == 0);
  CHECK(ints(Op::MOD, DType::kI64, 5, 0) == 5);
  CHECK(ints(Op::IDIV, DType::kI64, INT64_MIN, -1) == INT64_MIN);
  CHECK(ints(Op::MOD, DType::kI64, INT64_MIN, -1) == 0);
  CHECK(ints(Op::IDIV, DType::kI8, -128, -1) == -128);
  CHECK(ints(Op::IDIV, DType::kU8, 200, 3) == 66);
  CHECK(ints(Op::NEG, DType::kI16, -32768, 0) == -32768);
  CHECK(ints(Op::SUB, DType::kU8, 1, 2) == 255);
  CHECK(ints(Op::MAX, DType::kU64, -1, 1) == -1);
  CHECK(ints(Op::MIN, DType::kI64, -1, 1) == -1);
  CHECK(ints(Op::CMPLT, DType::kU32, -1, 1) == 0);
  CHECK(ints(Op::ADD, DType::kBool, 1, 1) == 1);
  CHECK(ints(Op::MUL, DType::kBool, 1, 0) == 0);
}

TEST_CASE("shifts beyond the bits") {
  CHECK(ints(Op::SHL, DType::kI32, 1, 31) == INT32_MIN);
  CHECK(ints(Op::SHL, DType::kI32, 1, 32) == 0);
  CHECK(ints(Op::SHL, DType::kI8, 1, -1) == 0);
  CHECK(ints(Op::SHR, DType::kI8, -128, 7) == -1);
  CHECK(ints(Op::SHR, DType::kI8, -5, 100) == -1);
  CHECK(ints(Op::SHR, DType::kI8, 5, 100) == 0);
  CHECK(ints(Op::SHR, DType::kU8, 255, 4) == 15);
  CHECK(ints(Op::SHR, DType::kI64, -9, 1) == -5);
}

TEST_CASE("floats: NaN, zeros, one rounding") {
  for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
    CHECK(std::isnan(floats(Op::MAX, dtype, NAN, 1)));
    CHECK(std::isnan(floats(Op::MIN, dtype, 1, NAN)));
    CHECK_FALSE(std::signbit(floats(Op::MAX, dtype, -0.0, 0.0)));
    CHECK_FALSE(std::signbit(floats(Op::MAX, dtype, 0.0, -0.0)));
    CHECK(std::signbit(floats(Op::MIN, dtype, 0.0, -0.0)));
    CHECK(std::signbit(floats(Op::TRUNC, dtype, -0.5)));
    CHECK(floats(Op::FLOOR, dtype, -0.5) == -1);
    CHECK(std::isnan(floats(Op::SQRT, dtype, -1)));
    CHECK(floats(Op::RECIP, dtype, -0.0) == -INFINITY);
    CHECK(floats(Op::LOG2, dtype, 0) == -INFINITY);
    CHECK(std::isnan(floats(Op::SIN, dtype, INFINITY)));
  }
  CHECK(floats(Op::RECIP, DType::kF8E4M3, 0) == 448);
  CHECK(evaluate_scalar(Op::NEG, DType::kF32, {Scalar{DType::kF32, 0x7fc00000}}).bits ==
        0xffc00000);
  CHECK(floats(Op::FMA, DType::kF16, 0x1p-24, 0x1p-24, 1 + 0x1p-10) == 1 + 0x1p-10);
  CHECK(floats(Op::FMA, DType::kF32, 1 + 0x1p-12, 1 + 0x1p-12, -1) ==
        std::fmaf(1 + 0x1p-12f, 1 + 0x1p-12f, -1));
  for (int i = 1; i < 2000; ++i) {
    const float x = 1 + static_cast<float>(i) * 0x1p-23f, y = 3 - static_cast<float>(i) * 0x1p-19f;
    const float z = std::ldexp(static_cast<float>(i), -60 + i % 40);
    CHECK(floats(Op::FMA, DType::kF32, x, y, z) == std::fmaf(x, y, z));
  }
}

TEST_CASE("every elementwise op of the table has a meaning on each of its dtypes") {
  for (const OpInfo& info : all_ops()) {
    if (!is_elementwise(info.op) || info.level == OpLevel::PROGRAM) continue;
    for (const DType dtype : all_dtypes()) {
      if (info.types == OpTypes::FLOAT && !is_float(dtype)) continue;
      if (info.types == OpTypes::INT && !is_int(dtype)) continue;
      if (info.types == OpTypes::BITS && is_float(dtype)) continue;
      if (info.types == OpTypes::NUM && dtype == DType::kBool) continue;
      std::vector<Scalar> x(info.arity, one(dtype));
      if (info.op == Op::WHERE) x[0] = one(DType::kBool);
      const DType result = info.kind == OpKind::COMPARE ? DType::kBool : dtype;
      CHECK(evaluate_scalar(info.op, result, x).dtype == result);
    }
  }
}
