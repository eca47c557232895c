// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions against the C library's in the next wider float, on numbers from all of their range.
#include <bit>
#include <cmath>

#include "core/interval/interval.hpp"
#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"

namespace tenon::test {
namespace {

struct AccuracyRow {
  const char* name;
  Tensor (*function)(const Tensor&);
  long double (*exact)(long double);
  double f32, f64;  ///< ULPs
};

#define MEMBER(name) [](const Tensor& x) { return x.name(); }
#define FREE(name) [](const Tensor& x) { return name(x); }
#define EXACT(formula) [](long double x) -> long double { return formula; }

const AccuracyRow kAccuracyRows[] = {
    {"expm1", FREE(expm1), EXACT(std::expm1(x)), 2, 3},
    {"log1p", FREE(log1p), EXACT(std::log1p(x)), 2, 2},
    {"log10", FREE(log10), EXACT(std::log10(x)), 2, 2},
    {"asin", FREE(asin), EXACT(std::asin(x)), 2, 2},
    {"acos", FREE(acos), EXACT(std::acos(x)), 2, 2},
    {"atan", FREE(atan), EXACT(std::atan(x)), 3, 2},
    {"sinh", FREE(sinh), EXACT(std::sinh(x)), 3, 3},
    {"cosh", FREE(cosh), EXACT(std::cosh(x)), 3, 3},
    {"tanh", MEMBER(tanh), EXACT(std::tanh(x)), 2, 4},
    {"asinh", FREE(asinh), EXACT(std::asinh(x)), 3, 3},
    {"acosh", FREE(acosh), EXACT(std::acosh(x)), 3, 3},
    {"atanh", FREE(atanh), EXACT(std::atanh(x)), 3, 3},
    {"erf", FREE(erf), EXACT(std::erf(x)), 2, 2},
    {"erfc", FREE(erfc), EXACT(std::erfc(x)), 5, 5},
    {"cbrt", FREE(cbrt), EXACT(std::cbrt(x)), 1, 1},
    {"sigmoid", MEMBER(sigmoid), EXACT(1 / (1 + std::exp(-x))), 3, 3},
    {"softplus", FREE(softplus), EXACT(std::fmax(x, 0.0L) + std::log1p(std::exp(-std::fabs(x)))), 2,
     2},
    {"x^2.25", [](const Tensor& x) { return pow(x, full_like(x, 2.25)); },
     EXACT(std::pow(x, 2.25L)), 2, 2},
    {"pow(101)", [](const Tensor& x) { return x.pow(101); }, EXACT(std::pow(x, 101.0L)), 2, 2},
    {"pow(-3)", [](const Tensor& x) { return x.pow(-3); }, EXACT(std::pow(x, -3.0L)), 4, 4},
    {"pow(8)", [](const Tensor& x) { return x.pow(8); }, EXACT(std::pow(x, 8.0L)), 5, 5},
    {"1.75^x", [](const Tensor& x) { return pow(full_like(x, 1.75), x); },
     EXACT(std::pow(1.75L, x)), 2, 2},
};

/// Every exponent, sign and 2^11 or 2^8 mantissas; then as many near 1.
template <class T>
std::vector<T> numbers() {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  std::vector<T> values;
  constexpr int kCount = 1 << 17;
  const Bits stride = static_cast<Bits>(~Bits{0} / kCount) | 1;
  Bits bits = 12345;
  for (int i = 0; i < kCount; ++i, bits += stride) {
    const T x = std::bit_cast<T>(bits);
    if (std::isfinite(x)) values.push_back(x);
    values.push_back(static_cast<T>((i - kCount / 2) * (40.0 / kCount) + 1e-9 * i));
  }
  return values;
}

template <class T>
double worst(const AccuracyRow& row, const std::vector<T>& values, Context& context, T* where) {
  constexpr DType dtype = DTypeOf<T>::value;
  const auto count = static_cast<int64_t>(values.size());
  const auto got =
      row.function(tensor<T>(std::span<const T>(values), {count}, context)).template to_vector<T>();
  double most = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const long double exact = row.exact(values[i]);
    const auto want = static_cast<T>(exact);
    const double off = ulp_distance(Scalar::of(dtype, got[i]), Scalar::of(dtype, want));
    if (!(off <= most)) {
      most = off;
      *where = values[i];
    }
  }
  return most;
}

TEST_CASE("functions stay within their ULPs over all of their range") {
  ContextOptions options;
  options.plugins = plugin_files();
  options.devices = "cpu";
  options.use_environment = false;
  options.disk_cache = false;
  Context context(options);
  const auto singles = numbers<float>();
  const auto doubles = numbers<double>();
  for (const AccuracyRow& row : kAccuracyRows) {
    float single = 0;
    const double f32 = worst(row, singles, context, &single);
    INFO(row.name << " f32: " << f32 << " ULP at " << single);
    CHECK(f32 <= row.f32);
    double wide = 0;
    const double f64 = worst(row, doubles, context, &wide);
    INFO(row.name << " f64: " << f64 << " ULP at " << wide);
    CHECK(f64 <= row.f64);
  }
}

}  // namespace
}  // namespace tenon::test
