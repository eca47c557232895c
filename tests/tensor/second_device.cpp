// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions that store into constants, and loops that begin with them, beside a device that is not
// theirs.
#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"

namespace tenon::test {
namespace {

using Function1 = std::function<Tensor(const Tensor&)>;

Tensor slope(const Function1& f, const Tensor& x) {
  const auto loss = [&](const std::vector<Tensor>& in) { return f(in[0]).sum(); };
  return value_and_grad(loss)({x}).gradients[0];
}

TEST_CASE("functions and gradients on the second device are those of the first") {
  if (plugin_files().size() < 2) SKIP("one plugin alone is built");
  Context context(cpu_and_null());
  const Tensor x = tensor<float>({{4, 1}, {1, 3}}, context);
  const Tensor there = x.to("null");
  realize({there});
  const Function1 functions[] = {
      [](const Tensor& a) { return cumsum(a); },
      [](const Tensor& a) { return det(a); },
      [](const Tensor& a) { return cholesky(a); },
      [](const Tensor& a) { return a.take(argsort(a.take(0, 1)), 0); },
      [](const Tensor& a) { return checkpoint([](const auto& in) { return in; })({a * a})[0]; },
  };
  for (const Function1& f : functions) {
    CHECK(f(there).device() == "null:0");
    const std::vector<float> value = f(x).to_vector<float>(), other = f(there).to_vector<float>();
    const std::vector<float> own = slope(f, x).to_vector<float>();
    const std::vector<float> others = slope(f, there).to_vector<float>();
    REQUIRE(value.size() == other.size());
    REQUIRE(own.size() == others.size());
    for (size_t i = 0; i < value.size(); ++i) CHECK(std::abs(value[i] - other[i]) < 1e-5f);
    for (size_t i = 0; i < own.size(); ++i) CHECK(std::abs(own[i] - others[i]) < 1e-5f);
  }
}

}  // namespace
}  // namespace tenon::test
