// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes that are symbols: one plan for all of them, the same values as with numbers, and what is
// refused.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/support/error.hpp"
#include "frontend/tensor/sizes.hpp"
#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"
#include "tests/tensor/refusals.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

const Size kRows = Size::symbol("n", 1, 64);

Tensor rows(int64_t count, Context& context, float first = 1) {
  std::vector<float> values(static_cast<size_t>(count) * 4);
  std::iota(values.begin(), values.end(), first);
  for (float& value : values) value = std::fmod(value * 7, 11.0F) - 5;
  return tensor<float>(values, {count, 4}, context);
}

struct Case {
  const char* name;
  std::function<Tensor(const Tensor&)> of;  ///< of [n, 4]
};

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      {"add",
       [](const Tensor& x) {
         return x * 2 + x.slice({Slice{0, 1}});
       }},
      {"where", [](const Tensor& x) { return where(x > 0, x, constant_like(x, -1)); }},
      {"sum", [](const Tensor& x) { return x.sum(0); }},
      {"mean", [](const Tensor& x) { return x.mean(0) + x.mean(); }},
      {"var", [](const Tensor& x) { return x.var(0) + var(x, 0, false, 0.5); }},
      {"max", [](const Tensor& x) { return x.max(0, true) - x.min(0, true); }},
      {"argmax", [](const Tensor& x) { return x.argmax(0) + argmin(x, 0); }},
      {"any", [](const Tensor& x) { return any(x > 3, {0}) | all(x < 3, {0}); }},
      {"softmax", [](const Tensor& x) { return x.softmax(0) + x.softmax(1); }},
      {"log_softmax", [](const Tensor& x) { return log_softmax(x, 0) + logsumexp(x, 0); }},
      {"layer_norm", [](const Tensor& x) { return x.layer_norm(); }},
      {"norm", [](const Tensor& x) { return norm(x, 2, {0}); }},
      {"matmul", [](const Tensor& x) { return x.matmul(x.matrix_transpose()); }},
      {"matmul, summed over n", [](const Tensor& x) { return x.matrix_transpose().matmul(x); }},
      {"batches", [](const Tensor& x) { return x.expand_dims(1).matmul(x.expand_dims(2)); }},
      {"reshape",
       [](const Tensor& x) {
         return x.reshape({-1, 2}) + x.ravel().reshape({-1, 2});
       }},
      {"moves",
       [](const Tensor& x) { return moveaxis(x.expand_dims(0), 1, 2).squeeze(0).flip(1); }},
      {"pad",
       [](const Tensor& x) {
         return x.pad({{2, 1}, {0, 3}}, 7).sum(1);
       }},
      {"slice",
       [](const Tensor& x) {
         return x.slice({Slice{{}, {}, 3}, Slice{1, -1}});
       }},
      {"slice from the end",
       [](const Tensor& x) {
         return x.slice({Slice{-1, {}, -2}});
       }},
      {"take of one position", [](const Tensor& x) { return x.take(0, 0) - x.take(-1, 0); }},
      {"concatenate",
       [](const Tensor& x) {
         return concatenate({x, x * 2, x.slice({Slice{0, 1}})});
       }},
      {"stack",
       [](const Tensor& x) {
         return stack({x, -x}, 1);
       }},
      {"take", [](const Tensor& x) { return x.take(x.take(0, 1).argmax(0).reshape({1}), 0); }},
      {"take_along_axis",
       [](const Tensor& x) { return take_along_axis(x, full_like(x, -1, DType::kI64), 0); }},
      {"put_along_axis",
       [](const Tensor& x) {
         return put_along_axis(x, zeros_like(x, DType::kI64), x, 0, Combine::kAdd);
       }},
      {"arange",
       [](const Tensor& x) {
         return arange(x.sizes()[0], DType::kI64, x.context()).expand_dims(1) +
                x.astype(DType::kI64);
       }},
      {"from_size",
       [](const Tensor& x) {
         return x.sum() + from_size(x.sizes()[0] * 3 + 1, x.context()).astype(DType::kF32);
       }},
      {"zeros",
       [](const Tensor& x) {
         return zeros({x.sizes()[0] * 2, 3}, DType::kF32, x.context()) + x.sum();
       }},
      {"tril", [](const Tensor& x) { return tril(x.matmul(x.matrix_transpose())); }},
      {"one_hot", [](const Tensor& x) { return one_hot(x.take(0, 1).astype(DType::kI64), 5); }},
      {"tensordot",
       [](const Tensor& x) { return tensordot(x, x, {0}, {0}) + dot(x.matrix_transpose(), x); }},
      {"activations", [](const Tensor& x) { return x.gelu() + x.sigmoid() + silu(x) + x.relu(); }},
      {"gradient",
       [](const Tensor& x) {
         return value_and_grad([](const std::vector<Tensor>& in) {
                  return (in[0].softmax(0) * in[0]).mean();
                })({x})
             .gradients[0];
       }},
      {"gradient of weights",
       [](const Tensor& x) {
         const Tensor w = tensor<float>({{1, 2}, {3, 4}, {5, 6}, {7, 8}}, x.context());
         return value_and_grad([&](const std::vector<Tensor>& in) {
                  return x.matmul(in[0]).square().mean();
                })({w})
             .gradients[0];
       }},
      {"checkpoint",
       [](const Tensor& x) {
         return checkpoint([](const std::vector<Tensor>& in) {
           return std::vector<Tensor>{in[0].exp().sum(0)};
         })({x})[0];
       }},
  };
  return kCases;
}

}  // namespace

