// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Intervals: wide enough for every correct device, too narrow for wrong ones.
#include "core/interval/interval.hpp"

#include "core/ir/build.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <random>

using namespace tenon;

namespace {

constexpr DType kF = DType::kF32;

Profile exact_profile() {
  Profile p;
  p.native_ops.fill(~uint64_t{0});
  p.arithmetic.fill(true);
  return p;
}

Array floats(const std::vector<float>& values, DType dtype = kF) {
  Array out = Array::zeros(dtype, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i)
    out.set(static_cast<int64_t>(i), Scalar::of(dtype, values[i]));
  return out;
}

struct Case {
  Builder b;
  std::vector<NodeRef> params;
  std::vector<Array> inputs;

  NodeRef in(const Array& x) {
    params.push_back(b.param("p" + std::to_string(params.size()), x.dtype, {Dim(x.count())}));
    inputs.push_back(x);
    return params.back();
  }
  IntervalArray of(const NodeRef& y, const Profile& profile) {
    Graph g;
    g.params = params;
    g.outputs = {y};
    g.output_names = {""};
    return evaluate_intervals(g, inputs, {}, profile)[0];
  }
};

float ulps(float x, int n) {
  for (; n > 0; --n) x = std::nextafterf(x, INFINITY);
  for (; n < 0; ++n) x = std::nextafterf(x, -INFINITY);
  return x;
}

bool takes(const IntervalArray& x, int64_t i, double got, const Profile& p) {
  return accepts(x, i, Scalar::of(x.value.dtype, got), p);
}

}  // namespace

TEST_CASE("add and mul are pinned; exp2 has 3 units, sin 4") {
  const Profile p = exact_profile();
  Case c;
  const NodeRef x = c.in(floats({1.3f, -0.7f, 5.0f}));
  const IntervalArray sum = c.of(c.b.binary(Op::ADD, x, x), p);
  CHECK(sum.exact());
  CHECK(takes(sum, 0, 2.6f, p));
  CHECK_FALSE(takes(sum, 0, ulps(2.6f, 1), p));
  const struct {
    Op op;
    int units;
    double value;
  } rows[] = {{Op::EXP2, 3, std::exp2(1.3f)},
              {Op::SIN, 4, std::sin(1.3f)},
              {Op::LOG2, 3, std::log2(1.3f)},
              {Op::RECIP, 0, 1 / double(1.3f)}};
  for (const auto& row : rows) {
    const IntervalArray y = c.of(c.b.unary(row.op, x), p);
    const auto right = static_cast<float>(row.value);
    CHECK(takes(y, 0, right, p));
    CHECK(takes(y, 0, ulps(right, row.units), p));
    CHECK_FALSE(takes(y, 0, ulps(right, row.units + 2), p));
    CHECK_FALSE(takes(y, 0, ulps(right, -row.units - 2), p));
    CHECK_FALSE(takes(y, 0, NAN, p));
  }
}

TEST_CASE("the relaxed rows are Vulkan's") {
  Profile p = exact_profile();
  p.strict = false;
  Case c;
  const NodeRef x = c.in(floats({1.3f, 100.0f}));
  const IntervalArray sine = c.of(c.b.unary(Op::SIN, x), p);
  CHECK(takes(sine, 0, std::sin(1.3) + 0x1p-12, p));
  CHECK_FALSE(takes(sine, 0, std::sin(1.3) + 0x1p-10, p));
  CHECK(takes(sine, 1, 0.3, p));  // out of its range
  const IntervalArray inverse = c.of(c.b.unary(Op::RECIP, x), p);
  CHECK(takes(inverse, 0, ulps(static_cast<float>(1 / 1.3), 2), p));
  CHECK_FALSE(takes(inverse, 0, ulps(static_cast<float>(1 / 1.3), 4), p));
}

