// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The values at which implementations go wrong reach the ops: within a few dozen cases of a cell.
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <functional>

#include "conformance/cases/graphs/boundary_values.hpp"
#include "conformance/cases/graphs/cells.hpp"
#include "conformance/cases/graphs/template.hpp"

using namespace tenon;
using namespace tenon::conformance;
using namespace tenon::conformance::graphs;

namespace {

constexpr int kTemplates = 12, kValueCases = 8;

/// Does any of a hundred cases have elements at one place of its inputs for which this holds?
bool meets(const CellSpec& spec, const std::function<bool(const std::vector<Scalar>&)>& holds) {
  Builder builder;
  for (uint64_t t = 0; t < kTemplates; ++t) {
    Choices choices(mix(t, 5));
    const Template shape = build_cell(spec, choices, builder);
    for (uint64_t k = 0; k < kValueCases; ++k) {
      const Case test = instantiate(shape, 1, k, mix(t, k));
      for (int64_t i = 0; !test.inputs.empty() && i < test.inputs[0].count(); ++i) {
        std::vector<Scalar> operands;
        for (const Array& input : test.inputs)
          if (i < input.count()) operands.push_back(input.at(i));
        if (operands.size() >= static_cast<size_t>(spec.kind == CellKind::kElementwise
                                                       ? op_info(spec.op).arity
                                                       : 1) &&
            holds(operands))
          return true;
      }
    }
  }
  return false;
}

bool unary(Op op, DType dtype, const std::function<bool(double)>& holds) {
  return meets({.op = op, .dtype = dtype},
               [&](const std::vector<Scalar>& x) { return holds(x[0].as_double()); });
}

bool binary(Op op, DType dtype, const std::function<bool(double, double)>& holds) {
  return meets({.op = op, .dtype = dtype}, [&](const std::vector<Scalar>& x) {
    return holds(x[0].as_double(), x[1].as_double());
  });
}

bool cast_from(DType from, DType to, const std::function<bool(Scalar)>& holds) {
  return meets({.kind = CellKind::kCast, .op = Op::CAST, .dtype = from, .other = to},
               [&](const std::vector<Scalar>& x) { return holds(x[0]); });
}

constexpr double kLeastNormal = 0x1p-126;

}  // namespace

TEST_CASE("float ops meet the arguments that are hard for them") {
  CHECK(unary(Op::LOG2, DType::kF32, [](double x) { return x != 1 && std::abs(x - 1) < 0x1p-14; }));
  CHECK(unary(Op::LOG2, DType::kF32, [](double x) { return x > 0 && x < kLeastNormal; }));
  CHECK(unary(Op::SIN, DType::kF32, [](double x) { return x > 50000 && x < 200000; }));
  CHECK(unary(Op::EXP2, DType::kF32, [](double x) { return x > 100 && x < 128; }));
  CHECK(unary(Op::EXP2, DType::kF32, [](double x) { return x > -149 && x < -126; }));
  CHECK(unary(Op::RECIP, DType::kF32, [](double x) { return x == 0 && std::signbit(x); }));
  CHECK(unary(Op::FLOOR, DType::kF32, [](double x) { return x < 0 && x > -0x1p-20; }));
  CHECK(binary(Op::MAX, DType::kF32, [](double x, double y) { return x != x && y == y; }));
  CHECK(binary(Op::MAX, DType::kF32, [](double x, double y) { return x == x && y != y; }));
  CHECK(binary(Op::MUL, DType::kF32, [](double x, double y) {
    return std::abs(x * y) < kLeastNormal && std::abs(x * y) > 0x1p-149 &&
           std::abs(x) >= kLeastNormal && std::abs(y) >= kLeastNormal;
  }));
  CHECK(binary(Op::ADD, DType::kF32, [](double x, double y) {
    return x + y != 0 && std::abs(x + y) < kLeastNormal && std::abs(x) >= kLeastNormal;
  }));
  CHECK(binary(Op::CMPLT, DType::kF32, [](double x, double y) {
    return x < y && std::nextafter(static_cast<float>(x), 1e30f) == static_cast<float>(y);
  }));
}

