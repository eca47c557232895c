// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions that are traced once, memory that is given away, values that are found again.
#include <unistd.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdio>
#include <functional>
#include <numeric>

#include "core/support/error.hpp"
#include "frontend/tensor/state.hpp"
#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"
#include "tests/tensor/refusals.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

struct Linear {
  Tensor w, b;
  auto fields() { return std::tie(w, b); }
};
struct Model {
  std::vector<Linear> layers;
  auto fields() { return std::tie(layers); }
};

Tensor large(float value, Context& context) {  // worth donating
  const std::vector<float> values(1 << 15, value);
  return tensor<float>(values, {1 << 15}, context);
}

const tn_memory* memory_of(const Tensor& x) { return buffer_of(*node_of(x))->memory(); }
uint64_t offset_of(const Tensor& x) { return buffer_of(*node_of(x))->offset(); }

}  // namespace

TEST_CASE("a compiled function is traced once; numbers and keys are inputs") {
  on_each_device([](Context& context) {
    int calls = 0;
    const auto f = compile([&](const Tensor& x, const Tensor& by, const Key& key) {
      ++calls;
      return x * by + uniform(key, {4}) * 0.0;
    });
    const Tensor x = tensor<float>({1, 2, 3, 4}, context);
    const size_t plans = runtime_of(context).plan_count();
    for (int i = 0; i < 20; ++i) {
      const float by = static_cast<float>(i) / 2;
      CHECK(f(x, by, Key(static_cast<uint64_t>(i), context)).to_vector<float>() ==
            std::vector<float>{by, 2 * by, 3 * by, 4 * by});
    }
    CHECK(calls == 1);
    CHECK(f.traces() == 1);
    CHECK(runtime_of(context).plan_count() == plans + 1);
    CHECK(f(ones({2, 4}, DType::kF32, context), 3.0, Key(1, context)).shape() ==
          std::vector<int64_t>{2, 4});
    CHECK(f.traces() == 2);
  });
}

TEST_CASE("a number beside a tensor takes its dtype, in a compiled function too") {
  on_each_device([](Context& context) {
    const auto f = compile([](const Tensor& x, const Tensor& by) { return x * by; });
    const Tensor half = tensor<float>({1, 2}, context).astype(DType::kF16);
    CHECK(f(half, 0.5).dtype() == DType::kF16);
    CHECK(f(half, 3).to_vector<float>() == std::vector<float>{3, 6});
    const Tensor whole = tensor<int32_t>({1, 2}, context);
    CHECK(f(whole, 3).to_vector<int32_t>() == std::vector<int32_t>{3, 6});
    CHECK(f(whole, 0.5).to_vector<float>() == std::vector<float>{0.5, 1});
    CHECK(f(whole == 1, true).to_vector<bool>() == std::vector<bool>{true, false});
    CHECK(f.traces() == 5);
  });
}

TEST_CASE("structs go in and come out") {
  on_each_device([](Context& context) {
    const auto f = compile([](Model m, const Tensor& x, int power) {
      Tensor y = x;
      for (Linear& layer : m.layers) {
        y = y.matmul(layer.w) + layer.b;
        layer.w = layer.w * 2.0;
      }
      for (int i = 1; i < power; ++i) y = y * y;
      return std::tuple(m, y, std::array{x, x + 1});
    });
    Model m;
    for (int i = 0; i < 2; ++i)
      m.layers.push_back(
          {tensor<float>({{1, 0}, {0, 1}}, context), tensor<float>({1, 2}, context)});
    const Tensor x = tensor<float>({{1, 1}}, context);
    auto [next, y, more] = f(m, x, 1);
    CHECK(y.to_vector<float>() == std::vector<float>{3, 5});
    CHECK(next.layers.size() == 2);
    CHECK(next.layers[1].w.to_vector<float>() == std::vector<float>{2, 0, 0, 2});
    CHECK(more[1].to_vector<float>() == std::vector<float>{2, 2});
    CHECK(std::get<1>(f(m, x, 2)).to_vector<float>() == std::vector<float>{9, 25});
    CHECK(std::get<1>(f(next, x, 1)).to_vector<float>() ==
          std::vector<float>{2 * 3 + 1, 2 * 4 + 2});
    m.layers.pop_back();
    CHECK(std::get<1>(f(m, x, 1)).to_vector<float>() == std::vector<float>{2, 3});
    CHECK(f.traces() == 3);
  });
}