TEST_CASE("sums: nothing where they are exact, gamma where they are not") {
  const Profile p = exact_profile();
  Case c;
  std::vector<float> small, rough;
  for (int i = 0; i < 1000; ++i) {
    small.push_back(static_cast<float>(i % 17 - 8));
    rough.push_back(1.0f / static_cast<float>(i + 1));
  }
  const NodeRef x = c.in(floats(small)), y = c.in(floats(rough));
  const IntervalArray exact = c.of(c.b.reduce(Op::ADD, x, {0}), p);
  const double value = exact.value.at(0).as_double();
  CHECK(takes(exact, 0, value, p));
  CHECK_FALSE(takes(exact, 0, value + 1, p));
  CHECK(exact.exact());

  const IntervalArray sum = c.of(c.b.reduce(Op::ADD, y, {0}), p);
  std::mt19937 random(1);
  for (int round = 0; round < 20; ++round) {  // any order and grouping is right
    std::shuffle(rough.begin(), rough.end(), random);
    float total[8] = {};
    for (size_t i = 0; i < rough.size(); ++i) total[i % (1 + round % 8)] += rough[i];
    float all = 0;
    for (const float t : total) all += t;
    CHECK(takes(sum, 0, all, p));
  }
  CHECK_FALSE(takes(sum, 0, sum.value.at(0).as_double() - 1.0 / 1000, p));  // a lost term

  // A unit that cuts what falls below the greatest term loses 63 of these 64, and may.
  std::vector<float> low(64, 0x1.fcp-24f);
  low[0] = 1;
  const NodeRef z = c.in(floats(low));
  Profile cuts = p;
  cuts.cuts_sums = true;
  CHECK_FALSE(takes(c.of(c.b.reduce(Op::ADD, z, {0}), p), 0, 1, p));
  CHECK(takes(c.of(c.b.reduce(Op::ADD, z, {0}), cuts), 0, 1, cuts));
  CHECK_FALSE(takes(c.of(c.b.reduce(Op::ADD, z, {0}), cuts), 0, 1 - 0x1p-18, cuts));
  CHECK(relative_width(sum, 0) < 0.001);
}

TEST_CASE("dot products that flush lose subnormal factors, where nobody asked for exact ones") {
  const Profile plain = exact_profile();
  Profile flushes = plain;
  flushes.dots_flush[static_cast<size_t>(DType::kBF16)] = true;
  const auto may_be_lost = [&](DType dtype, bool products, Precision precision, const Profile& p) {
    Case c;
    const float tiny = dtype == DType::kBF16 ? 0x1p-130f : 0x1p-20f;  // subnormals of theirs
    NodeRef x = c.b.cast(c.in(floats({tiny, tiny / 2}, dtype)), kF);
    const NodeRef y = c.b.cast(c.in(floats({0x1p14f, 0x1p14f}, dtype)), kF);
    if (products) x = c.b.binary(Op::MUL, x, y);
    const IntervalArray sum = c.of(c.b.reduce(Op::ADD, x, {0}, DType::kVoid, precision), p);
    const double all = sum.value.at(0).as_double();
    CHECK(takes(sum, 0, all, p));
    CHECK_FALSE(takes(sum, 0, 4 * all, p));
    return takes(sum, 0, 0, p);
  };
  CHECK(may_be_lost(DType::kBF16, true, Precision::kDefault, flushes));
  CHECK_FALSE(may_be_lost(DType::kBF16, true, Precision::kExact, flushes));
  CHECK_FALSE(may_be_lost(DType::kBF16, true, Precision::kDefault, plain));
  CHECK_FALSE(may_be_lost(DType::kBF16, false, Precision::kDefault, flushes));
  CHECK_FALSE(may_be_lost(DType::kF16, true, Precision::kDefault, flushes));
}

TEST_CASE("infinities, NaN and overflow in sums") {
  const Profile p = exact_profile();
  const float inf = INFINITY, big = std::numeric_limits<float>::max();
  const auto sum = [&](const std::vector<float>& terms) {
    Case c;
    return c.of(c.b.reduce(Op::ADD, c.in(floats(terms)), {0}), p);
  };
  CHECK(takes(sum({1, inf, 2}), 0, INFINITY, p));
  CHECK_FALSE(takes(sum({1, inf, 2}), 0, NAN, p));
  CHECK(takes(sum({1, inf, -inf}), 0, NAN, p));
  CHECK_FALSE(takes(sum({1, inf, -inf}), 0, 1, p));
  CHECK(takes(sum({1, NAN, 2}), 0, NAN, p));
  CHECK(takes(sum({big, big, -big}), 0, INFINITY, p));
  CHECK(takes(sum({big, big, -big}), 0, big, p));
  CHECK(takes(sum({-big, big, -1e36f}), 0, -INFINITY, p));  // though in this order it is finite
  CHECK(takes(sum({-0.0f, -0.0f, -0.0f}), 0, -0.0, p));
  CHECK(takes(sum({-0.0f, -0.0f, -0.0f}), 0, 0.0, p));
}

