// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tensors compute, on every plugin, against plain loops in C++.
#include <catch2/matchers/catch_matchers_string.hpp>
#include <numeric>
#include <random>

#include "core/support/error.hpp"
#include "tenon/literal.hpp"
#include "tenon/make.hpp"
#include "tenon/move.hpp"
#include "tenon/random.hpp"
#include "tenon/tensor.hpp"
#include "tests/tensor/devices.hpp"

using namespace tenon;
using test::on_each_device;

namespace {

using F = std::vector<float>;
using I = std::vector<int64_t>;

F random_floats(int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-2, 2);
  F values(static_cast<size_t>(n));
  for (float& v : values) v = uniform(random);
  return values;
}

Tensor tensor(Context& context, const F& values, I shape) {
  return tensor<float>(std::span<const float>(values), std::move(shape), context);
}

void check_near(const F& got, const F& want, float tolerance) {
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    INFO("element " << i << ": got " << got[i] << ", expected " << want[i]);
    CHECK(std::abs(got[i] - want[i]) <= tolerance);
  }
}

}  // namespace

TEST_CASE("matmul, also batched and of vectors") {
  on_each_device([](Context& context) {
    const int64_t b = 2, m = 5, k = 7, n = 3;
    const F x = random_floats(b * m * k, 1), y = random_floats(k * n, 2);
    F want(b * m * n, 0);
    for (int64_t i = 0; i < b * m; ++i)
      for (int64_t j = 0; j < n; ++j)
        for (int64_t t = 0; t < k; ++t) want[i * n + j] += x[i * k + t] * y[t * n + j];
    const Tensor tx = tensor(context, x, {b, m, k}), ty = tensor(context, y, {k, n});
    const Tensor product = tx.matmul(ty);
    CHECK(product.shape() == I{b, m, n});
    check_near(product.to_vector<float>(), want, 1e-5f);
    const Tensor row = tensor(context, {1, 2, 3}, {3});
    CHECK(row.matmul(row).item<float>() == 14);
    CHECK(row.matmul(tensor(context, {1, 0, 0, 1, 1, 1}, {3, 2})).to_vector<float>() == F{4, 5});
  });
}

TEST_CASE("softmax, layer norm, mean and variance") {
  on_each_device([](Context& context) {
    const int64_t rows = 4, n = 9;
    const F x = random_floats(rows * n, 3);
    F soft(x.size()), norm(x.size());
    for (int64_t r = 0; r < rows; ++r) {
      double total = 0, mean = 0, variance = 0;
      for (int64_t i = 0; i < n; ++i) total += std::exp(double(x[r * n + i]));
      for (int64_t i = 0; i < n; ++i) mean += x[r * n + i] / double(n);
      for (int64_t i = 0; i < n; ++i) variance += std::pow(x[r * n + i] - mean, 2) / double(n);
      for (int64_t i = 0; i < n; ++i) {
        soft[r * n + i] = static_cast<float>(std::exp(double(x[r * n + i])) / total);
        norm[r * n + i] = static_cast<float>((x[r * n + i] - mean) / std::sqrt(variance + 1e-5));
      }
    }
    const Tensor t = tensor(context, x, {rows, n});
    check_near(t.softmax().to_vector<float>(), soft, 1e-6f);
    check_near(t.layer_norm().to_vector<float>(), norm, 1e-5f);
    check_near(t.matrix_transpose().softmax(0).matrix_transpose().to_vector<float>(), soft, 1e-6f);
  });
}

TEST_CASE("unary compositions") {
  on_each_device([](Context& context) {
    const F x = random_floats(64, 4);
    const Tensor t = tensor(context, x, {64});
    const auto check = [&](const Tensor& got, double (*f)(double)) {
      F want;
      for (const float v : x) want.push_back(static_cast<float>(f(v)));
      check_near(got.to_vector<float>(), want, 4e-6f);
    };
    check(t.tanh(), [](double v) { return std::tanh(v); });
    check(t.sigmoid(), [](double v) { return 1 / (1 + std::exp(-v)); });
    check(t.relu(), [](double v) { return v > 0 ? v : 0; });
    check(t.abs(), [](double v) { return std::abs(v); });
    check(t.exp(), [](double v) { return std::exp(v); });
    check(t.cos(), [](double v) { return std::cos(v); });
    check(t.floor(), [](double v) { return std::floor(v); });
    check(t.trunc(), [](double v) { return std::trunc(v); });
    check(t.pow(3), [](double v) { return v * v * v; });
    check(t.square().log(), [](double v) { return std::log(v * v); });
    check(t.gelu(), [](double v) {
      return 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
    });
  });
}

TEST_CASE("argmax takes the first of equals, and NaN before all") {
  on_each_device([](Context& context) {
    const Tensor t = tensor(context, {1, 7, 7, 0, NAN, 9, 3, NAN, -1, -1, -1, -2}, {3, 4});
    CHECK(t.argmax(1).to_vector<int64_t>() == I{1, 0, 0});
    CHECK(t.argmax(0).to_vector<int64_t>() == I{1, 1, 0, 1});
  });
}

