// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of tensors: who is a leaf, what cuts a path, composites, higher orders.
#include "tenon/gradient.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <catch2/matchers/catch_matchers_vector.hpp>
#include <cmath>
#include <memory>
#include <thread>

#include "frontend/tensor/state.hpp"
#include "tenon/tenon.hpp"

namespace tenon {
namespace {

using Catch::Matchers::Approx;
using Catch::Matchers::ContainsSubstring;
using Doubles = std::vector<double>;

Tensor doubles(std::initializer_list<double> values) {
  return tensor(std::vector(values), {static_cast<int64_t>(values.size())});
}

TEST_CASE("gradient: a small network, by hand") {
  // loss = sum(relu(x w)^2)
  const Tensor x = tensor<double>({{1, -2, 3}, {0.5, 1, -1}});
  const Tensor w = tensor<double>({{0.1, -0.4}, {0.5, 0.2}, {-0.3, 0.8}});
  const Tensor h = x.matmul(w).relu();
  const Tensor loss = h.square().sum();
  const std::vector<Tensor> g = grad(loss, {w, x});
  REQUIRE(g.size() == 2);
  const Tensor dh = h * 2.0;
  CHECK_THAT(g[0].to_vector<double>(),
             Approx(x.matrix_transpose().matmul(dh).to_vector<double>()).margin(1e-12));
  CHECK_THAT(g[1].to_vector<double>(),
             Approx(dh.matmul(w.matrix_transpose()).to_vector<double>()).margin(1e-12));
}

TEST_CASE("gradient: orders") {
  const Tensor x = doubles({0.7, -1.2});
  const Tensor y = (x * x * x).sum();
  const Tensor first = grad(y, {x})[0];
  const Tensor second = grad(first.sum(), {x})[0];
  const Tensor third = grad(second.sum(), {x})[0];
  CHECK_THAT(first.to_vector<double>(), Approx(Doubles{3 * 0.49, 3 * 1.44}));
  CHECK_THAT(second.to_vector<double>(), Approx(Doubles{6 * 0.7, -6 * 1.2}));
  CHECK_THAT(third.to_vector<double>(), Approx(Doubles{6, 6}));
}

TEST_CASE("gradient: arguments count by place, and values may be read on the way") {
  const Tensor a = zeros({2}), b = zeros({2});
  bool was_read = false;
  const auto f = value_and_grad([&](const std::vector<Tensor>& w) {
    const Tensor loss = (w[0] * 2.0f + w[1] * 3.0f + 1.0f).square().sum();
    if (loss.item<float>() > 0) was_read = true;  // control flow of the host
    return loss * 0.5f;
  });
  const ValueAndGrad out = f({a, b});
  CHECK(was_read);
  CHECK(out.value.item<float>() == 1);
  CHECK(out.gradients[0].to_vector<float>() == std::vector<float>{2, 2});
  CHECK(out.gradients[1].to_vector<float>() == std::vector<float>{3, 3});
}

TEST_CASE("gradient: by the first argument, in its structure") {
  struct Line {
    Tensor w, b;
    auto fields() { return std::tie(w, b); }
  };
  const Tensor x = doubles({1, 2});
  const auto of_tensor = [](const Tensor& w, const Tensor& at) { return (w * at).square().sum(); };
  const auto [loss, by_w] = value_and_grad(of_tensor)(doubles({3, 4}), x);
  CHECK(loss.item<double>() == 73);
  CHECK(by_w.to_vector<double>() == Doubles{6, 32});
  const auto of_line = [](const Line& line, const Tensor& at) {
    return (line.w * at + line.b).sum();
  };
  const ValueAndGrad<Line> by_line =
      value_and_grad(of_line)(Line{doubles({3, 4}), doubles({0, 1})}, x);
  CHECK(by_line.value.item<double>() == 12);
  CHECK(by_line.gradients.w.to_vector<double>() == Doubles{1, 2});
  CHECK(by_line.gradients.b.to_vector<double>() == Doubles{1, 1});
  const auto of_list = [](const std::vector<Tensor>& w) { return (w[0] * w[1]).sum(); };
  CHECK(value_and_grad(of_list)({x, x}).gradients[1].to_vector<double>() == Doubles{1, 2});
}

TEST_CASE("gradient: wrong questions") {
  const Tensor w = doubles({1, 2}), other = doubles({3, 4});
  const Tensor loss = (w * w).sum();
  CHECK_THROWS_WITH(
      grad(w * w, {w}),
      ContainsSubstring("expected a loss of one element or a seed for it, got f64[2]"));
  CHECK_THROWS_WITH(
      grad(loss, {other}),
      ContainsSubstring("argument 0 (f64[2]), got one where the output does not depend"));
  CHECK_THROWS_WITH(grad(loss, {w, w}), ContainsSubstring("got argument 0 twice"));
  CHECK_THROWS_WITH(grad(loss, {zeros({2})}),
                    ContainsSubstring("got the constant argument 0 (f32[2])"));
  CHECK_THROWS_WITH(grad(loss, {arange(3)}),
                    ContainsSubstring("expected a float dtype, got argument 0 (i64[3])"));
  CHECK_THROWS_WITH(grad(w.astype(DType::kI32).sum(), {w}), ContainsSubstring("a loss of a float"));
  CHECK_THROWS_WITH(grad((w.floor()).sum(), {w}),
                    ContainsSubstring("its path ends at floor f64[2]"));
  CHECK_THROWS_WITH(grad(stop_gradient(w).sum(), {w}),
                    ContainsSubstring("its path ends at stop_gradient f64[2]"));
  CHECK_THROWS_WITH(grad(w * w, {w}, doubles({1, 2, 3})),
                    ContainsSubstring("expected seed 0 of type f64[2], got f64[3]"));
  Context another;
  const Tensor far = tensor<double>({1, 2}, another);
  CHECK_THROWS_WITH(grad(loss, {far}), ContainsSubstring("one context"));
}

TEST_CASE("gradient: stop_gradient ends one path only") {
  const Tensor w = doubles({3, 5});
  const Tensor loss = (stop_gradient(w) * w).sum();
  CHECK(grad(loss, {w})[0].to_vector<double>() == Doubles{3, 5});
  CHECK(stop_gradient(w).to_vector<double>() == Doubles{3, 5});
}

TEST_CASE("gradient: composites") {
  const auto swish = composite("swish", [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{in[0] * in[0].sigmoid()};
  });
  const Tensor x = doubles({-1.5, 0.3, 2});
  const auto plain = [](const Tensor& t) { return t * t.sigmoid(); };
  const Tensor y = swish({x})[0];
  CHECK(node_of(y)->op == Op::CALL);
  CHECK(node_of(swish({x})[0]) == node_of(y));  // equal calls are one node
  CHECK(y.to_vector<double>() == plain(x).to_vector<double>());
  const Tensor got = grad(swish({swish({x})[0]})[0].sum(), {x})[0];
  const Tensor expected = grad(plain(plain(x)).sum(), {x})[0];
  CHECK_THAT(got.to_vector<double>(), Approx(expected.to_vector<double>()).margin(1e-14));
}

TEST_CASE("gradient: a composite's own gradient, and what it captures") {
  const Tensor x = doubles({1, 2}), w = doubles({5, 7});
  const auto scaled = composite(
      "scaled",
      [](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{in[0] * 3.0, in[0] + 1.0};
      },
      [](const std::vector<Tensor>& in) {  // x, y0, y1, g0, g1
        return std::vector<Tensor>{in[3] * in[2] + in[4]};
      });
  const std::vector<Tensor> y = scaled({x});
  CHECK(grad((y[0] * 10.0).sum(), {x})[0].to_vector<double>() == Doubles{20, 30});
  const auto captures = composite("captures", [&](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{in[0] * (w * w)};
  });
  const Tensor loss = captures({x})[0].sum();
  CHECK(grad(loss, {w})[0].to_vector<double>() == Doubles{10, 28});
  CHECK(loss.item<double>() == 25 + 98);
  const auto both = composite(
      "both", [&](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[0] * w}; },
      [](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[2]}; });
  CHECK_THROWS_WITH(both({x}),
                    ContainsSubstring("[both] expected a function with a gradient that"));
  const auto wrong = composite(
      "wrong", [](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[0] * 2.0}; },
      [](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[2].sum()}; });
  CHECK_THROWS_WITH(wrong({x}), ContainsSubstring("output 0 of its gradient graph to be f64[2]"));
  const auto reads = composite("reads", [](const std::vector<Tensor>& in) {
    in[0].to_array();
    return in;
  });
  CHECK_THROWS_WITH(reads({x}), ContainsSubstring("only traced"));
  CHECK_THROWS_WITH(
      composite("none", [](const std::vector<Tensor>&) { return std::vector<Tensor>{}; })({x}),
      ContainsSubstring("[none] expected a function that gives tensors"));
}