TEST_CASE("casts meet midpoints, their neighbours, and the ends") {
  const auto midpoint = [](double x, DType to, double off) {
    const Scalar near = Scalar::of(to, x);
    for (const uint64_t code : {near.bits, near.bits - 1}) {
      const double low = Scalar{to, code}.as_double(), high = Scalar{to, code + 1}.as_double();
      const double middle = low + (high - low) / 2;
      if (std::isfinite(middle) && x != low && x != high &&
          std::abs(x - middle) <= off * std::abs(x))
        return true;
    }
    return false;
  };
  CHECK(cast_from(DType::kF32, DType::kF16,
                  [&](Scalar x) { return midpoint(x.as_double(), DType::kF16, 0); }));
  CHECK(cast_from(DType::kF64, DType::kBF16, [&](Scalar x) {
    const double v = x.as_double();
    return !midpoint(v, DType::kBF16, 0) && midpoint(v, DType::kBF16, 0x1p-50);
  }));
  CHECK(cast_from(DType::kI64, DType::kBF16, [&](Scalar x) {
    const double v = static_cast<double>(x.as_int());
    return v > 1e6 && midpoint(v, DType::kBF16, 0x1p-20);
  }));
  CHECK(cast_from(DType::kF32, DType::kF16,
                  [](Scalar x) { return x.as_double() >= 65520 && x.as_double() < 1e6; }));
  CHECK(cast_from(DType::kF32, DType::kBool, [](Scalar x) {
    return x.as_double() != 0 && std::abs(x.as_double()) < kLeastNormal;
  }));
  CHECK(cast_from(DType::kF32, DType::kF64, [](Scalar x) { return x.bits == 0x7f800001; }));
  CHECK(cast_from(DType::kF64, DType::kI32, [](Scalar x) {
    return x.as_double() > 2147483647.0 && x.as_double() < 2147483649.0;
  }));
}

TEST_CASE("integer ops meet signs, ends and wide values") {
  for (const double sx : {1.0, -1.0})
    for (const double sy : {1.0, -1.0})
      CHECK(binary(Op::IDIV, DType::kI32, [&](double x, double y) {
        return x * sx > 0 && y * sy > 0 && std::fmod(x, y) != 0;
      }));
  CHECK(binary(Op::IDIV, DType::kI32,
               [](double x, double y) { return x == -2147483648.0 && y == -1; }));
  CHECK(binary(Op::SHR, DType::kI16, [](double x, double y) { return x < 0 && y > 0 && y < 15; }));
  CHECK(binary(Op::SHL, DType::kI32, [](double x, double y) { return x != 0 && y >= 32; }));
  CHECK(binary(Op::ADD, DType::kU8, [](double x, double y) { return x + y > 255; }));
  CHECK(meets({.op = Op::ADD, .dtype = DType::kI64}, [](const std::vector<Scalar>& x) {
    const int64_t sum = x[0].as_int() / 2 + x[1].as_int() / 2;
    return std::abs(sum) > (int64_t{1} << 53) && x[0].as_int() % 2 != 0;
  }));
}

TEST_CASE("positions lie outside too, where few bits would bring them back") {
  const CellSpec take{
      .kind = CellKind::kTake, .op = Op::TAKE, .dtype = DType::kF32, .other = DType::kI64};
  CHECK(meets(take, [](const std::vector<Scalar>& x) {
    return x.back().dtype == DType::kI64 && x.back().as_int() >= int64_t{1} << 32;
  }));
  CHECK(meets(take, [](const std::vector<Scalar>& x) {
    return x.back().dtype == DType::kI64 && x.back().as_int() < 0;
  }));
}

TEST_CASE("a reduction meets terms of one sign, and one NaN among numbers") {
  const CellSpec spec{.kind = CellKind::kReduce, .op = Op::MAX, .dtype = DType::kF32, .variant = 4};
  Builder builder;
  bool negative = false, one_nan = false;
  for (uint64_t t = 0; t < kTemplates; ++t) {
    Choices choices(mix(t, 6));
    const Template shape = build_cell(spec, choices, builder);
    for (uint64_t k = 0; k < 2 * kValueCases; ++k) {
      const Case test = instantiate(shape, 1, k, mix(t, k));
      const Array& x = test.inputs[0];
      int64_t below = 0, nans = 0;
      for (int64_t i = 0; i < x.count(); ++i) {
        below += x.at(i).as_double() < 0;
        nans += std::isnan(x.at(i).as_double());
      }
      negative = negative || (x.count() > 4 && below == x.count());
      one_nan = one_nan || (x.count() > 20 && nans > 0 && nans * 10 < x.count());
    }
  }
  CHECK(negative);
  CHECK(one_nan);
}

TEST_CASE("neighbours and core values are what they say") {
  const uint64_t one = Scalar::of(DType::kF32, 1.0).bits;
  CHECK(neighbour(one, DType::kF32, true) == one + 1);
  CHECK(neighbour(one, DType::kF32, false) == one - 1);
  CHECK(neighbour(highest(DType::kI8).bits, DType::kI8, true) == highest(DType::kI8).bits);
  CHECK(core_values(DType::kBF16)[0] == Scalar::of(DType::kBF16, 1.0).bits);
  for (const DType dtype : all_dtypes())
    for (const uint64_t bits : boundary_values(dtype))
      CHECK((dtype_bits(dtype) == 64 || bits >> dtype_bits(dtype) == 0));
}
