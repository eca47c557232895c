// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A line of a golden file of layers: run, and compared.
#pragma once

#include <cmath>
#include <vector>

#include "tenon/nn/nn.hpp"
#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"
#include "tests/tensor/goldens/golden.hpp"

#include <catch2/catch_test_macros.hpp>

namespace tenon::test {

using nn::Mode;

/// Within a part of the largest number; what is not finite is the same.
inline void check_close(const Array& got, const Array& want, double part) {
  REQUIRE(got.shape == want.shape);
  REQUIRE(got.dtype == want.dtype);
  double largest = 1e-3, worst = 0;
  int64_t at = 0;
  for (int64_t i = 0; i < want.count(); ++i) {
    const double a = got.at(i).as_double(), b = want.at(i).as_double();
    if (!std::isfinite(a) || !std::isfinite(b)) {
      INFO("element " << i << ": got " << a << ", expected " << b);
      CHECK(((std::isnan(a) && std::isnan(b)) || a == b));
      continue;
    }
    largest = std::max(largest, std::abs(b));
    if (std::abs(a - b) > worst) {
      worst = std::abs(a - b);
      at = i;
    }
  }
  INFO("worst at element " << at << " of " << want.count());
  CHECK(worst <= part * largest);
}

struct Given {
  const Case& test;
  Call call;
  size_t next = 0;

  int64_t integer(const char* key) const { return call.integer(key); }
  bool flag(const char* key) const { return call.integer(key) != 0; }
  template <int N>
  nn::PerAxis<N> each(const char* key) const {
    std::array<int64_t, N> out{};
    const std::vector<int64_t> values = call.integers(key);
    std::copy(values.begin(), values.end(), out.begin());
    return out;
  }
};

inline Tensor weigh(const Tensor& y) {
  return (y * arange(y.size(), DType::kF32, y.context()).cos().reshape(y.shape())).sum();
}

/// y and its gradients by the inputs of floats and by all parameters, and what the module keeps.
template <class M, class F>
Tensors run(Given& given, M module, const F& call) {
  const auto state = static_cast<size_t>(given.integer("state"));
  const std::vector<nn::Named> own = nn::tensors(module);
  REQUIRE(own.size() == state);
  for (size_t i = 0; i < state; ++i) {
    const Tensor& value = given.call.in[i];
    INFO(own[i].name);
    if (own[i].parameter)
      *own[i].parameter = value;
    else
      *own[i].tensor = value;
  }
  Tensors inputs(given.call.in.begin() + static_cast<int64_t>(state), given.call.in.end()), wrt;
  for (const Tensor& x : inputs)
    if (is_float(x.dtype())) wrt.push_back(x);
  for (const nn::Named& named : nn::parameters(module)) wrt.push_back(*named.tensor);
  const Mode mode = given.flag("training") ? Mode::training() : Mode();
  Tensor y = 0.0;
  M used = module;
  const ValueAndGrad found = value_and_grad([&](const Tensors& values) {
    auto next = values.begin();
    Tensors x = inputs;
    for (Tensor& input : x)
      if (is_float(input.dtype())) input = *next++;
    for (const nn::Named& named : nn::parameters(used)) *named.tensor = *next++;
    y = call(used, x, mode);
    return weigh(y);
  })(wrt);
  Tensors out{y};
  out.insert(out.end(), found.gradients.begin(), found.gradients.end());
  if (given.flag("training"))
    for (const nn::Named& named : nn::tensors(used))
      if (!named.is_learned) out.push_back(*named.tensor);
  return out;
}

template <class M>
Tensors run(Given& given, M module) {
  return run(given, std::move(module), [](M& used, const Tensors& x, const Mode& mode) {
    return nn::apply(used, x.at(0), mode);
  });
}

inline Tensors tensors_of(const std::vector<Array>& arrays, Context& context) {
  Tensors out;
  for (const Array& array : arrays) out.push_back(tensor(array, context));
  return out;
}

}  // namespace tenon::test