TEST_CASE("a donated argument's memory is the result's, and its handle is spent") {
  on_each_device([](Context& context) {
    const auto f = compile([](const Tensor& w, const Tensor& g) { return w - 0.5 * g; },
                           {.name = "step", .donate = {0}});
    Tensor w = large(1, context);
    const Tensor g = large(1, context), old = w;
    realize({w, g});
    const auto* const memory = memory_of(w);
    const uint64_t offset = offset_of(w);
    for (int i = 0; i < 10; ++i) {
      w = f(w, g);
      CHECK(memory_of(w) == memory);
      CHECK(offset_of(w) == offset);
    }
    CHECK(w.to_vector<float>() == std::vector<float>(1 << 15, -4.F));
    refuses([&] { (void)old.shape(); }, "got one that was donated to [step]");
    refuses([&] { (void)(old + 1); }, "use what that returned");
    CHECK(f.traces() == 1);
  });
}

TEST_CASE("what others need is not donated") {
  on_each_device([](Context& context) {
    const auto f = compile([](const Tensor& w, const Tensor& g) { return w - g; },
                           {.name = "step", .donate = {0}});
    const Tensor w = large(1, context), g = large(2, context);
    {
      const Tensor lazy = w * 2.0;
      refuses([&] { f(w, g); }, "which other tensors are made from or share");
      CHECK(lazy.to_vector<float>()[0] == 2);
    }
    refuses([&] { f(w, w); }, "inputs 0 and 1 that are one tensor");
    CHECK(f(w, g).to_vector<float>()[0] == -1);
    refuses([] { compile([](const Tensor& x) { return x; }, {.name = "f", .donate = {1}}); },
            "[f] expected donated arguments among its 1, got number 1");
  });
}

TEST_CASE("a row is stored into a donated buffer without a copy") {
  on_each_device([](Context& context) {
    const auto put = compile(
        [](const Tensor& rows, const Tensor& at, const Tensor& row) {
          return rows.scatter(0, at.reshape({1, 1}).broadcast_to({1, 64}), row);
        },
        {.name = "put", .donate = {0}});
    Tensor rows = zeros({1 << 10, 64}, DType::kF32, context);
    const Tensor row = ones({1, 64}, DType::kF32, context);
    realize({rows, row});
    const auto* const memory = memory_of(rows);
    for (int i = 0; i < 5; ++i) rows = put(rows, 3 * i, row);
    CHECK(memory_of(rows) == memory);
    const std::vector<float> sums = rows.sum(1).to_vector<float>();
    CHECK(std::accumulate(sums.begin(), sums.end(), 0.F) == 5 * 64);
    CHECK(sums[12] == 64);
    CHECK(put.traces() == 1);
  });
}

TEST_CASE("captured tensors are as they were; values cannot be read while a function is traced") {
  on_each_device([](Context& context) {
    Tensor scale = tensor<float>({3}, context) + 1;
    const auto f = compile([&](const Tensor& x) { return x * scale; });
    const Tensor x = tensor<float>({1, 2}, context);
    CHECK(f(x).to_vector<float>() == std::vector<float>{4, 8});
    scale = scale * 2;
    CHECK(f(x).to_vector<float>() == std::vector<float>{4, 8});
    const auto reads = compile([](const Tensor& y) { return y * y.item<float>(); });
    refuses([&] { reads(tensor<float>({1}, context)); }, "depends on an argument");
    const auto none = compile([](const std::vector<Tensor>& y) { return y; }, {.name = "none"});
    refuses([&] { none({}); }, "[none] expected a function that gives tensors, got none");
    refuses([&] { compile([](const Tensor& y) { return y; }, {.name = ""}); }, "expected a name");
  });
}

