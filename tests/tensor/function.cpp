// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions from text, called on tensors.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"

using namespace tenon;
using namespace tenon::test;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr const char* kSquares = R"(
graph squares(%x: f32[n], %w: f32[1]) where 1 <= n <= 100 {
  %v = expand %w : f32[n]
  %p = mul %v, %x
  %s = mul %p, %p
  %loss = reduce.add %s, axes=[0]
  return %loss, %p
}
)";

Tensor floats(Context& context, const std::vector<float>& values) {
  return tensor(values, {static_cast<int64_t>(values.size())}, context);
}

}  // namespace

TEST_CASE("a function from text is called on tensors") {
  on_each_device([](Context& context) {
    const Function squares = Function::parse(kSquares, context);
    CHECK(squares.inputs().size() == 2);
    CHECK(squares.inputs()[0].name == "x");
    CHECK(squares.inputs()[0].sizes[0].text() == "n");
    CHECK(squares.outputs()[1].dtype == DType::kF32);
    for (const int64_t n : {3, 1, 100}) {
      const Tensor x = arange(n, DType::kF32, context) + 1;
      const std::vector<Tensor> out = context.call(squares, {x, floats(context, {2})});
      CHECK(out[1].shape() == std::vector<int64_t>{n});
      CHECK(out[0].item<float>() == (2 * x).square().sum().item<float>());
    }
    context.prepare(squares, {floats(context, {1, 2}), floats(context, {1})});
  });
}

TEST_CASE("a number is an input of a function of one element's shape") {
  on_each_device([](Context& context) {
    const Function twice =
        Function::parse("graph twice(%x: f32[]) {\n  %y = add %x, %x\n  return %y\n}\n", context);
    CHECK(context.call(twice, {Tensor(1.5)})[0].item<float>() == 3);
  });
}

TEST_CASE("gradients go through the call of a function") {
  on_each_device([](Context& context) {
    std::string text = kSquares;
    const auto write_over = [&text](std::string_view part, std::string_view by) {
      for (size_t at; (at = text.find(part)) != std::string::npos;)
        text.replace(at, part.size(), by);
    };
    write_over("[n]", "[3]");
    write_over(" where 1 <= n <= 100", "");
    const Function squares = Function::parse(text, context);
    const Tensor x = floats(context, {1, 2, 3}), w = floats(context, {2});
    const Tensor loss = context.call(squares, {x * 2, w})[0].sum();
    const std::vector<Tensor> slopes = grad(loss, {x, w});
    CHECK(slopes[0].to_vector<float>() == std::vector<float>{32, 64, 96});
    CHECK(slopes[1].to_vector<float>() == std::vector<float>{224});
  });
}

TEST_CASE("a gradient through the call of a function with symbols is an error") {
  on_each_device([](Context& context) {
    const Function squares = Function::parse(kSquares, context);
    const Tensor x = floats(context, {1, 2, 3}), w = floats(context, {2});
    const Tensor loss = context.call(squares, {x, w})[0].sum();
    CHECK_THROWS_WITH(grad(loss, {w}), ContainsSubstring("squares"));
  });
}

TEST_CASE("the gradient of a function is a function") {
  on_each_device([](Context& context) {
    const Function squares = Function::parse(kSquares, context);
    const Function slope = squares.gradient({"w"}, context);
    const Tensor x = floats(context, {1, 2, 3}), w = floats(context, {2});
    CHECK(context.call(slope, {x, w})[1].to_vector<float>() == std::vector<float>{56});
    CHECK(slope.outputs()[1].name == "d_w");
    CHECK_THROWS_WITH(squares.gradient({"w"}, context, "nobody"), ContainsSubstring("got nobody"));
    CHECK_THROWS_WITH(squares.gradient({"q"}, context), ContainsSubstring("q"));
  });
}

TEST_CASE("a donated input of a function is spent, and only if nothing else needs it") {
  on_each_device([](Context& context) {
    const Function twice = Function::parse(
        "graph twice(%x: f32[4096]) {\n  %y = add %x, %x\n  return %y\n}\n", context);
    Tensor x = full({4096}, 1.5, DType::kF32, context);
    realize({x});
    {
      const Tensor other = x + 1;
      CHECK_THROWS_WITH(
          context.call(twice, {x}, {.donate = {0}}),
          ContainsSubstring("[twice] expected a donated input that nothing else needs"));
      CHECK(x.to_vector<float>()[7] == 1.5F);
    }
    const Tensor y = context.call(twice, {x}, {.donate = {0}})[0];
    CHECK(y.to_vector<float>()[4095] == 3);
    CHECK_THROWS_WITH(x + 1, ContainsSubstring("donated to [twice]"));
    CHECK_THROWS_WITH(context.call(twice, {y}, {.donate = {1}}), ContainsSubstring("[twice]"));
  });
}

TEST_CASE("inputs of a function that do not fit are refused by name") {
  on_each_device([](Context& context) {
    const Function squares = Function::parse(kSquares, context);
    const Tensor x = floats(context, {1, 2, 3}), w = floats(context, {2});
    CHECK_THROWS_WITH(context.call(squares, {x}), ContainsSubstring("expected 2 inputs, got 1"));
    CHECK_THROWS_WITH(context.call(squares, {x, x}), ContainsSubstring("input 1 (w)"));
    CHECK_THROWS_WITH(context.call(squares, {x.astype(DType::kI32), w}),
                      ContainsSubstring("input 0 (x): expected f32, got i32"));
    CHECK_THROWS_WITH(context.call(squares, {arange(101, DType::kF32, context), w}),
                      ContainsSubstring("1 <= n <= 100, got 101"));
    CHECK_THROWS_WITH(context.call(squares, {x, w}, {.symbols = {{"m", 3}}}),
                      ContainsSubstring("got m = 3"));
    Context other(cpu_and_null());
    CHECK_THROWS_WITH(other.call(squares, {x, w}), ContainsSubstring("one context"));
  });
}