TEST_CASE("symbolic sizes: one plan, the values of fixed ones") {
  on_each_device([](Context& context) {
    for (const Case& one : cases()) {
      INFO(one.name);
      size_t plans = 0;
      for (const int64_t count : {5, 1, 64, 37}) {
        INFO(count);
        const Tensor x = rows(count, context);
        const Array expected = one.of(x).to_array();
        const size_t before = runtime_of(context).plan_count();
        const Tensor y = one.of(x.with_size(0, kRows));
        const Array got = y.to_array();
        const size_t made = runtime_of(context).plan_count() - before;
        CHECK((count == 5 ? made >= 1 : made == 0));
        plans += made;
        CHECK(got.dtype == expected.dtype);
        REQUIRE(got.shape == expected.shape);
        for (int64_t i = 0; i < got.count(); ++i) {
          const double a = got.at(i).as_double(), b = expected.at(i).as_double();
          CHECK(std::abs(a - b) <= 1e-4 * std::max(1.0, std::abs(b)));
        }
      }
    }
  });
}

TEST_CASE("symbolic sizes: results tell their symbols") {
  on_each_device([](Context& context) {
    const Tensor x = rows(5, context).with_size(0, kRows);
    const Tensor y = concatenate({x, x}) + 1;
    realize({y});
    CHECK(y.sizes() == Sizes{kRows * 2, 4});
    CHECK(y.sizes()[0].text() == "n*2");
    CHECK((y * 1).to_array().shape == std::vector<int64_t>{10, 4});
    CHECK(y.sum(1).to_vector<float>().size() == 10);
    CHECK((copy(y) + y).to_array().shape == std::vector<int64_t>{10, 4});
    const Tensor fixed = y.with_size(0, 10);
    CHECK(fixed.shape() == std::vector<int64_t>{10, 4});
    CHECK((fixed - y.with_size(0, 10)).abs().max().item<float>() == 0);
    CHECK(describe(x).shape == std::vector<int64_t>{5, 4});
    CHECK(to_string(x) == to_string(rows(5, context)));
    CHECK(y.size(1) == 4);
  });
}