TEST_CASE("max, signed zeros and NaN rules") {
  Profile p = exact_profile();
  Case c;
  const NodeRef a = c.in(floats({-0.0f, NAN, 1})), d = c.in(floats({0.0f, 1, 2}));
  IntervalArray m = c.of(c.b.binary(Op::MAX, a, d), p);
  CHECK(takes(m, 0, 0.0, p));
  CHECK_FALSE(takes(m, 0, -0.0, p));
  CHECK_FALSE(takes(m, 1, 1, p));
  p.numerics = kNoSignedZero | kNoNan;
  m = c.of(c.b.binary(Op::MAX, a, d), p);
  CHECK(takes(m, 0, -0.0, p));
  CHECK(takes(m, 1, 1, p));
  CHECK_FALSE(takes(m, 2, 1, p));
}

TEST_CASE("flush to zero only where it is declared") {
  Profile p = exact_profile();
  Case c;
  const NodeRef x = c.in(floats({1e-40f, 1e-20f})), y = c.in(floats({2, 1e-20f}));
  CHECK_FALSE(takes(c.of(c.b.binary(Op::MUL, x, y), p), 0, 0, p));
  p.numerics = kFlushInput;
  CHECK(takes(c.of(c.b.binary(Op::MUL, x, y), p), 0, 0, p));
  p.numerics = kFlushOutput;
  CHECK(takes(c.of(c.b.binary(Op::MUL, x, y), p), 1, 0, p));
  CHECK(takes(c.of(c.b.binary(Op::MUL, x, y), p), 1, 1e-20f * 1e-20f, p));
}

TEST_CASE("a reduction that begins with its identity may flush its first term") {
  // 0 + 2^-127 is a result, and becomes zero before 2^-126 joins it.
  const float tiny = 0x1p-127f, least = 0x1p-126f;
  const auto reduced = [&](Op op, const std::vector<float>& terms, uint32_t numerics) {
    Profile p = exact_profile();
    p.numerics = numerics;
    Case c;
    return std::pair(c.of(c.b.reduce(op, c.in(floats(terms)), {0}), p), p);
  };
  for (const std::vector<float>& terms : {std::vector{tiny, least}, std::vector{least, tiny}}) {
    const auto [sum, p] = reduced(Op::ADD, terms, kFlushOutput);
    CHECK(takes(sum, 0, least, p));
    CHECK(takes(sum, 0, least + tiny, p));
    CHECK_FALSE(takes(sum, 0, 2 * least, p));
    const auto [exact, strict] = reduced(Op::ADD, terms, 0);
    CHECK_FALSE(takes(exact, 0, least, strict));
  }
  const auto [most, p] = reduced(Op::MAX, {tiny}, kFlushOutput);
  CHECK(takes(most, 0, 0, p));
  CHECK(takes(most, 0, tiny, p));
  const auto [kept, strict] = reduced(Op::MAX, {tiny}, 0);
  CHECK_FALSE(takes(kept, 0, 0, strict));
}

TEST_CASE("a fused multiply-add keeps the sign of a product that underflows") {
  Profile p = exact_profile();
  Case c;
  const NodeRef tiny = c.b.constant(Scalar::of(DType::kF64, 0x1p-1000), {Dim(1)});
  const NodeRef small = c.b.constant(Scalar::of(DType::kF64, -0x1p-1000), {Dim(1)});
  const NodeRef zero = c.b.constant(Scalar::of(DType::kF64, 0), {Dim(1)});
  const NodeRef fused = c.b.binary(Op::ADD, c.b.binary(Op::MUL, tiny, small), zero);
  CHECK_FALSE(takes(c.of(fused, p), 0, -0.0, p));
  p.numerics = kContract;
  CHECK(takes(c.of(fused, p), 0, -0.0, p));
  CHECK(takes(c.of(fused, p), 0, 0.0, p));
}

