// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an application adds to a context, seen from its tensors.
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"
#include "tests/tensor/refusals.hpp"

using namespace tenon;
using namespace tenon::test;

TEST_CASE("rules reach what was compiled before") {
  on_each_device([](Context& context) {
    const auto f = compile([](const Tensor& x) { return x.exp().log() + 1; });
    const Tensor x = Tensor::from<float>({1, 200}, {2}, context);
    CHECK(std::isinf(f(x).to_vector<float>()[1]));
    refuses([&] { context.add_rules("log_of_exp: ln(exp(x)) -> x where f32", "my.rules"); },
            "my.rules:1: expected equal sides of 'log_of_exp', got for f32 with x = ");
    CHECK(std::isinf(f(x).to_vector<float>()[1]));
    context.add_rules("log_of_exp: ln(exp(x)) -> x where float approximate");
    CHECK(f(x).to_vector<float>() == std::vector<float>{2, 201});
    CHECK(f.traces() == 1);
    CHECK(x.exp().log().to_vector<float>() == std::vector<float>{1, 200});
  });
}