TEST_CASE("symbolic sizes: two symbols, and one that two tensors share") {
  Context context;
  const Size n = Size::symbol("n", 1, 64), m = Size::symbol("m", 0, 32);
  size_t plans = 0;
  for (const auto& [rows_of_x, columns] : {std::pair(3, 4), std::pair(3, 1), std::pair(60, 0)}) {
    const Tensor x = ones({rows_of_x, 4}, DType::kF32, context).with_size(0, n);
    const Tensor w = ones({4, columns}, DType::kF32, context).with_size(1, m);
    const Tensor b = ones({rows_of_x}, DType::kF32, context).with_size(0, n);
    const size_t before = runtime_of(context).plan_count();
    const Tensor y = x.matmul(w) + b.expand_dims(1);
    CHECK(y.sizes() == Sizes{n, m});
    CHECK(y.to_array().shape == std::vector<int64_t>{rows_of_x, columns});
    CHECK(y.sum().item<float>() == static_cast<float>(5 * rows_of_x * columns));
    plans = runtime_of(context).plan_count() - before;
  }
  CHECK(plans == 0);
}

TEST_CASE("symbolic sizes are inputs of compiled functions") {
  on_each_device([](Context& context) {
    const Size n = Size::symbol("n", 1, 1 << 16);
    const auto f = compile(
        [](Tensor w, const Tensor& x, const Tensor& rate) {
          const Tensor loss = x.matmul(w).square().mean();
          return std::pair(w - grad(loss, {w})[0] * rate, loss);
        },
        {.name = "step", .donate = {0}});
    const auto fixed = compile([](const Tensor& w, const Tensor& x, const Tensor& rate) {
      const Tensor loss = x.matmul(w).square().mean();
      return std::pair(w - grad(loss, {w})[0] * rate, loss);
    });
    Tensor w = full({4, 2}, 0.5, DType::kF32, context), v = copy(w);
    realize({w, v});
    for (const int64_t count : {3, 17, 1, 300}) {
      const Tensor x = rows(count, context);
      Tensor loss(0), expected(0);
      std::tie(w, loss) = f(std::exchange(w, Tensor(0)), x.with_size(0, n), 0.01);
      std::tie(v, expected) = fixed(v, x, 0.01);
      CHECK(std::abs(loss.item<float>() - expected.item<float>()) <=
            1e-4F * std::abs(expected.item<float>()));
    }
    CHECK(f.traces() == 1);
    CHECK(fixed.traces() == 4);
    const std::vector<float> a = w.to_vector<float>(), b = v.to_vector<float>();
    for (size_t i = 0; i < a.size(); ++i) CHECK(std::abs(a[i] - b[i]) <= 1e-4F);
    const auto wide = compile([](const Tensor& x) { return x * 2; });
    CHECK(wide(rows(3, context).with_size(0, n)).sizes() == Sizes{n, 4});
    CHECK(wide(rows(9, context).with_size(0, n)).to_array().shape == std::vector<int64_t>{9, 4});
    CHECK(wide.traces() == 1);
  });
}

TEST_CASE("symbolic sizes: memory that a tensor of other sizes shares is not written over") {
  Context context;
  const Size n = Size::symbol("n", 1, 1 << 20);
  const Tensor x = full({1 << 16}, 1, DType::kF32, context);
  realize({x});
  Tensor y = x.with_size(0, n);
  y = y * 2;
  y = y + 1;
  CHECK(y.sum().item<float>() == 3.0F * (1 << 16));
  CHECK(x.sum().item<float>() == 1.0F * (1 << 16));
  const auto f = compile([](const Tensor& t) { return t + 1; }, {.name = "f", .donate = {0}});
  refuses([&] { f(x.with_size(0, n)); }, "[f] expected a donated input that nothing else needs");
  CHECK(x.sum().item<float>() == 1.0F * (1 << 16));
  Tensor own = copy(x).with_size(0, n);
  CHECK(f(std::exchange(own, Tensor(0))).sum().item<float>() == 2.0F * (1 << 16));
}

