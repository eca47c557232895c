// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Draws against their distributions: Kolmogorov and Smirnov's test of continuous ones, the
// chi-square test of counts, at a level of 10^-4 with fixed keys.
#include <algorithm>

#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"

using namespace tenon;
using test::on_each_device;

namespace {

using Cdf = std::function<double(double)>;
constexpr int64_t kDraws = 4000;

template <class T>
void check_continuous(std::vector<T> values, const Cdf& cdf) {
  std::ranges::sort(values);
  const auto n = static_cast<double>(values.size());
  double distance = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double p = cdf(static_cast<double>(values[i])), place = static_cast<double>(i);
    distance = std::max({distance, p - place / n, (place + 1) / n - p});
  }
  INFO("distance " << distance << " of " << values.size());
  CHECK(distance * std::sqrt(n) < 2.23);  // Q(2.23) = 10^-4
}

/// Counts of 0, 1, .. against chances; rare ones go together.
void check_counts(const std::vector<int64_t>& values, const std::vector<double>& chances) {
  std::vector<double> found(chances.size() + 1, 0);
  for (const int64_t v : values)
    ++found[v >= 0 && v < static_cast<int64_t>(chances.size()) ? static_cast<size_t>(v)
                                                               : chances.size()];
  const auto n = static_cast<double>(values.size());
  double square = 0, rest = n, rest_found = n;
  int cells = 0;
  for (size_t i = 0; i < chances.size(); ++i) {
    if (chances[i] * n < 8) continue;
    square += std::pow(found[i] - chances[i] * n, 2) / (chances[i] * n);
    rest -= chances[i] * n;
    rest_found -= found[i];
    ++cells;
  }
  if (rest > 8)
    square += std::pow(rest_found - rest, 2) / rest, ++cells;
  else
    CHECK(rest_found < rest + 6 * std::sqrt(rest + 1) + 1);
  const double freedom = cells - 1;
  // Wilson and Hilferty: the cube root is all but normal.
  const double z =
      (std::cbrt(square / freedom) - (1 - 2 / (9 * freedom))) / std::sqrt(2 / (9 * freedom));
  INFO("chi-square " << square << " of " << freedom);
  CHECK(z < 3.72);
}

double normal_cdf(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

/// P(a, x) by its series.
double gamma_cdf(double a, double x) {
  if (x <= 0) return 0;
  double term = 1 / a, sum = term;
  for (int k = 1; k < 500; ++k) sum += term *= x / (a + k);
  return sum * std::exp(-x + a * std::log(x) - std::lgamma(a));
}

/// By Simpson's rule on the arc sine scale, where it has no poles for a, b >= 1/2.
double beta_cdf(double a, double b, double x) {
  const double end = std::asin(std::sqrt(std::clamp(x, 0.0, 1.0)));
  const auto f = [&](double t) {
    return 2 * std::pow(std::sin(t), 2 * a - 1) * std::pow(std::cos(t), 2 * b - 1);
  };
  constexpr int kSteps = 400;
  double sum = 0;
  for (int i = 0; i <= kSteps; ++i)
    sum += f(end * i / kSteps) * (i == 0 || i == kSteps ? 1 : i % 2 ? 4 : 2);
  return sum * end / kSteps / 3 * std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b));
}

std::vector<double> poisson_chances(double rate) {
  std::vector<double> chances;
  for (int k = 0; k < rate + 12 * std::sqrt(rate) + 20; ++k)
    chances.push_back(std::exp(k * std::log(rate) - rate - std::lgamma(k + 1.0)));
  return chances;
}

}  // namespace

TEST_CASE("uniform, normal and exponential draws") {
  on_each_device([](Context& context) {
    const Key key(11, context);
    const auto unit = [](double x) { return std::clamp(x, 0.0, 1.0); };
    check_continuous(uniform(key, {kDraws}).to_vector<float>(), unit);
    check_continuous(uniform(key, {kDraws}, 0, 1, DType::kF64).to_vector<double>(), unit);
    check_continuous(uniform(key, {kDraws}, -2, 3).to_vector<float>(),
                     [&](double x) { return unit((x + 2) / 5); });
    check_continuous(normal(key, {kDraws}).to_vector<float>(), normal_cdf);
    check_continuous(normal(key, {kDraws}, 5, 0.5, DType::kF64).to_vector<double>(),
                     [](double x) { return normal_cdf((x - 5) / 0.5); });
    check_continuous(exponential(key, {kDraws}, 2).to_vector<float>(),
                     [](double x) { return 1 - std::exp(-2 * x); });
    for (const auto& [low, high] :
         {std::pair(-1.0, 2.0), std::pair(1.5, 3.0), std::pair(-8.0, 0.0)}) {
      const double below = normal_cdf(low), width = normal_cdf(high) - below;
      const auto cdf = [&](double x) { return (normal_cdf(x) - below) / width; };
      check_continuous(truncated_normal(key, {kDraws}, low, high).to_vector<float>(), cdf);
      check_continuous(truncated_normal(key, {kDraws}, low, high, DType::kF64).to_vector<double>(),
                       cdf);
    }
  });
}

