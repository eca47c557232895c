// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Intervals are no wider than the profile: what is a little beyond a bound, or computed otherwise,
// is refused, in the share of elements that is written here.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <random>

#include "core/interval/interval.hpp"
#include "core/ir/build.hpp"

using namespace tenon;

namespace {

Profile claimed(bool strict) {
  Profile p;
  p.strict = strict;
  p.native_ops.fill(~uint64_t{0});
  p.arithmetic.fill(true);
  return p;
}

Array filled(DType dtype, std::vector<int64_t> shape, const std::function<double()>& draw) {
  Array out = Array::zeros(dtype, std::move(shape));
  for (int64_t i = 0; i < out.count(); ++i) out.set(i, Scalar::of(dtype, draw()));
  return out;
}

struct Experiment {
  Builder b;
  std::vector<NodeRef> params;
  std::vector<Array> inputs;
  std::mt19937_64 random{3};

  NodeRef in(const Array& x) {
    Shape shape(x.shape.begin(), x.shape.end());
    params.push_back(b.param("p" + std::to_string(params.size()), x.dtype, shape));
    inputs.push_back(x);
    return params.back();
  }
  NodeRef uniform(DType dtype, std::vector<int64_t> shape, double low, double high) {
    std::uniform_real_distribution<double> draw(low, high);
    return in(filled(dtype, std::move(shape), [&] { return draw(random); }));
  }
  IntervalArray of(const NodeRef& y, const Profile& profile) {
    Graph g;
    g.params = params;
    g.outputs = {y};
    g.output_names = {""};
    return evaluate_intervals(g, inputs, {}, profile)[0];
  }
};

/// Of the elements, those where `other` (given the reference's value) is refused.
double refused(const IntervalArray& expected, const Profile& profile,
               const std::function<double(int64_t, double)>& other) {
  int64_t count = 0;
  for (int64_t i = 0; i < expected.value.count(); ++i) {
    const double value = expected.value.at(i).as_double();
    count += !accepts(expected, i, Scalar::of(expected.value.dtype, other(i, value)), profile);
  }
  return static_cast<double>(count) / static_cast<double>(expected.value.count());
}

double unit(double y, int precision) { return std::ldexp(1, std::ilogb(y) - precision + 1); }

}  // namespace

TEST_CASE("a function off by a unit more than its bound is refused everywhere") {
  const struct {
    Op op;
    double low, high, strict;
    std::function<double(double)> relaxed;  ///< in units, for an operand
  } rows[] = {
      {Op::EXP2, -20, 20, 3, [](double x) { return 3 + 2 * std::abs(x); }},
      {Op::EXP, -20, 20, 3, [](double x) { return 3 + 2 * std::abs(x); }},
      {Op::LOG2, 2.1, 1000, 3, [](double) { return 3; }},
      {Op::LN, 2.1, 1000, 3, [](double) { return 3; }},
      {Op::SIN, -3, 3, 4, nullptr},
      {Op::COS, -3, 3, 4, nullptr},
      {Op::RECIP, 0.1, 10, 0, [](double) { return 2.5; }},
      {Op::SQRT, 0.1, 10, 0, [](double) { return 7.5; }},  // 2 units of the inverse, then 2.5
  };
  for (const auto& row : rows)
    for (const bool strict : {true, false}) {
      if (!strict && !row.relaxed) continue;
      Experiment e;
      const NodeRef x = e.uniform(DType::kF32, {2000}, row.low, row.high);
      const Profile profile = claimed(strict);
      const IntervalArray y = e.of(e.b.unary(row.op, x), profile);
      const auto off = [&](double share) {
        return [&, share](int64_t i, double value) {
          const double operand = e.inputs[0].at(i).as_double();
          const double units = strict ? row.strict : row.relaxed(operand);
          return value + share * (units + 1) * unit(value, 24);
        };
      };
      INFO(op_info(row.op).text << (strict ? ", strict" : ", relaxed"));
      // The reference's value is up to half a unit off itself, and a bound may end at a half.
      CHECK(refused(y, profile, off(1.2)) == 1);
      CHECK(refused(y, profile, off(-1.2)) == 1);
    }
}