TEST_CASE("symbolic sizes: what is refused, by the symbol's name") {
  Context context;
  const Size n = Size::symbol("n", 1, 8), other = Size::symbol("n", 1, 9);
  const Tensor x = rows(5, context).with_size(0, n), y = rows(4, context).with_size(0, n);
  const auto refusal = [](const char* message, const std::function<void()>& call) {
    refuses(call, message);
  };
  refusal("[size] expected a symbol name like n or size_2, got '2n'",
          [] { Size::symbol("2n", 0, 1); });
  refusal("[size] expected 0 <= minimum <= maximum for n, got 3 and 2",
          [] { Size::symbol("n", 3, 2); });
  refusal("[size] expected 0 <= minimum <= maximum for n, got -1 and 2",
          [] { Size::symbol("n", -1, 2); });
  refusal("[size] expected a divisor of at least 1, got 0", [&] { n / 0; });
  refusal("[size] expected a fixed size, got n*2 in [2, 16]", [&] { (n * 2).value(); });
  refusal("[shape] expected a fixed size, got n in [1, 8]", [&] { x.shape(); });
  refusal("[size] expected a fixed size, got n*4 in [4, 32]", [&] { x.size(); });
  refusal("[with_size] expected 1 <= n <= 8 for axis 0, got 9",
          [&] { rows(9, context).with_size(0, n); });
  refusal("[with_size] expected 6 for axis 0, got 5", [&] { x.with_size(0, 6); });
  refusal("[with_size] expected a number or a symbol, got n + 1", [&] { x.with_size(0, n + 1); });
  refusal("[with_size] expected n = 5 for axis 1 too, got 4", [&] { x.with_size(1, n); });
  refusal("[with_size] expected an axis in [-2, 2), got 2", [&] { x.with_size(2, n); });
  refusal("[realize] expected one value of n in a run, got 5 and 4, of f32[n, 4]",
          [&] { (x + y).to_array(); });
  refusal("[realize] expected one symbol n, got 1 <= n <= 8 and 1 <= n <= 9",
          [&] { (x.sum() + rows(3, context).with_size(0, other).sum()).to_array(); });
  refusal("[realize] expected a tensor that has the size n, so that its value is known, got none",
          [&] { from_size(n, context).to_array(); });
  refusal("[add] expected shapes that broadcast, got [n, 4] and [5, 4]",
          [&] { x + rows(5, context); });
  refusal("[matmul] expected [.., m, k] and [.., k, n], got [n, 4] and [n, 4]",
          [&] { x.matmul(x); });
  refusal("[reshape] expected a shape of n*4 elements, got [3, -1]", [&] { x.reshape({3, -1}); });
  refusal("expected a shape with as many elements as [n, 4], got [n, 5]", [&] {
    x.reshape({n, 5});
  });
  refusal("[broadcast_to] expected shapes that broadcast, got [n, 4] and [8, 4]", [&] {
    x.broadcast_to({8, 4});
  });
  refusal("[slice] expected a range inside [0, n) on axis 0, got 0:2", [&] {
    x.slice({Slice{0, 2}});
  });
  refusal("[take] expected an index in [-n, n), got 1", [&] { x.take(1, 0); });
  refusal("[concatenate] expected equal sizes but on axis 1, got [n, 4] and [5, 4]", [&] {
    concatenate({x, rows(5, context)}, 1);
  });
  refusal("[fft] expected a number as the size of axis 0, got n in [1, 8]", [&] {
    fft({x, x}, 0);
  });
  refusal("[topk] expected k in [0, n], got 2", [&] { topk(x, 2, 0); });
  refusal("[argmax] expected a non-empty axis, got size m, which may be 0, on axis 0",
          [&] { rows(3, context).with_size(0, Size::symbol("m", 0, 9)).argmax(0); });
  const auto f =
      compile([](const Tensor& a, const Tensor& b) { return a.sum() + b.sum(); }, {.name = "both"});
  refusal("[both] expected one value of n in a run, got 5 and 4, of f32[n, 4]", [&] { f(x, y); });
  CHECK(f(x, x).item<float>() == 2 * x.sum().item<float>());
}
