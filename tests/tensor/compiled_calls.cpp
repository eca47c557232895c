// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of compiled functions: by many threads, by each other, beside copies, after contexts.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <functional>
#include <latch>
#include <thread>

#include "core/support/error.hpp"
#include "frontend/tensor/state.hpp"
#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"
#include "tests/tensor/refusals.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

using Call = std::function<Tensor(const Tensor&, int)>;

Tensor twice(const Tensor& x) noexcept { return x * 2.0; }

}  // namespace

TEST_CASE("threads that call first at once trace once") {
  on_each_device([](Context& context) {
    std::atomic<int> calls{0};
    const auto f = compile([&](const Tensor& x, const Tensor& by) {
      ++calls;
      return x * by;
    });
    constexpr int kThreads = 4;
    std::latch start(kThreads);
    std::atomic<int> right{0};
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < kThreads; ++t)
        threads.emplace_back([&, t] {
          const Tensor x = ones({4}, DType::kF32, context);
          start.arrive_and_wait();
          for (int i = 0; i < 5; ++i)
            right +=
                f(x, t + i).to_vector<float>() == std::vector<float>(4, static_cast<float>(t + i));
        });
    }
    CHECK(right == kThreads * 5);
    CHECK(calls == 1);
    CHECK(f.traces() == 1);
  });
}

TEST_CASE("functions that call each other are traced on two threads") {
  on_each_device([](Context& context) {
    const Tensor one = ones({1}, DType::kF32, context);
    Call call_f, call_g;
    const auto other = [&](const Call& next, const Tensor& x, int depth, double by) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the other thread begins
      return depth > 0 ? x + next(one, depth - 1) : x * by;
    };
    const auto f = compile([&](const Tensor& x, int n) { return other(call_g, x, n, 3); });
    const auto g = compile([&](const Tensor& x, int n) { return other(call_f, x, n, 5); });
    call_f = [&](const Tensor& x, int n) { return f(x, n); };
    call_g = [&](const Tensor& x, int n) { return g(x, n); };
    float of_f = 0;
    std::jthread thread([&] { of_f = f(one, 3).item<float>(); });
    CHECK(g(one, 3).item<float>() == 1 + 1 + 1 + 3);
    thread.join();
    CHECK(of_f == 1 + 1 + 1 + 5);
  });
}

TEST_CASE("a function that calls itself comes to an end or is refused") {
  on_each_device([](Context& context) {
    const Tensor one = ones({1}, DType::kF32, context);
    Call again;
    const auto f = compile([&](const Tensor& x, int n) { return n ? x + again(one, n / 2) : x; },
                           {.name = "f"});
    again = [&](const Tensor& x, int n) { return f(x, n); };
    CHECK(f(one, 8).item<float>() == 5);
    const auto g =
        compile([&](const Tensor& x, int n) { return x + again(one, n); }, {.name = "g"});
    again = [&](const Tensor& x, int n) { return g(x, n); };
    refuses([&] { g(one, 1); },
            "[g] expected calls of itself that come to an end, got one for "
            "(f32[1]) while it is traced for that");
    again = [&](const Tensor& x, int n) { return f(x, n); };
    CHECK(g(one, 8).item<float>() == 6);
  });
}

TEST_CASE("what is being copied to another device can be donated") {
  if (plugin_files().size() < 2) SKIP("one plugin alone is built");
  Context context(cpu_and_null());
  constexpr int64_t kCount = 1 << 23;  // for some milliseconds
  const auto f = compile([](const Tensor& w) { return w + 1.0; }, {.donate = {0}});
  Tensor w = ones({kCount}, DType::kF32, context);
  realize({w});
  for (int i = 0; i < 3; ++i) {
    const Tensor there = w.to("null");
    realize({there});
    w = f(w);
    CHECK(there.slice({Slice{kCount - 1, kCount}}).item<float>() == 1.F + static_cast<float>(i));
  }
}

TEST_CASE("traces of a context go with it") {
  const auto f = compile([](const Tensor& x) { return x + 1.0; });
  std::weak_ptr<Device> last;
  on_each_device([&](Context& context) {
    for (int i = 0; i < 2; ++i) CHECK(f(ones({1}, DType::kF32, context)).item<float>() == 2);
    CHECK(f.traces() == 1);
    CHECK(last.expired());
    last = runtime_of(context).devices()[0];
  });
}