TEST_CASE("gradient: composites in composites that take arguments of one type") {
  // The inner one captures an argument of the outer one.
  const auto outer = composite("outer", [](const std::vector<Tensor>& out) {
    const auto inner = composite("inner", [&](const std::vector<Tensor>& in) {
      return std::vector<Tensor>{in[0] * out[0]};
    });
    return std::vector<Tensor>{inner({out[1]})[0] + out[0]};
  });
  const Tensor a = doubles({2, 3}), b = doubles({10, 20});
  const Tensor y = outer({a, b})[0];
  CHECK(grad(y.sum(), {a, b})[0].to_vector<double>() == Doubles{11, 21});
  CHECK(y.to_vector<double>() == Doubles{22, 63});
}

TEST_CASE("gradient: checkpoint") {
  const Tensor x = doubles({0.4, -0.9}), w = doubles({1.5, 2.5});
  const auto block = [&](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{(in[0] * w).sin().exp()};
  };
  const Tensor plain = block({block({x})[0]})[0].sum();
  const Tensor kept = checkpoint(block)({checkpoint(block)({x})[0]})[0].sum();
  const std::vector<Tensor> expected = grad(plain, {x, w}), got = grad(kept, {x, w});
  for (size_t i = 0; i < 2; ++i)
    CHECK_THAT(got[i].to_vector<double>(), Approx(expected[i].to_vector<double>()).margin(1e-12));
  CHECK(kept.item<double>() == plain.item<double>());
}