TEST_CASE("a fused multiply-add breaks the tie of its product") {
  Profile p = exact_profile();
  Case c;
  const NodeRef x = c.in(floats({4097, 3}));  // 4097^2 = 2^24 + 2^13 + 1 lies on a half
  const NodeRef quarter = c.b.constant(Scalar::of(kF, 0x1p-40), {Dim(2)});
  const NodeRef sum = c.b.binary(Op::ADD, c.b.binary(Op::MUL, x, x), quarter);
  CHECK_FALSE(takes(c.of(sum, p), 0, 16785410, p));
  p.numerics = kContract;
  CHECK(takes(c.of(sum, p), 0, 16785410, p));
  CHECK(takes(c.of(sum, p), 0, 16785408, p));
  CHECK_FALSE(takes(c.of(sum, p), 1, ulps(9, 1), p));
}

TEST_CASE("a device that compares flushed operands may hand on either of them") {
  Profile p = exact_profile();
  Case c;
  const NodeRef x = c.in(floats({-0.0f, 1e-40f, 1e-20f})), y = c.in(floats({-1e-42f, 2e-40f, 0}));
  const NodeRef larger = c.b.binary(Op::MAX, x, y);
  CHECK_FALSE(takes(c.of(larger, p), 0, -1e-42f, p));
  CHECK_FALSE(takes(c.of(larger, p), 1, 1e-40f, p));
  p.numerics = kFlushInput;
  CHECK(takes(c.of(larger, p), 0, -1e-42f, p));
  CHECK(takes(c.of(larger, p), 1, 1e-40f, p));
  CHECK_FALSE(takes(c.of(larger, p), 2, 0, p));
}

TEST_CASE("the bits of an input's NaN are known, those of a computed one are not") {
  Profile p = exact_profile();
  Case c;
  Array nan = floats({1});
  nan.set(0, Scalar{kF, 0x7f800001});
  const NodeRef x = c.in(nan);
  const IntervalArray moved = c.of(c.b.bit_cast(c.b.flip(x, {0}), DType::kU32), p);
  CHECK(takes(moved, 0, 0x7f800001, p));
  CHECK_FALSE(takes(moved, 0, 0x7fc00001, p));
  const IntervalArray turned = c.of(c.b.bit_cast(c.b.unary(Op::NEG, x), DType::kU32), p);
  CHECK(takes(turned, 0, 0xff800001, p));
  CHECK_FALSE(takes(turned, 0, 0x7f800001, p));
  CHECK_FALSE(takes(turned, 0, 0x7fffffff, p));  // as NVIDIA's FADD has it
  const NodeRef sum = c.b.bit_cast(c.b.binary(Op::ADD, x, x), DType::kU32);
  CHECK(takes(c.of(sum, p), 0, 0x7fc00001, p));
  p.numerics = kNoNan;
  CHECK(takes(c.of(c.b.bit_cast(x, DType::kU32), p), 0, 0x7fc00001, p));
}

TEST_CASE("what memory holds packed in words is computed in f32") {
  Capabilities capabilities;
  for (DTypeCaps& dtype : capabilities.dtypes) dtype.arithmetic = true;
  CHECK(Profile::of(capabilities).arithmetic[static_cast<size_t>(DType::kF8E5M2)]);
  capabilities.storage_bytes = 4;
  CHECK_FALSE(Profile::of(capabilities).arithmetic[static_cast<size_t>(DType::kF8E5M2)]);
  CHECK(Profile::of(capabilities).arithmetic[static_cast<size_t>(kF)]);
}