TEST_CASE("functions that throw nothing are compiled too") {
  on_each_device([](Context& context) {
    const Tensor x = ones({1}, DType::kF32, context);
    CHECK(compile(twice)(x).item<float>() == 2);
    CHECK(compile(&twice)(x).item<float>() == 2);
    CHECK(compile([n = 1.0](const Tensor& y) mutable noexcept { return y + n; })(x).item<float>() ==
          2);
  });
}

TEST_CASE("what was found again leaves the last owner as it is") {
  on_each_device([](Context& context) {
    const std::vector<float> values(1 << 15, 2);  // worth donating
    const Tensor w = tensor<float>(values, {1 << 15}, context), a = w * 3.0;
    Tensor u = tensor<float>(values, {1 << 15}, context);
    const auto* const memory = buffer_of(*node_of(u))->memory();
    const uint64_t offset = buffer_of(*node_of(u))->offset();
    u = (a + 1.0) + u;
    realize({a});  // u is made from what it was, and takes its value
    realize({u});
    CHECK(buffer_of(*node_of(u))->memory() == memory);
    CHECK(buffer_of(*node_of(u))->offset() == offset);
    CHECK(u.to_vector<float>()[0] == 9);
    CHECK(a.to_vector<float>()[0] == 6);
  });
}

TEST_CASE("a compiled function within one that is traced becomes part of it") {
  on_each_device([](Context& context) {
    int calls = 0;
    const auto inner = compile(
        [&](const Tensor& x, const Tensor& by) {
          ++calls;
          return std::pair(x * by, x.square().sum());
        },
        {.name = "inner", .donate = {0}});
    const auto outer = compile([&](const Tensor& x, const Tensor& by) {
      const auto [a, b] = inner(x + 1.0, by);
      return grad((inner(a, 2).first * b).sum(), {x})[0];
    });
    const Tensor x = tensor<float>({1, 2}, context);
    const size_t plans = runtime_of(context).plan_count();
    // Of 2 by (y0 + y1) (y0^2 + y1^2) where y = x + 1.
    for (const int by : {1, 3}) {
      const std::vector<float> got = outer(x, by).to_vector<float>();
      CHECK(got == std::vector<float>{2.F * by * (13 + 5 * 4), 2.F * by * (13 + 5 * 6)});
    }
    CHECK(runtime_of(context).plan_count() == plans + 1);
    CHECK(calls == 2);
    CHECK(inner.traces() == 0);
    std::function<Tensor(const Tensor&)> again;
    const auto endless = compile([&](const Tensor& y) { return again(y * 2.0); }, {.name = "f"});
    again = [&](const Tensor& y) { return endless(y); };
    refuses([&] { endless(x); }, "[f] expected calls of itself that come to an end, got 256");
  });
}

TEST_CASE("gradients go through compiled functions where a tape knows of the call") {
  on_each_device([](Context& context) {
    const Tensor scale = tensor<float>({2, 3}, context);
    const auto f =
        compile([&](const Tensor& w, const Tensor& by) { return w.square() * scale * by; });
    const Tensor w = tensor<float>({3, 5}, context);
    for (const double by : {1.0, 0.5}) {
      const auto [loss, g] = value_and_grad(
          [&](const std::vector<Tensor>& a) { return (f(a[0], by) * a[0]).sum(); })({w});
      CHECK(loss.item<float>() == static_cast<float>(by) * (2 * 27 + 3 * 125));
      const auto slope = static_cast<float>(by);
      CHECK(g[0].to_vector<float>() == std::vector<float>{slope * 3 * 2 * 9, slope * 3 * 3 * 25});
    }
    CHECK(f.traces() == 1);
    const GradientTape tape;
    const Tensor y = f(w, 1);
    CHECK(y.to_vector<float>() == std::vector<float>{18, 75});
    CHECK(grad(y.sum(), {w})[0].to_vector<float>() == std::vector<float>{12, 30});
    const auto step = compile([](const Tensor& a) { return a + 1.0; }, {.donate = {0}});
    Tensor z = tensor<float>({1}, context);
    for (int i = 0; i < 3; ++i) z = step(z);  // the tape holds nothing that is given away
    CHECK(z.item<float>() == 4);
    // A function that computes gradients itself.
    const auto slope = compile([](const Tensor& a) {
      return value_and_grad(
                 [](const std::vector<Tensor>& p) { return (p[0] * p[0].square()).sum(); })({a})
          .gradients[0];
    });
    CHECK(grad(slope(w).sum(), {w})[0].to_vector<float>() == std::vector<float>{18, 30});
  });
}