TEST_CASE("relaxed waves have an absolute bound") {
  for (const auto& [dtype, bound] : {std::pair(DType::kF32, -11), std::pair(DType::kF16, -7)})
    for (const Op op : {Op::SIN, Op::COS}) {
      Experiment e;
      const NodeRef x = e.uniform(dtype, {1000}, -3.1, 3.1);
      const IntervalArray y = e.of(e.b.unary(op, x), claimed(false));
      const double step = std::ldexp(1, bound);
      const auto by = [&](double share) {
        return [share, step](int64_t, double value) { return value + share * step; };
      };
      CHECK(refused(y, claimed(false), by(0.9)) == 0);
      CHECK(refused(y, claimed(false), by(1.2)) == 1);
      CHECK(refused(y, claimed(false), by(-1.2)) == 1);
    }
}

TEST_CASE("swapped operands are refused") {
  for (const Op op : {Op::SUB, Op::FDIV})
    for (const bool strict : {true, false}) {
      Experiment e;
      const NodeRef x = e.uniform(DType::kF32, {1000}, 1, 4);
      const NodeRef y = e.uniform(DType::kF32, {1000}, 5, 9);
      const IntervalArray right = e.of(e.b.binary(op, x, y), claimed(strict));
      const IntervalArray swapped = e.of(e.b.binary(op, y, x), claimed(strict));
      CHECK(refused(right, claimed(strict),
                    [&](int64_t i, double) { return swapped.value.at(i).as_double(); }) == 1);
    }
}

TEST_CASE("a term that a sum dropped is missed") {
  const struct {
    DType dtype, accumulator;
    int64_t terms;
    double share;
  } rows[] = {{DType::kF32, DType::kF32, 33, 0.999},   {DType::kF32, DType::kF32, 1000, 0.9},
              {DType::kF16, DType::kF32, 33, 0.95},    {DType::kBF16, DType::kF32, 17, 0.8},
              {DType::kF64, DType::kF64, 1000, 0.999}, {DType::kF16, DType::kF16, 33, 0.55}};
  for (const auto& row : rows) {
    Experiment e;
    const NodeRef x = e.uniform(row.dtype, {400, row.terms}, -1, 1);
    const NodeRef y = e.uniform(row.dtype, {400, row.terms}, -1, 1);
    const NodeRef dot = e.b.reduce(Op::ADD, e.b.binary(Op::MUL, x, y), {1}, row.accumulator);
    const Profile profile = claimed(true);
    const IntervalArray sums = e.of(dot, profile);
    const double share = refused(sums, profile, [&](int64_t i, double value) {
      const int64_t last = (i + 1) * row.terms - 1;
      return value - e.inputs[0].at(last).as_double() * e.inputs[1].at(last).as_double();
    });
    INFO(dtype_name(row.dtype) << " in " << dtype_name(row.accumulator) << ", " << row.terms
                               << " terms: " << share);
    CHECK(share >= row.share);
  }
}

TEST_CASE("a sum in a narrower accumulator than it should have is refused") {
  Experiment e;
  constexpr int64_t kTerms = 64;
  const NodeRef x = e.uniform(DType::kF16, {300, kTerms}, -0.25, 1);
  const Profile profile = claimed(true);
  const IntervalArray sums = e.of(e.b.reduce(Op::ADD, x, {1}, DType::kF32), profile);
  const double share = refused(sums, profile, [&](int64_t i, double) {
    Scalar sum = zero(DType::kBF16);
    for (int64_t k = 0; k < kTerms; ++k)
      sum = Scalar::of(DType::kBF16, sum.as_double() + e.inputs[0].at(i * kTerms + k).as_double());
    return sum.as_double();
  });
  CHECK(share > 0.9);
}

