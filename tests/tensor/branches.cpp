// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of functions that are computed in branches, against central differences in f64: on both
// sides of every seam, far out, and at 0.
#include <cmath>

#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"

namespace tenon::test {
namespace {

using Unary = Tensor (*)(const Tensor&);
struct BranchRow {
  const char* name;
  Unary function;
  double low = -30, high = 30;  ///< where it is smooth
};

#define NAMED_MEMBER(name) #name, [](const Tensor& x) { return x.name(); }
#define NAMED_FREE(name) #name, [](const Tensor& x) { return name(x); }

const BranchRow kBranchRows[] = {
    {NAMED_MEMBER(tanh)},
    {NAMED_MEMBER(sigmoid)},
    {NAMED_MEMBER(gelu)},
    {NAMED_FREE(gelu_exact)},
    {NAMED_FREE(expm1), -30, 6},
    {NAMED_FREE(log1p), -0.99},
    {NAMED_FREE(log10), 0.01},
    {NAMED_FREE(tan), -1.2, 1.2},
    {NAMED_FREE(asin), -0.99, 0.99},
    {NAMED_FREE(acos), -0.99, 0.99},
    {NAMED_FREE(atan)},
    {NAMED_FREE(sinh), -6, 6},
    {NAMED_FREE(cosh), -6, 6},
    {NAMED_FREE(asinh)},
    {NAMED_FREE(acosh), 1.01},
    {NAMED_FREE(atanh), -0.99, 0.99},
    {NAMED_FREE(erf)},
    {NAMED_FREE(erfc)},
    {NAMED_FREE(cbrt), 0.01},
    {NAMED_FREE(softplus)},
    {NAMED_FREE(log_sigmoid)},
    {NAMED_FREE(silu)},
    {NAMED_FREE(mish)},
    {"x^2.5", [](const Tensor& x) { return x.pow(2.5); }, 0.01},
    {"x^-1.5", [](const Tensor& x) { return x.pow(-1.5); }, 0.1},
    {"x^11", [](const Tensor& x) { return x.pow(11); }, -1.5, 1.5},
    {"x^x", [](const Tensor& x) { return pow(x, x); }, 0.01, 3},
    {"1.5^x", [](const Tensor& x) { return pow(full_like(x, 1.5), x); }, -9, 9},
    {"atan2(x, 2)", [](const Tensor& x) { return atan2(x, full_like(x, 2)); }},
    {"atan2(-1, x)", [](const Tensor& x) { return atan2(full_like(x, -1), x); }},
    {"hypot(x, 2)", [](const Tensor& x) { return hypot(x, full_like(x, 2)); }},
    {"logaddexp(x, 1)", [](const Tensor& x) { return logaddexp(x, full_like(x, 1)); }},
    {"xlogy(x, x)", [](const Tensor& x) { return xlogy(x, x); }, 0.01},
    {"fmod(x, 70)", [](const Tensor& x) { return fmod(x, full_like(x, 70)); }, 0.01},
    {"remainder(50, x)", [](const Tensor& x) { return remainder(full_like(x, 50), x); }, 26, 30},
};

TEST_CASE("gradients of functions in branches are those of the functions") {
  on_each_device([](Context& context) {
    for (const BranchRow& row : kBranchRows) {
      std::vector<double> points;
      for (const double at :
           {0.0,  0.1, 0.3, 0.4142, 0.45, 0.5, 0.62, 0.65, 0.67, 0.8,  0.84, 0.9,
            0.97, 1.0, 1.1, 1.3,    2.0,  2.5, 3.0,  5.0,  8.0,  15.0, 19.0, 27.0})
        for (const double x : {at, -at})
          if (row.low <= x && x <= row.high) points.push_back(x);
      const auto count = static_cast<int64_t>(points.size());
      const double h = 1e-5;
      const Tensor x = tensor<double>(points, {count}, context);
      const auto got = grad(row.function(x), {x}, ones_like(x))[0].to_vector<double>();
      const auto ahead = row.function(x + h).to_vector<double>();
      const auto behind = row.function(x - h).to_vector<double>();
      const auto value = row.function(x).to_vector<double>();
      for (size_t i = 0; i < points.size(); ++i) {
        const double want = (ahead[i] - behind[i]) / (2 * h);
        INFO(row.name << " at " << points[i] << ": got " << got[i] << ", expected " << want);
        CHECK(std::abs(got[i] - want) <= 1e-7 * (1 + std::abs(want) + std::abs(value[i])));
      }
    }
  });
}

TEST_CASE("gradients of activations are finite far out") {
  const std::pair<const char*, Unary> rows[] = {
      {NAMED_MEMBER(tanh)},
      {NAMED_MEMBER(sigmoid)},
      {NAMED_MEMBER(gelu)},
      {NAMED_FREE(gelu_exact)},
      {NAMED_FREE(softplus)},
      {NAMED_FREE(log_sigmoid)},
      {NAMED_FREE(silu)},
      {NAMED_FREE(mish)},
      {NAMED_FREE(erf)},
      {NAMED_FREE(erfc)},
      {NAMED_FREE(atan)},
      {NAMED_FREE(asinh)},
      {NAMED_FREE(selu)},
      {NAMED_FREE(hardswish)},
      {NAMED_FREE(hardsigmoid)},
      {NAMED_FREE(relu6)},
      {"elu", [](const Tensor& x) { return elu(x); }},
      {"celu", [](const Tensor& x) { return celu(x, 2); }},
      {"leaky_relu", [](const Tensor& x) { return leaky_relu(x); }},
  };
  on_each_device([&](Context& context) {
    for (const auto& [name, function] : rows) {
      for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
        const Tensor x =
            tensor<float>({-1e4, -300, -80, -20, 0, 20, 80, 300, 1e4}, context).astype(dtype);
        const Tensor y = function(x), g = grad(y, {x}, ones_like(x))[0];
        INFO(name << " of " << dtype_name(dtype));
        for (const Tensor& t : {y, g})
          for (const float v : t.astype(DType::kF32).to_vector<float>()) CHECK(std::isfinite(v));
      }
    }
  });
}

}  // namespace
}  // namespace tenon::test