TEST_CASE("slices, concatenation, padding, cumulative sums") {
  on_each_device([](Context& context) {
    F x(12);
    std::iota(x.begin(), x.end(), 0.0f);
    const Tensor t = tensor(context, x, {3, 4});
    CHECK(t.slice({{1, 3}, {-2, {}}}).to_vector<float>() == F{6, 7, 10, 11});
    CHECK(t.take(-1, 0).to_vector<float>() == F{8, 9, 10, 11});
    CHECK(t.flip(1).take(0, 0).to_vector<float>() == F{3, 2, 1, 0});
    const Tensor joined = concatenate({t.slice({{0, 1}}), t.slice({{2, 3}}), t}, 0);
    CHECK(joined.shape() == I{5, 4});
    CHECK(joined.sum(1).to_vector<float>() == F{6, 38, 6, 22, 38});
    CHECK(concatenate({t, t}, 1).take(1, 0).to_vector<float>() == F{4, 5, 6, 7, 4, 5, 6, 7});
    CHECK(t.take(0, 0).pad({{1, 2}}, 9).to_vector<float>() == F{9, 0, 1, 2, 3, 9, 9});
    CHECK(t.cumsum(1).take(1, 0).to_vector<float>() == F{4, 9, 15, 22});
    CHECK(t.cumsum(0).take(2, 0).to_vector<float>() == F{12, 15, 18, 21});
  });
}

TEST_CASE("gather, take, scatter") {
  on_each_device([](Context& context) {
    const Tensor t = tensor(context, {1, 2, 3, 4, 5, 6}, {3, 2});
    const Tensor rows = tensor<int64_t>({2, 0, 5}, context);
    CHECK(t.take(rows, 0).to_vector<float>() == F{5, 6, 1, 2, 0, 0});
    const Tensor zeros = tenon::zeros({4}, DType::kF32, context);
    const Tensor at = tensor<int64_t>({1, 3, 1}, context);
    const Tensor values = tensor(context, {10, 20, 30}, {3});
    CHECK(zeros.scatter(0, at, values).to_vector<float>() == F{0, 30, 0, 20});
    CHECK(zeros.scatter_add(0, at, values).to_vector<float>() == F{0, 40, 0, 20});
  });
}

TEST_CASE("integers, bools and casts") {
  on_each_device([](Context& context) {
    const Tensor a = tensor<int32_t>({-7, 7, 5, INT32_MIN}, context);
    const Tensor b = tensor<int32_t>({2, -2, 0, -1}, context);
    CHECK((a / b).to_vector<int32_t>() == std::vector<int32_t>{-3, -3, 0, INT32_MIN});
    CHECK((a % b).to_vector<int32_t>() == std::vector<int32_t>{-1, 1, 5, 0});
    CHECK((a < b).astype(DType::kI32).to_vector<int32_t>() == std::vector<int32_t>{1, 0, 0, 1});
    CHECK((a * 2).to_vector<int32_t>() == std::vector<int32_t>{-14, 14, 10, 0});
    const Tensor half = tensor(context, {1.0f, 1.0009765f, 70000.0f}, {3}).astype(DType::kF16);
    CHECK(half.to_vector<float>() == F{1, 1.0009765625f, INFINITY});
    CHECK((half.slice({{0, 2}}) + half.slice({{0, 2}})).to_vector<float>() == F{2, 2.001953125f});
  });
}

TEST_CASE("random numbers are the same everywhere, and uniform") {
  F first;
  on_each_device([&](Context& context) {
    const F u = uniform(Key(42, context), {2000}).to_vector<float>();
    if (first.empty()) first = u;
    CHECK(u == first);
    double mean = 0;
    for (const float v : u) {
      CHECK((v >= 0 && v < 1));
      mean += v / 2000;
    }
    CHECK(std::abs(mean - 0.5) < 0.03);
    CHECK(uniform(Key(43, context), {8}).to_vector<float>() != F(u.begin(), u.begin() + 8));
    const F normal = tenon::normal(Key(7, context), {2000}).to_vector<float>();
    double square = 0;
    for (const float v : normal) square += v * v / 2000;
    CHECK(std::abs(square - 1) < 0.1);
  });
}

TEST_CASE("softmax and variance of narrow floats round once") {
  on_each_device([](Context& context) {
    const Tensor x = tensor(context, random_floats(4 * 96, 5), {4, 96}) * 3;
    for (const DType dtype : {DType::kF16, DType::kBF16}) {
      const Tensor narrow = x.astype(dtype), wide = narrow.astype(DType::kF32);
      const auto same = [](const Tensor& a, const Tensor& b) {
        CHECK(a.dtype() == b.dtype());
        CHECK(a.to_vector<float>() == b.to_vector<float>());
      };
      same(narrow.softmax(-1), wide.softmax(-1).astype(dtype));
      same(narrow.var(1), wide.var(1).astype(dtype));
    }
  });
}
