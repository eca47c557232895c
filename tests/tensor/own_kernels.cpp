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
    const Tensor x = tensor<float>({1, 200}, context);
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

TEST_CASE("kernels of one's own reach what was compiled before") {
  on_each_device([](Context& context) {
    const auto f = compile([](const Tensor& x) { return x * 2 + x; });
    const Tensor x = tensor<float>({1, 2, 3, 4}, context);
    const std::vector<float> expected{3, 6, 9, 12};
    CHECK(f(x).to_vector<float>() == expected);
    const std::vector<KernelInfo> kernels = context.kernels();
    REQUIRE(kernels.size() == 1);
    const std::string name = kernels[0].name;
    context.set_transforms(name, "split a9 2");
    refuses([&] { f(x); }, "[kernel] " + name + " with the transforms set for " + name);
    context.set_transforms(name, "split a0 2");
    CHECK(f(x).to_vector<float>() == expected);
    CHECK(context.kernels()[0].transforms == "split a0 2");
    const std::string program =
        "program mine(%x: global f32 read, %y: global f32 write) workgroup 1 1 1 {\n"
        "  %i = index grid.x : i32\n"
        "  %v = load %x, %i : f32\n"
        "  %k = const 3.0 : f32\n"
        "  %p = mul %v, %k : f32\n"
        "  store %y, %i, %p\n"
        "}\n";
    context.set_program(name, program, {3, 1, 1});
    refuses([&] { f(x); }, " with the program set for it: output 0, element 3: expected ");
    context.set_program(name, program, {4, 1, 1});
    CHECK(f(x).to_vector<float>() == expected);
    refuses([&] { context.set_program(name, "program", {1, 1, 1}); }, "[program] ");
    CHECK(f(x).to_vector<float>() == expected);
    context.reset_kernel(name);
    CHECK(f(x).to_vector<float>() == expected);
    CHECK(f.traces() == 1);
  });
}