TEST_CASE("gradients are taken inside of a compiled function") {
  on_each_device([](Context& context) {
    const auto step = compile([](const Tensor& w, const Tensor& x, const Tensor& rate) {
      const auto [loss, g] = value_and_grad(
          [&](const std::vector<Tensor>& a) { return (a[0] * x - 6.0).square().mean(); })({w});
      return std::pair(w - rate * g[0], loss);
    });
    Tensor w = tensor<float>({0}, context), loss = 0;
    const Tensor x = tensor<float>({1, 2, 3}, context);
    for (int i = 0; i < 60; ++i) std::tie(w, loss) = step(w, x, 0.1 / (1 + i / 100.));
    CHECK(std::abs(w.item<float>() - 36.F / 14) < 1e-4F);
    CHECK(step.traces() == 1);
  });
}

TEST_CASE("memory is given away by the last owner") {
  on_each_device([](Context& context) {
    Tensor w = large(1, context);
    const auto* const memory = memory_of(w);
    const uint64_t offset = offset_of(w);
    for (int i = 0; i < 5; ++i) {
      w = w + 1.0;
      realize({w});
      CHECK(memory_of(w) == memory);
      CHECK(offset_of(w) == offset);
    }
    CHECK(w.to_vector<float>()[7] == 6);
    const Tensor held = w;
    w = w + 1.0;
    realize({w});
    CHECK(held.to_vector<float>()[7] == 6);
    CHECK(w.to_vector<float>()[7] == 7);
    // A lazy one is an owner too, near or far.
    Tensor v = large(3, context);
    const Tensor near = v * 2.0, far = near.exp() * 0.0 + near;
    v = v + 1.0;
    realize({v});
    CHECK(far.to_vector<float>()[0] == 6);
    CHECK(near.to_vector<float>()[0] == 6);
    // And so is a tape.
    Tensor u = large(3, context);
    const GradientTape tape;
    const Tensor leaf = tensor<float>({2}, context);
    Tensor y = u * leaf;
    u = y.square();
    realize({y});
    y = 0;
    realize({u});
    CHECK(grad(u.sum(), {leaf})[0].item<float>() == 2 * 2 * 9 * (1 << 15));
  });
}

TEST_CASE("values that were computed are found again") {
  on_each_device([](Context& context) {
    const Tensor w = large(2, context);
    const Tensor loss = w.square().mean();
    const Tensor next = w - loss;
    realize({next});
    const Collected rest = collect(builder_of(context), {node_of(loss)});
    CHECK(rest.graph.outputs.size() == 1);
    CHECK(context.impl().values.known().find(node_of(loss).get()) != nullptr);
    CHECK(loss.item<float>() == 4);
    // A tensor that was built before another was read uses what that became.
    const Tensor a = w.exp(), b = a.sum();
    const Node* const origin = node_of(a).get();
    realize({a});
    CHECK(context.impl().values.known().find(origin) != nullptr);
    const float one = std::exp(2.F);
    CHECK(std::abs(b.item<float>() / (one * (1 << 15)) - 1) < 1e-5);
  });
  on_each_device([](Context& context) {
    {
      const Tensor w = large(2, context), a = w.exp();
      const Tensor b = a + 1.0;
      realize({a});
      CHECK(b.to_vector<float>()[0] == std::exp(2.F) + 1);
    }
    CHECK(context.impl().values.known().size() == 0);
  });
}

namespace {

/// What is written on stderr meanwhile.
std::string said(const std::function<void()>& action) {
  std::fflush(stderr);
  const int old = dup(2);
  std::FILE* const file = std::tmpfile();
  REQUIRE(file);
  dup2(fileno(file), 2);
  action();
  std::fflush(stderr);
  dup2(old, 2);
  close(old);
  std::rewind(file);
  std::string out(1 << 16, 0);
  out.resize(std::fread(out.data(), 1, out.size(), file));
  std::fclose(file);
  return out;
}

size_t count(const std::string& text, const std::string& part) {
  size_t out = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++out;
  return out;
}

}  // namespace