TEST_CASE("what straddles a boundary is in doubt, what does not is not") {
  const Profile p = exact_profile();
  Case c;
  const NodeRef x = c.in(floats({2, 3.3f}));
  const NodeRef y = c.b.unary(Op::EXP2, x);  // 4 and about 9.85
  const IntervalArray whole = c.of(c.b.cast(y, DType::kI32), p);
  CHECK(takes(whole, 0, 4, p));
  CHECK(takes(whole, 0, 3, p));
  CHECK_FALSE(takes(whole, 0, 5, p));
  CHECK_FALSE(takes(whole, 1, 8, p));
  const NodeRef four = c.b.constant(Scalar::of(kF, 4), {Dim(2)});
  const NodeRef less = c.b.binary(Op::CMPLT, y, four);
  const IntervalArray small = c.of(less, p);
  CHECK(takes(small, 0, 1, p));
  CHECK(takes(small, 0, 0, p));
  CHECK_FALSE(takes(small, 1, 1, p));
  const IntervalArray chosen = c.of(c.b.where(less, four, x), p);
  CHECK(takes(chosen, 0, 4, p));
  CHECK(takes(chosen, 0, 2, p));
  CHECK_FALSE(takes(chosen, 1, 4, p));
  const IntervalArray taken = c.of(c.b.take(x, c.b.cast(y, DType::kI32), 0), p);
  CHECK(std::isinf(relative_width(taken, 0)));
  CHECK_FALSE(takes(taken, 1, 1, p));
}

TEST_CASE("a fused product in a sum may skip its rounding, elsewhere only if declared") {
  Profile p = exact_profile();
  Case c;
  const float a = 1 + 0x1p-12f;
  const NodeRef x = c.in(floats({a})), one = c.in(floats({-1}));
  const NodeRef product = c.b.binary(Op::MUL, x, x);
  const float fused = std::fmaf(a, a, -1), apart = a * a - 1;
  REQUIRE(fused != apart);
  CHECK_FALSE(takes(c.of(c.b.binary(Op::ADD, product, one), p), 0, fused, p));
  p.numerics = kContract;
  CHECK(takes(c.of(c.b.binary(Op::ADD, product, one), p), 0, fused, p));
  CHECK(takes(c.of(c.b.binary(Op::ADD, product, one), p), 0, apart, p));
}

TEST_CASE("optional ops: tight if claimed, as decomposed if not") {
  Profile claimed = exact_profile(), minimal = exact_profile();
  minimal.native_ops.fill(0);
  Case c;
  std::vector<float> xs, ys;
  for (int i = 1; i <= 500; ++i) {
    xs.push_back(static_cast<float>(i) * 0.37f);
    ys.push_back(static_cast<float>(i % 13) + 0.123f);
  }
  const NodeRef x = c.in(floats(xs)), y = c.in(floats(ys));
  const IntervalArray tight = c.of(c.b.binary(Op::FDIV, x, y), claimed);
  const IntervalArray loose = c.of(c.b.binary(Op::FDIV, x, y), minimal);
  int refused = 0;
  for (int64_t i = 0; i < 500; ++i) {
    const float other = xs[i] * (1 / ys[i]);
    CHECK(takes(loose, i, other, minimal));
    CHECK(takes(loose, i, xs[i] / ys[i], minimal));
    refused += !takes(tight, i, other, claimed);
  }
  CHECK(refused > 50);
}

TEST_CASE("distance in units") {
  CHECK(ulp_distance(Scalar::of(kF, 1), Scalar::of(kF, ulps(1, 3))) == 3);
  CHECK(ulp_distance(Scalar::of(kF, -0.0), Scalar::of(kF, 0.0)) == 0);
  CHECK(ulp_distance(Scalar::of(kF, NAN), Scalar::of(kF, NAN)) == 0);
  CHECK(std::isinf(ulp_distance(Scalar::of(kF, NAN), Scalar::of(kF, 1))));
  CHECK(ulp_distance(Scalar::of(kF, -0x1p-149), Scalar::of(kF, 0x1p-149)) == 2);
}

