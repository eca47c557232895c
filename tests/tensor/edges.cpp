// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ends of dtypes and of ranges that no table of points has: totals, indices, remainders, tails.
#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "tenon/gradient.hpp"
#include "tenon/index.hpp"
#include "tenon/linalg.hpp"
#include "tenon/literal.hpp"
#include "tenon/make.hpp"
#include "tenon/random.hpp"
#include "tenon/sort.hpp"
#include "tests/tensor/devices.hpp"
#include "tests/tensor/refusals.hpp"

namespace tenon::test {
namespace {

using Floats = std::vector<float>;

TEST_CASE("bools and small integers are counted in 64 bits") {
  on_each_device([](Context& context) {
    const Tensor bools = tensor({true, true, true, false}, context);
    const Tensor bytes = tensor<uint8_t>({200, 100}, context);
    const Tensor ints = tensor<int32_t>({INT32_MAX, INT32_MAX}, context);
    CHECK(bools.sum().item<int64_t>() == 3);
    CHECK(bools.prod().item<int64_t>() == 0);
    CHECK(bytes.sum().item<uint64_t>() == 300);
    CHECK(bytes.prod().item<uint64_t>() == 20000);
    CHECK(ints.sum().item<int64_t>() == 2 * int64_t{INT32_MAX});
    CHECK(bytes.cumsum().to_vector<uint64_t>() == std::vector<uint64_t>{200, 300});
    CHECK(ints.cumprod().to_vector<int64_t>()[1] == int64_t{INT32_MAX} * INT32_MAX);
    CHECK(bools.cumsum().to_vector<int64_t>() == std::vector<int64_t>{1, 2, 3, 3});
    CHECK(trace(tensor<int8_t>({{100, 0}, {0, 100}}, context)).item<int64_t>() == 200);
    CHECK(
        trace(tensor<int8_t>({{100, 0}, {0, 100}}, context), 0, 0, 1, DType::kI8).item<int8_t>() ==
        -56);
    // In a dtype that is asked for; of bools that is or, and.
    CHECK(bytes.sum({}, false, DType::kU8).item<uint8_t>() == 44);
    CHECK(bytes.sum(0, true, DType::kF32).to_vector<float>() == Floats{300});
    CHECK(bools.sum({}, false, DType::kBool).item<bool>());
    CHECK_FALSE(bools.prod({}, false, DType::kBool).item<bool>());
    CHECK(tensor<float>({0.5, 0.5}, context).sum({}, false, DType::kI32).item<int32_t>() == 0);
    CHECK(bools.cumsum(0, DType::kU8).to_vector<uint8_t>() == std::vector<uint8_t>{1, 2, 3, 3});
    // What is no sum keeps its dtype.
    CHECK(bools.any().item<bool>());
    CHECK(einsum("i->", {bytes}).item<uint8_t>() == 44);
    CHECK(bytes.matmul(bytes).dtype() == DType::kU8);
    // The mean of integers is a float, as a member too.
    CHECK(std::abs(tensor<int32_t>({1, 2, 4}, context).mean().item<float>() - 7.0F / 3) < 1e-6F);
    CHECK(tensor<uint8_t>({200, 100}, context).mean().item<float>() == 150);
    CHECK(tensor<int32_t>({1, 3}, context).var().item<float>() == 1);
  });
}

TEST_CASE("an index of u64 beyond the end is outside") {
  on_each_device([](Context& context) {
    const Tensor x = tensor<float>({1, 2, 3}, context);
    for (const uint64_t far : {UINT64_MAX, uint64_t{1} << 63, uint64_t{INT64_MAX}, uint64_t{3}}) {
      const Tensor at = tensor<uint64_t>({far, 1}, context);
      CHECK(get(x, {at}).to_vector<float>() == Floats{0, 2});
      CHECK(x.take(at, 0).to_vector<float>() == Floats{0, 2});
      CHECK(x.take_along_axis(at, 0).to_vector<float>() == Floats{0, 2});
      const Tensor values = tensor<float>({8, 9}, context);
      CHECK(set(x, {at}, values).to_vector<float>() == Floats{1, 9, 3});
      CHECK(x.put_along_axis(at, values, 0).to_vector<float>() == Floats{1, 9, 3});
      CHECK(x.put_along_axis(at, values, 0, Combine::kMax).to_vector<float>() == Floats{1, 9, 3});
      CHECK(x.scatter_add(0, at, values).to_vector<float>() == Floats{1, 11, 3});
    }
  });
}

TEST_CASE("a range that its dtype would round is refused") {
  on_each_device([](Context& context) {
    const auto last = [&](auto... of) {
      return arange(of..., context).astype(DType::kF64).take(-1, 0).template item<double>();
    };
    CHECK(last(0, 2049, 1, DType::kF16) == 2048);
    CHECK(last(2048, 4098, 2, DType::kF16) == 4096);
    CHECK(last(-2048, 2049, 1, DType::kF16) == 2048);
    CHECK(last(0, 1 << 20, 1 << 12, DType::kBF16) == (1 << 20) - (1 << 12));
    CHECK(last(Size(257), DType::kBF16) == 256);
    CHECK(last(int64_t{1} << 62, (int64_t{1} << 62) + 1, 1, DType::kF32) == 0x1p62);
    refuses([&] { last(0, 2051, 1, DType::kF16); },
            "[arange] expected numbers that f16 holds, got 2049");
    refuses([&] { last(0, -2051, -1, DType::kF16); }, "got -2049");
    refuses([&] { last(-2051, 0, 1, DType::kF16); }, "got -2051");
    refuses([&] { last(2050, 0, -1, DType::kF16); }, "got 2049");
    refuses([&] { last(-2050, 4000, 3, DType::kF16); }, "expected numbers that f16 holds");
    refuses([&] { last(2048, 8192, 2, DType::kF16); }, "got 4098");
    refuses([&] { last(Size(258), DType::kBF16); }, "got 257");
    refuses([&] { last(0, (int64_t{1} << 24) + 2, 1, DType::kF32); }, "got 16777217");
    refuses([&] { last(0.5, 1e6, 1.0, DType::kF16); }, "[arange] expected numbers that f16 holds");
  });
}

template <class T, class Bits>
void remainders_are_exact(Context& context) {
  std::mt19937_64 random(5);
  std::vector<T> a, b;
  while (a.size() < 4000) {
    const auto draw = [&] { return std::bit_cast<T>(static_cast<Bits>(random())); };
    T x = draw(), y = draw();
    if (a.size() % 4 == 0) y = static_cast<T>(std::ldexp(y, static_cast<int>(random() % 60)));
    if (a.size() % 4 == 1) x = y * static_cast<T>(random() % 1000);
    if (!std::isfinite(x) || !std::isfinite(y) || y == 0) continue;
    a.push_back(x), b.push_back(y);
  }
  const auto n = static_cast<int64_t>(a.size());
  const Tensor x = tensor(a, {n}, context), y = tensor(b, {n}, context);
  const std::vector<T> rest = fmod(x, y).template to_vector<T>();
  int wrong = 0;
  for (size_t i = 0; i < a.size(); ++i) wrong += rest[i] != std::fmod(a[i], b[i]);
  CHECK(wrong == 0);
}

TEST_CASE("fmod is exact") {
  on_each_device([](Context& context) {
    remainders_are_exact<float, uint32_t>(context);
    remainders_are_exact<double, uint64_t>(context);
  });
}

TEST_CASE("truncated normal draws in a tail") {
  on_each_device([](Context& context) {
    // Mean and deviation by numerical integration of the density.
    const auto check = [&](double low, double high, DType dtype) {
      INFO(low << " to " << high << " in " << dtype_name(dtype));
      constexpr int kSteps = 400000;
      const double end = std::min(high, low + 40 / low);
      double weight = 0, first = 0, second = 0;
      for (int i = 0; i < kSteps; ++i) {
        const double t = (i + 0.5) / kSteps * (end - low), p = std::exp(-t * (low + t / 2));
        weight += p, first += p * t, second += p * t * t;
      }
      const double mean = first / weight, deviation = std::sqrt(second / weight - mean * mean);
      const int64_t n = 1 << 15;
      for (const double sign : {1.0, -1.0}) {
        const Tensor x = sign > 0 ? truncated_normal(Key(5, context), {n}, low, high, dtype)
                                  : truncated_normal(Key(5, context), {n}, -high, -low, dtype);
        std::vector<double> values;
        if (dtype == DType::kF64)
          values = x.to_vector<double>();
        else
          for (const float v : x.to_vector<float>()) values.push_back(v);
        double sum = 0, squares = 0;
        bool inside = true;
        for (const double v : values) {
          inside = inside && sign * v >= static_cast<float>(low) && sign * v <= high;
          const double t = sign * v - low;
          sum += t, squares += t * t;
        }
        CHECK(inside);
        CHECK(std::abs(sum / n - mean) < 4 * deviation / std::sqrt(n) + 1e-6 * low);
        CHECK(std::abs(std::sqrt(squares / n - sum / n * sum / n) - deviation) <
              0.03 * deviation + 1e-6 * low);
      }
    };
    for (const DType dtype : {DType::kF32, DType::kF64}) {
      check(1, 3, dtype);
      check(6, 7, dtype);
      check(6, INFINITY, dtype);
      check(4, 4.001, dtype);
      check(50, 60, dtype);
    }
  });
}

TEST_CASE("functions of two take numbers beside a tensor of any context") {
  on_each_device([](Context& context) {
    const Tensor x = tensor<float>({0, NAN, 3}, context);
    CHECK(fmax(x, 2.0).to_vector<float>() == Floats{2, 2, 3});
    CHECK(fmin(2.0, x).to_vector<float>() == Floats{0, 2, 2});
    CHECK(lerp(tensor<float>({0, 4}, context), 8.0, 0.25).to_vector<float>() == Floats{2, 5});
    CHECK(logical_and(x, true).to_vector<bool>() == std::vector<bool>{false, true, true});
    CHECK(logical_or(0.5, x).to_vector<bool>() == std::vector<bool>{true, true, true});
    CHECK(logical_xor(x, 1).to_vector<bool>() == std::vector<bool>{true, false, false});
    const std::function<Tensor(const Tensor&)> functions[] = {
        [](const Tensor& v) { return hypot(v, 4.0); },
        [](const Tensor& v) { return atan2(1.0, v); },
        [](const Tensor& v) { return copysign(v, -1.0); },
        [](const Tensor& v) { return heaviside(v, 0.5); },
        [](const Tensor& v) { return logaddexp(v, 0.0); },
        [](const Tensor& v) { return xlogy(2.0, v); },
        [](const Tensor& v) { return pow(2.0, v); },
        [](const Tensor& v) { return prelu(v, 0.5); },
        [](const Tensor& v) { return divide(1.0, v); },
        [](const Tensor& v) { return fmod(v, 2.0); },
        [](const Tensor& v) { return remainder(7.0, v); },
        [](const Tensor& v) { return floor_divide(v, 2.0); },
        [](const Tensor& v) { return isclose(v, 3.0); },
        [](const Tensor& v) { return clip(v, 0.0, 1.0); },
        [](const Tensor& v) { return where(v > 0, 1.0, v); }};
    for (const auto& f : functions) CHECK(f(x).to_array().shape == std::vector<int64_t>{3});
  });
}

TEST_CASE("what depends on x by a power of 0 has the gradient 0") {
  on_each_device([](Context& context) {
    const Tensor x = tensor<float>({1, 2, NAN}, context);
    CHECK(x.pow(0).to_vector<float>() == Floats{1, 1, 1});
    CHECK(grad(x.pow(0).sum(), {x})[0].to_vector<float>() == Floats{0, 0, 0});
    CHECK(grad(norm(tensor<float>({3, 4}, context), 2).pow(0) + x.pow(0).sum(), {x})[0]
              .to_vector<float>() == Floats{0, 0, 0});
  });
}

TEST_CASE("a branch that is not taken contributes nothing where its slope is infinite") {
  on_each_device([](Context& context) {
    const Tensor x = tensor<float>({0, 1, 2}, context);
    const auto slope = [&](const std::function<Tensor(const Tensor&)>& f) {
      return grad(where(x > 1, f(x), x).sum(), {x})[0].to_vector<float>();
    };
    const std::function<Tensor(const Tensor&)> functions[] = {
        [](const Tensor& v) { return cbrt(v); },      [](const Tensor& v) { return acosh(v); },
        [](const Tensor& v) { return atanh(v / 3); }, [](const Tensor& v) { return v.log(); },
        [](const Tensor& v) { return v.pow(-1.5); },  [](const Tensor& v) { return v.sqrt(); },
        [](const Tensor& v) { return hypot(v, v); },  [](const Tensor& v) { return atan2(v, v); }};
    for (const auto& f : functions) {
      const Floats slopes = slope(f);
      CHECK(slopes[0] == 1);
      CHECK(slopes[1] == 1);
      CHECK(std::isfinite(slopes[2]));
    }
  });
}

}  // namespace
}  // namespace tenon::test