TEST_CASE("a compiled function keeps its last 256 traces") {
  on_each_device([](Context& context) {
    int calls = 0;
    auto held = std::make_shared<int>(0);
    const auto f = compile(
        [&calls, held](const Tensor& x, int64_t) {
          ++calls;
          return std::pair(x * 2.0, std::vector<Tensor>(static_cast<size_t>(calls % 3), x));
        },
        {.name = "twice"});
    const Tensor x = ones({2}, DType::kF32, context);
    const std::string traced = said([&] {
      for (int64_t i = 0; i < 300; ++i) {
        f(x, i);
        f(x, 0);  // used again and again: it stays
      }
    });
    CHECK(calls == 300);
    CHECK(f.traces() == 256);
    CHECK(count(traced, "[twice] keeps 256 traces") == 1);
    f(x, 299);
    CHECK(calls == 300);
    CHECK(f(x, 1).first.to_vector<float>() == std::vector<float>{2, 2});  // it had to go
    CHECK(calls == 301);
    CHECK(f.traces() == 256);
  });
}

TEST_CASE("a graph that grows, plans remade for a number and traces are reported once each") {
  on_each_device([](Context& context) {
    const Tensor x = ones({64}, DType::kF32, context);
    realize({x});
    const std::string grown = said([&] {
      Tensor total = x;
      for (int i = 0; i < 40; ++i) {
        for (int k = 0; k < 30; ++k) total = total * 0.5 + x;
        realize({total.sum()});
      }
    });
    CHECK(count(grown, "grows from step to step") == 1);
    CHECK(grown.find("Realize it too, or compile() the step") != std::string::npos);
    const std::string remade = said([&] {
      for (int i = 0; i < 40; ++i) (x.slice({Slice{i, i + 1}}) * 2.0).to_vector<float>();
    });
    CHECK(count(remade, "for the 16th time, on tensors of the same shapes") == 1);
    INFO(remade);
    CHECK(remade.find("a view f32[1] has other numbers") != std::string::npos);
    const std::string traced = said([&] {
      const auto f = compile([](const Tensor& y) { return y * 2.0; }, {.name = "twice"});
      for (int i = 1; i < 20; ++i) f(x.slice({Slice{0, i}}));
    });
    CHECK(count(traced, "[twice] is traced and planned for the 8th time") == 1);
    const std::string quiet = said([&] {
      for (int i = 0; i < 20; ++i) {
        const Tensor at = tensor<int64_t>({i}, context);
        (x.take(at, 0) * static_cast<double>(i)).to_vector<float>();
      }
    });
    CHECK(quiet.empty());
  });
}

namespace {

/// Weights and their two moments.
struct Adam {
  std::vector<Tensor> w, m, v;
  auto fields() { return std::tie(w, m, v); }
};

std::pair<Adam, Tensor> adam_step(Adam state, const Tensor& x, const Tensor& rate,
                                  const Tensor& number, const Key& key) {
  const auto [loss, g] = value_and_grad([&](const std::vector<Tensor>& w) {
    const Tensor h = (x.matmul(w[0]) + w[1]).relu() * dropout_mask(key, {16, 128}, 0.1);
    return (h.matmul(w[2]) - x.slice({{}, Slice{0, 64}})).square().mean();
  })(state.w);
  for (size_t i = 0; i < g.size(); ++i) {
    state.m[i] = state.m[i] * 0.9 + g[i] * 0.1;
    state.v[i] = state.v[i] * 0.999 + g[i].square() * 0.001;
    const Tensor m = state.m[i] / (1 - pow(0.9, number));
    const Tensor v = state.v[i] / (1 - pow(0.999, number));
    state.w[i] = state.w[i] - rate * m / (v.sqrt() + 1e-8);
  }
  return {state, loss};
}

}  // namespace