TEST_CASE("gamma, beta and Dirichlet draws") {
  on_each_device([](Context& context) {
    const Key key(12, context);
    for (const double a : {0.3, 1.0, 2.5, 40.0})
      check_continuous(gamma(key, a, {kDraws}).to_vector<float>(),
                       [&](double x) { return gamma_cdf(a, x); });
    for (const auto& [a, b] : {std::pair(0.5, 0.5), std::pair(2.0, 5.0), std::pair(30.0, 1.0)})
      check_continuous(beta(key, a, b, {kDraws}).to_vector<float>(),
                       [&](double x) { return beta_cdf(a, b, x); });
    const Tensor alpha = tensor<float>({1, 2, 3.5}, context);
    const Tensor rows = dirichlet(key, alpha, {kDraws});
    CHECK(rows.shape() == std::vector<int64_t>{kDraws, 3});
    CHECK((rows.sum(1) - 1).abs().max().item<float>() < 1e-6f);
    for (int i = 0; i < 3; ++i) {
      const double a = std::vector<double>{1, 2, 3.5}[static_cast<size_t>(i)];
      check_continuous(rows.take(i, 1).to_vector<float>(),
                       [&](double x) { return beta_cdf(a, 6.5 - a, x); });
    }
  });
}

TEST_CASE("integers, counts and choices") {
  on_each_device([](Context& context) {
    const Key key(13, context);
    check_counts((randint(key, {kDraws}, 5, 16) - 5).to_vector<int64_t>(),
                 std::vector<double>(11, 1.0 / 11));
    check_counts(bernoulli(key, {kDraws}, 0.3).astype(DType::kI64).to_vector<int64_t>(),
                 {0.7, 0.3});
    for (const double rate : {0.4, 7.5, 10.0, 33.0, 900.0})
      check_counts(poisson(key, rate, {kDraws}).to_vector<int64_t>(), poisson_chances(rate));
    const Tensor p = tensor<float>({1, 2, 4, 1}, context);
    const std::vector<double> chances{0.125, 0.25, 0.5, 0.125};
    check_counts(categorical(key, p.log(), {kDraws}).to_vector<int64_t>(), chances);
    const Tensor four = arange(4, DType::kI64, context);
    check_counts(choice(key, four, {kDraws}, true, p).to_vector<int64_t>(), chances);
    check_counts(choice(key, four, {kDraws}).to_vector<int64_t>(), std::vector<double>(4, 0.25));
  });
}

TEST_CASE("orders have each element once, and every order comes") {
  on_each_device([](Context& context) {
    const Key key(14, context);
    std::vector<int64_t> order = permutation(key, 500).to_vector<int64_t>();
    CHECK_FALSE(std::ranges::is_sorted(order));
    std::ranges::sort(order);
    for (int64_t i = 0; i < 500; ++i) CHECK(order[static_cast<size_t>(i)] == i);
    const Tensor x = arange(6, DType::kF32, context).reshape({2, 3});
    CHECK(permutation(key, x, 1).sum().item<float>() == 15);
    std::vector<int64_t> firsts;
    std::vector<int64_t> seconds;
    const Tensor four = arange(4, DType::kI64, context);
    const Tensor p = tensor<float>({1, 1, 2, 4}, context);
    for (const Key& one : key.split(400)) {
      const auto some = choice(one, four, {3}, /*replace=*/false).to_vector<int64_t>();
      CHECK(some[0] != some[1]);
      CHECK(some[1] != some[2]);
      firsts.push_back(some[1]);
      seconds.push_back(choice(one, four, {2}, false, p).to_vector<int64_t>()[0]);
    }
    check_counts(firsts, std::vector<double>(4, 0.25));
    check_counts(seconds, {0.125, 0.125, 0.25, 0.5});
  });
}