TEST_CASE("one element of a softmax that is off by a hundredth is refused, in any profile") {
  for (const bool strict : {true, false}) {
    Experiment e;
    Builder& b = e.b;
    const NodeRef x = e.uniform(DType::kF32, {20, 65}, -4, 4);
    const auto along = [&](const NodeRef& y) { return b.expand(y, x->shape); };
    const NodeRef powers = b.unary(Op::EXP, b.binary(Op::SUB, x, along(b.reduce(Op::MAX, x, {1}))));
    const NodeRef y = b.binary(Op::FDIV, powers, along(b.reduce(Op::ADD, powers, {1})));
    const IntervalArray expected = e.of(y, claimed(strict));
    const auto times = [](double factor) {
      return [factor](int64_t, double value) { return value * factor; };
    };
    CHECK(refused(expected, claimed(strict), times(1)) == 0);
    CHECK(refused(expected, claimed(strict), times(1.01)) == 1);
    CHECK(refused(expected, claimed(strict), times(0.9999)) == 1);
  }
}

TEST_CASE("sums that overflow in some orders may do so, and not otherwise") {
  const double inf = INFINITY, big = std::numeric_limits<float>::max();
  const auto takes = [&](const std::vector<double>& terms, double got) {
    Experiment e;
    size_t next = 0;
    const NodeRef x = e.in(
        filled(DType::kF32, {static_cast<int64_t>(terms.size())}, [&] { return terms[next++]; }));
    const IntervalArray sum = e.of(e.b.reduce(Op::ADD, x, {0}), claimed(true));
    return accepts(sum, 0, Scalar::of(DType::kF32, got), claimed(true));
  };
  // Some order passes the largest number upwards, none downwards: so there is no NaN either.
  CHECK(takes({big, big, -big}, inf));
  CHECK(takes({big, big, -big}, big));
  CHECK_FALSE(takes({big, big, -big}, -inf));
  CHECK_FALSE(takes({big, big, -big}, NAN));
  CHECK_FALSE(takes({big, big, -big}, 0));
  // None does.
  CHECK_FALSE(takes({big / 2, -big, 1, 1}, inf));
  CHECK(takes({big / 2, -big, 1, 1}, -big / 2));
  // Both ways, and then anything.
  CHECK(takes({big, big, -big, -big}, NAN));
  CHECK(takes({big, big, -big, -big}, -inf));
  // An infinity stays one, unless the rest may become the other.
  CHECK(takes({inf, 1, -2.5}, inf));
  CHECK_FALSE(takes({inf, 1, -2.5}, NAN));
  CHECK_FALSE(takes({inf, -big, 2}, NAN));
  CHECK(takes({inf, -big, -big}, NAN));
}

TEST_CASE("products in any order: gamma, and exact where the significands fit") {
  Experiment e;
  const NodeRef x = e.uniform(DType::kF32, {200, 9}, 0.9, 1.1);
  const IntervalArray product = e.of(e.b.reduce(Op::MUL, x, {1}), claimed(true));
  CHECK(refused(product, claimed(true), [](int64_t, double v) { return v * (1 + 0x1p-22); }) == 0);
  CHECK(refused(product, claimed(true), [](int64_t, double v) { return v * (1 + 0x1p-19); }) == 1);
  CHECK(refused(product, claimed(true), [&](int64_t i, double v) {
          return v / e.inputs[0].at(i * 9).as_double();  // a dropped factor
        }) > 0.99);
  Experiment whole;
  const NodeRef small = whole.in(filled(DType::kF32, {4}, [n = 1.0]() mutable { return ++n; }));
  const IntervalArray exact = whole.of(whole.b.reduce(Op::MUL, small, {0}), claimed(true));
  CHECK(accepts(exact, 0, Scalar::of(DType::kF32, 120), claimed(true)));
  CHECK_FALSE(accepts(exact, 0, Scalar::of(DType::kF32, std::nextafterf(120, 0)), claimed(true)));
}