TEST_CASE("a thousand steps of Adam: one plan, no new nodes, memory flat, all in place") {
  on_each_device([](Context& context) {
    const bool is_fast = context.device().id == "cpu:0";
    const auto step = compile(adam_step, {.name = "step", .donate = {0}});
    Adam state;
    for (const auto& shape : std::vector<std::vector<int64_t>>{{256, 128}, {128}, {128, 64}}) {
      state.w.push_back(normal(Key(state.w.size(), context), shape) * 0.05);
      state.m.push_back(zeros(shape, DType::kF32, context));
      state.v.push_back(zeros(shape, DType::kF32, context));
    }
    const Tensor x = normal(Key(9, context), {16, 256});
    const auto places = [&] {
      std::vector<std::pair<const tn_memory*, uint64_t>> out;
      for (const auto* list : {&state.w, &state.m, &state.v})
        for (const Tensor& t : *list) out.emplace_back(memory_of(t), offset_of(t));
      return out;
    };
    Tensor loss = 0;
    std::vector<float> losses;
    std::vector<std::pair<const tn_memory*, uint64_t>> first;
    size_t plans = 0, nodes = 0;
    uint64_t bytes = 0;
    const int steps = is_fast ? 1000 : 6;
    for (int i = 0; i < steps; ++i) {
      const double rate = 0.003 / (1 + i / 100.0);
      std::tie(state, loss) = step(state, x, rate, i + 1.0, Key(static_cast<uint64_t>(i), context));
      if (i % 100 == 3 || i == steps - 1) losses.push_back(loss.item<float>());
      if (i == 3) {
        first = places();
        plans = runtime_of(context).plan_count();
        nodes = step.nodes();
        bytes = context.device().bytes_in_use;
      }
    }
    CHECK(step.traces() == 1);
    CHECK(runtime_of(context).plan_count() == plans);
    CHECK(step.nodes() == nodes);
    CHECK(context.device().bytes_in_use == bytes);
    CHECK(places() == first);
    CHECK(losses.back() < losses.front() * (is_fast ? 0.2F : 1.F));
  });
}

TEST_CASE("what a run leaves behind does not hold what is donated") {
  on_each_device([](Context& context) {
    const auto f = compile([](const Tensor& w, const Tensor& g) { return std::pair(w + g, g); },
                           {.name = "step", .donate = {0, 1}});
    const Tensor x = large(1, context), a = x * 2.0, b = a + 1.0;
    realize({a, b});
    CHECK(f(a, b).first.to_vector<float>()[0] == 5);
    // An argument that depends on another, both lazy.
    const Tensor c = x * 3.0;
    auto [d, e] = f(c, c + 1.0);
    CHECK(d.to_vector<float>()[0] == 7);
    // What came back unchanged is nobody else's.
    CHECK(f(d, e).first.to_vector<float>()[0] == 11);
  });
}

TEST_CASE("equal tensors that are realised apart are two leaves") {
  on_each_device([](Context& context) {
    const Tensor x = tensor<float>({1, 2}, context);
    const Tensor a = x * 2.0, b = x * 2.0;
    realize({a});
    realize({b});
    const Tensor loss = (a * 2.0 + b * 3.0).sum();
    CHECK(grad(loss, {a})[0].to_vector<float>() == std::vector<float>{2, 2});
    CHECK(grad(loss, {a, b})[1].to_vector<float>() == std::vector<float>{3, 3});
  });
}

TEST_CASE("numbers of a compiled function are exact, and stay numbers among each other") {
  on_each_device([](Context& context) {
    const auto f = compile([](const Tensor& w, const Tensor& a, const Tensor& b) {
      return std::pair(w * a, w - a / b);
    });
    const Tensor w = tensor<double>({1}, context);
    CHECK(f(w, 0.1, 3).first.item<double>() == 0.1);
    CHECK(f(w, 1e300, 3).first.item<double>() == 1e300);
    const Tensor v = tensor<float>({1}, context);
    const auto [x, y] = f(v, 0.5, 2);
    CHECK(x.dtype() == DType::kF32);
    CHECK(y.item<float>() == 0.75F);
  });
}

TEST_CASE("a call that is refused spends nothing") {
  on_each_device([](Context& context) {
    bool fails = true;
    const auto f = compile(
        [&](const Tensor& w, const Tensor& by) {
          if (fails) fail(ErrorKind::kInvalid, "not yet");
          return w * by;
        },
        {.donate = {0}});
    const Tensor w = large(2, context);
    refuses([&] { f(w, 0.5); }, "not yet");
    fails = false;
    CHECK(f(w, 0.5).to_vector<float>()[0] == 1);
  });
}