TEST_CASE("gradient: products with the Jacobian, both ways") {
  const auto f = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{in[0] * in[1], in[0].sin()};
  };
  const Tensor a = doubles({1, 2}), b = doubles({3, 4}), u = doubles({1, 10}),
               zero = doubles({0, 0});
  const ValuesAndProducts forward = jvp(f, {a, b}, {u, zero});
  CHECK(forward.products[0].to_vector<double>() == Doubles{3, 40});
  CHECK_THAT(forward.products[1].to_vector<double>(),
             Approx(Doubles{std::cos(1.0), 10 * std::cos(2.0)}));
  const ValuesAndProducts back = vjp(f, {a, b}, {u, zero});
  CHECK(back.products[0].to_vector<double>() == Doubles{3, 40});
  CHECK(back.products[1].to_vector<double>() == Doubles{1, 20});
  CHECK(back.values[0].to_vector<double>() == Doubles{3, 8});
  CHECK_THROWS_WITH(vjp(f, {a, b}, {u}), ContainsSubstring("expected 2 seeds, got 1"));
  CHECK_THROWS_WITH(jvp(f, {a, b}, {u, doubles({1})}),
                    ContainsSubstring("expected tangent 1 of type f64[2], got f64[1]"));
  const auto whole = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{in[0], in[0].astype(DType::kI32)};
  };
  CHECK_THROWS_WITH(jvp(whole, {a}, {u}),
                    ContainsSubstring("[jvp] expected outputs of a float dtype, got "
                                      "output 1 (i32[2])"));
  Context another;
  const Tensor far = tensor<double>({1, 2}, another);
  const auto elsewhere = [&](const std::vector<Tensor>&) { return std::vector<Tensor>{far}; };
  CHECK_THROWS_WITH(vjp(elsewhere, {a}, {u}), ContainsSubstring("one context"));
  CHECK_THROWS_WITH(jvp(elsewhere, {a}, {u}), ContainsSubstring("one context"));
}

TEST_CASE("gradient: a function that is none is refused where it is given") {
  CHECK_THROWS_WITH(value_and_grad(LossFunction()),
                    ContainsSubstring("expected a function, got none"));
  CHECK_THROWS_WITH(composite("f", nullptr), ContainsSubstring("expected a function for f"));
  CHECK_THROWS_WITH(checkpoint(nullptr), ContainsSubstring("expected a function, got none"));
  CHECK_THROWS_WITH(vjp(nullptr, {}, {}), ContainsSubstring("expected a function"));
}

TEST_CASE("gradient: a tape ends nothing on another thread") {
  const Tensor w = doubles({1, 2});
  const auto of_read = [&] {
    Tensor loss = (w * copy(w * 2.0)).sum();
    loss.item<double>();
    return grad(loss, {w})[0].to_vector<double>();
  };
  std::thread([&] {
    auto own = std::make_unique<GradientTape>();
    std::thread([&] { own.reset(); }).join();
    CHECK(of_read() == Doubles{4, 8});
  }).join();
}

}  // namespace
}  // namespace tenon