TEST_CASE("zeros of any sign are equal, and flushed numbers may be") {
  Profile p = claimed(true);
  p.numerics = kNoSignedZero;
  Experiment e;
  const NodeRef x = e.in(filled(DType::kF32, {1}, [] { return -0.0; }));
  const NodeRef y = e.in(filled(DType::kF32, {1}, [] { return 1e-40; }));
  const NodeRef zero = e.b.constant(Scalar::of(DType::kF32, 0), {Dim(1)});
  const NodeRef twice = e.b.binary(Op::ADD, x, x);
  const IntervalArray same = e.of(e.b.binary(Op::CMPEQ, twice, zero), p);
  CHECK(accepts(same, 0, {DType::kBool, 1}, p));
  CHECK_FALSE(accepts(same, 0, {DType::kBool, 0}, p));
  const NodeRef tiny = e.b.binary(Op::CMPEQ, y, zero);
  CHECK_FALSE(accepts(e.of(tiny, p), 0, {DType::kBool, 1}, p));
  p.numerics = kFlushInput;
  CHECK(accepts(e.of(tiny, p), 0, {DType::kBool, 1}, p));
  CHECK(accepts(e.of(tiny, p), 0, {DType::kBool, 0}, p));
}

TEST_CASE("finite-only devices say nothing about what is not finite, and all else stays tight") {
  Profile p = claimed(true);
  p.numerics = kNoNan | kNoInf;
  Experiment e;
  size_t next = 0;
  const double values[] = {NAN, INFINITY, 2.5};
  const NodeRef x = e.in(filled(DType::kF32, {3}, [&] { return values[next++]; }));
  const NodeRef one = e.b.constant(Scalar::of(DType::kF32, 1), {Dim(3)});
  const IntervalArray whole = e.of(e.b.cast(x, DType::kI32), p);
  const IntervalArray less = e.of(e.b.binary(Op::CMPLT, x, one), p);
  const IntervalArray half = e.of(e.b.cast(x, DType::kF16), p);
  for (int64_t i = 0; i < 2; ++i) {
    CHECK(accepts(whole, i, Scalar::of_int(DType::kI32, 77), p));
    CHECK(accepts(less, i, {DType::kBool, 1}, p));
    CHECK(accepts(half, i, Scalar::of(DType::kF16, 3), p));
  }
  CHECK_FALSE(accepts(whole, 2, Scalar::of_int(DType::kI32, 3), p));
  CHECK_FALSE(accepts(less, 2, {DType::kBool, 1}, p));
  CHECK_FALSE(accepts(half, 2, Scalar::of(DType::kF16, 2.501), p));
}

TEST_CASE("a term that a mask makes zero may be left out, whatever multiplies it, and no other") {
  const auto takes = [](float shown, float factor, float value, float got) {
    Experiment e;
    const auto pair = [&](float first, float second) {
      Array x = Array::zeros(DType::kF32, {2});
      x.set(0, Scalar::of(DType::kF32, first));
      x.set(1, Scalar::of(DType::kF32, second));
      return e.in(x);
    };
    const auto number = [&](DType dtype, double n) {
      return e.b.constant(Scalar::of(dtype, n), {Dim(2)});
    };
    const NodeRef position = e.b.index(0, {Dim(2)}, DType::kI32);
    const NodeRef mask = e.b.binary(Op::CMPLT, position, number(DType::kI32, 1 + shown));
    const NodeRef weight = e.b.where(mask, pair(1, 2), number(DType::kF32, 0));
    const NodeRef product = e.b.binary(Op::MUL, weight, pair(1, factor));
    const NodeRef terms = e.b.binary(Op::MUL, product, pair(3, value));
    const Profile p = claimed(true);
    return accepts(e.of(e.b.reduce(Op::ADD, terms, {0}), p), 0, Scalar::of(DType::kF32, got), p);
  };
  for (const float shown : {0.f, 1.f})
    for (const auto& [factor, value] :
         {std::pair(NAN, 2.f), std::pair(2.f, NAN), std::pair(NAN, NAN)}) {
      CAPTURE(shown, factor, value);
      CHECK(takes(shown, factor, value, NAN));
      CHECK(takes(shown, factor, value, 3) == (shown == 0));
    }
  CHECK_FALSE(takes(0, 2, 2, NAN));
}