TEST_CASE("a reduction may fuse the products that feed it") {
  const Profile p = exact_profile();
  const auto dot = [&](const std::vector<float>& x, const std::vector<float>& y) {
    Case c;
    return c.of(c.b.reduce(Op::ADD, c.b.binary(Op::MUL, c.in(floats(x)), c.in(floats(y))), {0}), p);
  };
  // Both rounded products add exactly; one rounding the less gives a neighbour.
  const std::vector<float> x{0.9030477f, -0.5501561f}, y{1, 1.1425033f};
  const IntervalArray sum = dot(x, y);
  CHECK(takes(sum, 0, x[0] * y[0] + x[1] * y[1], p));
  CHECK(takes(sum, 0, std::fma(x[1], y[1], x[0] * y[0]), p));
  CHECK_FALSE(takes(sum, 0, 0.27450f, p));
  // Products of small integers do not round: then the sum is exact.
  CHECK_FALSE(takes(dot({2, 3}, {5, 7}), 0, std::nextafter(31.0f, 32.0f), p));
  // Subnormal products round by a fixed step, however small they are.
  const std::vector<float> u{-0.96974194f, -7.17e-43f}, v{-7.17e-43f, 5300.4385f};
  CHECK(takes(dot(u, v), 0, std::fma(u[1], v[1], u[0] * v[0]), p));
  // A product that overflows is finite when it is fused.
  CHECK(takes(dot({3e38f, -3e38f}, {16, 1e13f}), 0, -INFINITY, p));
  CHECK(takes(dot({3e38f, -3e38f}, {16, 1e13f}), 0, NAN, p));
}

TEST_CASE("a reduction may fuse products behind what does nothing to them") {
  const Profile p = exact_profile();
  const float x = 1 + 0x1p-12f, y = -1;
  const float fused = std::fmaf(x, x, y), apart = x * x + y;
  REQUIRE(fused != apart);
  Case c;
  const NodeRef a = c.in(floats({x, y})), b = c.in(floats({x, 1}));
  const NodeRef product = c.b.binary(Op::MUL, a, b);
  const NodeRef yes = c.b.constant({DType::kBool, 1}, product->shape);
  const NodeRef one = c.b.constant(Scalar::of(kF, 1), product->shape);
  const NodeRef other = c.b.constant(Scalar::of(kF, 2), product->shape);
  const auto sum_takes = [&](const NodeRef& terms) {
    return takes(c.of(c.b.reduce(Op::ADD, terms, {0}), p), 0, fused, p);
  };
  for (const NodeRef& same :
       {product, c.b.binary(Op::MIN, product, product), c.b.binary(Op::MAX, product, product),
        c.b.where(yes, product, product), c.b.where(yes, product, one),
        c.b.binary(Op::MUL, product, one), c.b.unary(Op::NEG, c.b.unary(Op::NEG, product))})
    CHECK(sum_takes(same));
  const NodeRef grown = c.b.binary(Op::MUL, product, other);  // and its own product is exact
  CHECK_FALSE(takes(c.of(c.b.reduce(Op::ADD, grown, {0}), p), 0, 2 * fused, p));
}

TEST_CASE("a decomposed optional op on narrow floats is rounded once, at its end") {
  Profile p = exact_profile();
  p.native_ops.fill(0);
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    p.arithmetic[static_cast<size_t>(dtype)] = false;
    Case c;
    std::vector<float> xs;
    for (int i = 1; i <= 4000; ++i) xs.push_back(static_cast<float>(i) * 0.61f);
    const Array narrow = floats(xs, dtype);
    const IntervalArray expected = c.of(c.b.unary(Op::COS, c.in(narrow)), p);
    int refused = 0;
    for (int64_t i = 0; i < narrow.count(); ++i) {
      const float sine = std::sin(static_cast<float>(narrow.at(i).as_double()) * 0.5f);
      refused += !takes(expected, i, 1 - 2 * (sine * sine), p);
      CHECK_FALSE(takes(expected, i, 1.1 - 2 * (sine * sine), p));
    }
    CHECK(refused == 0);
  }
}

TEST_CASE("cut factors of a contraction are accepted where the graph allows them, and only there") {
  const Profile p = exact_profile();
  const auto cut = [](float x, int bits) {
    const double unit = std::ldexp(1, std::ilogb(x) - bits + 1);
    return std::nearbyint(x / unit) * unit;
  };
  std::mt19937 random(3);
  std::uniform_real_distribution<float> pick(-4, 4);
  std::vector<float> x, y;
  for (int i = 0; i < 16; ++i) x.push_back(pick(random)), y.push_back(pick(random));
  const auto sum = [&](int bits) {
    double total = 0;
    for (size_t i = 0; i < x.size(); ++i)
      total += bits ? cut(x[i], bits) * cut(y[i], bits) : static_cast<double>(x[i]) * y[i];
    return total;
  };
  const double exact = sum(0), tf32 = sum(11), bf16 = sum(8);
  struct Row {
    Precision precision;
    bool takes_tf32, takes_bf16;
  };
  for (const auto& [precision, takes_tf32, takes_bf16] :
       {Row{Precision::kDefault, false, false}, Row{Precision::kExact, false, false},
        Row{Precision::kTf32, true, false}, Row{Precision::kBf16, true, true}}) {
    INFO(precision_name(precision));
    Case c;
    const NodeRef a = c.in(floats(x)), b = c.in(floats(y));
    const NodeRef total =
        c.b.reduce(Op::ADD, c.b.binary(Op::MUL, a, b), {0}, DType::kVoid, precision);
    const IntervalArray range = c.of(total, p);
    CHECK(takes(range, 0, static_cast<float>(exact), p));
    CHECK(takes(range, 0, static_cast<float>(tf32), p) == takes_tf32);
    CHECK(takes(range, 0, static_cast<float>(bf16), p) == takes_bf16);
    CHECK(!takes(range, 0, static_cast<float>(exact) + 1, p));
  }
}

TEST_CASE("a factor of all terms that follow a maximum may come after their sum") {
  const auto sum = [](float row, float column, bool follows) {
    Case c;
    const NodeRef x = c.in(floats({1, 0})), of_row = c.in(floats({row})), v = c.in(floats({2, 2}));
    const NodeRef of_column = c.in(floats({column, column}));
    const NodeRef top = c.b.expand(c.b.reduce(Op::MAX, x, {0}), {Dim(2)});
    const NodeRef power = c.b.unary(Op::EXP, c.b.binary(Op::SUB, x, follows ? top : v));
    const NodeRef weight = c.b.binary(Op::MUL, power, c.b.expand(of_row, {Dim(2)}));
    const NodeRef factor = c.b.binary(Op::MUL, weight, of_column);
    return c.of(c.b.reduce(Op::ADD, c.b.binary(Op::MUL, factor, v), {0}), exact_profile());
  };
  const Profile p = exact_profile();
  // (1 + 1/e) 2 3e38 overflows before it is multiplied by 0.
  CHECK(takes(sum(0, 3e38F, true), 0, NAN, p));
  CHECK_FALSE(takes(sum(0, 3e38F, false), 0, NAN, p));
  CHECK_FALSE(takes(sum(0, 1, true), 0, NAN, p));
  CHECK_FALSE(takes(sum(0, 1, true), 0, 1e-30, p));
  // What is lost below the smallest number comes back larger.
  CHECK(takes(sum(1e30F, 1e-45F, true), 0, 2 * 1e30F * 1e-45F, p));
  CHECK_FALSE(takes(sum(1e30F, 1e-45F, false), 0, 2 * 1e30F * 1e-45F, p));
  CHECK_FALSE(takes(sum(1e30F, 1e-20F, true), 0, 0, p));
}

TEST_CASE("infinity divided by what may be infinity may be NaN") {
  Profile flushes = exact_profile();
  flushes.strict = false;
  flushes.numerics = kFlushInput;
  Case c;
  const NodeRef x = c.in(floats({-INFINITY, 1})), y = c.in(floats({-3e-8f, -3e-8f})),
                tiny = c.in(floats({-1e-40f, -1e-40f}));
  const IntervalArray out = c.of(c.b.binary(Op::FDIV, x, c.b.binary(Op::FDIV, y, tiny)), flushes);
  CHECK(takes(out, 0, NAN, flushes));
  CHECK_FALSE(takes(out, 1, NAN, flushes));
}
