// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops and branches of tensors: traced once, with what they capture, in and out of compiled
// functions; what they cost, and what they refuse.
#include <algorithm>

#include "frontend/tensor/state.hpp"
#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"
#include "tests/tensor/refusals.hpp"

namespace tenon::test {
namespace {

using Tensors = std::vector<Tensor>;
using Floats = std::vector<float>;

/// h = h w + x of each row.
Tensor last_of(const Tensor& w, const Tensor& xs) {
  const auto step = [&](const Tensors& carried, const Tensors& rows) {
    const Tensor h = carried[0] * w + rows[0];
    return Scanned{{h}, {h}};
  };
  return scan(step, {w * 0}, {xs}).carried[0];
}

TEST_CASE("a body is traced once, and used in each trip") {
  on_each_device([](Context& context) {
    const Tensor w = tensor<float>(2, context);
    const Tensor xs = tensor<float>({1, 2, 3}, context);
    int traced = 0;
    const auto step = [&](const Tensors& carried, const Tensors& rows) {
      ++traced;
      const Tensor h = carried[0] * w + rows[0];
      return Scanned{{h, carried[1] + 1}, {h, rows[0] * 10}};
    };
    const Scanned forward = scan(step, {0.0f, 0}, {xs});
    CHECK(traced == 1);
    CHECK(forward.carried[0].item<float>() == 11);
    CHECK(forward.carried[1].item<int64_t>() == 3);
    CHECK(forward.outputs[0].to_vector<float>() == Floats{1, 4, 11});
    CHECK(forward.outputs[1].to_vector<float>() == Floats{10, 20, 30});
    const Scanned back = scan(step, {0.0f, 0}, {xs}, {.reverse = true});
    CHECK(back.outputs[0].to_vector<float>() == Floats{17, 8, 3});
    CHECK(back.outputs[1].to_vector<float>() == Floats{10, 20, 30});
  });
}

TEST_CASE("what a loop captures has gradients, in and out of compiled functions") {
  on_each_device([](Context& context) {
    const Tensor xs = tensor<float>({1, 2, 3}, context);
    const auto slopes = value_and_grad([](const Tensors& in) { return last_of(in[0], in[1]); });
    const auto compiled = compile([&](Tensor w, Tensor x) {
      const auto [value, g] = slopes({w, x});
      return std::tuple(value, g[0], g[1]);
    });
    for (const float at : {2.0f, 3.0f}) {
      // x0 w^2 + x1 w + x2
      const Tensor w = tensor<float>(at, context);
      const auto [value, g] = slopes({w, xs});
      CHECK(value.item<float>() == at * at + 2 * at + 3);
      CHECK(g[0].item<float>() == 2 * at + 2);
      CHECK(g[1].to_vector<float>() == Floats{at * at, at, 1});
      const auto [again, of_w, of_x] = compiled(w, xs);
      CHECK(again.item<float>() == at * at + 2 * at + 3);
      CHECK(of_w.item<float>() == 2 * at + 2);
      CHECK(of_x.to_vector<float>() == Floats{at * at, at, 1});
    }
    CHECK(compiled.traces() == 1);
  });
}

TEST_CASE("trips of any integer type are bounded by their minimum with a number") {
  on_each_device([](Context& context) {
    for (const DType dtype : {DType::kI8, DType::kU8, DType::kI32, DType::kU32, DType::kI64}) {
      const Tensor n = tensor<int64_t>(3, context).astype(dtype);
      realize({n});
      const auto squares = value_and_grad([&](const Tensors& in) {
        const auto square = [](const Tensor&, const Tensors& x) { return Tensors{x[0] * x[0]}; };
        return fori_loop(0, n.minimum(5), square, {in[0]})[0];
      });
      const auto [value, g] = squares({tensor<float>(2, context)});
      CHECK(value.item<float>() == 256);        // x^8
      CHECK(g[0].item<float>() == 8 * 128.0f);  // 8 x^7
    }
  });
}

TEST_CASE("one plan serves scans of all lengths") {
  on_each_device([](Context& context) {
    const auto slopes = value_and_grad([](const Tensors& in) { return last_of(in[0], in[1]); });
    const auto f = compile([&](Tensor w, Tensor x) {
      const auto [value, g] = slopes({w, x});
      return std::tuple(value, g[0]);
    });
    const Size n = Size::symbol("n", 0, 64);
    const Tensor w = tensor<float>(1, context);
    for (const int64_t length : {3, 40, 1}) {
      const Tensor xs = arange(length, DType::kF32, context).with_size(0, n);
      const auto [value, of_w] = f(w, xs);
      const float sum = static_cast<float>(length * (length - 1) / 2);
      CHECK(value.item<float>() == sum);
      float expected = 0;  // of w: sum of x_i (n - 1 - i)
      for (int64_t i = 0; i < length; ++i) expected += static_cast<float>(i * (length - 1 - i));
      CHECK(of_w.item<float>() == expected);
    }
    CHECK(f.traces() == 1);
  });
}

TEST_CASE("trips and branches may depend on values") {
  on_each_device([](Context& context) {
    const auto twice = [](const Tensor& i, const Tensors& v) {
      return Tensors{v[0] * 2 + i.astype(DType::kF32)};
    };
    const auto f = compile([&](Tensor n, Tensor x) {
      const Tensor yes = fori_loop(1, n, twice, {x})[0];
      return cond(
          n > 3, [&](const Tensors&) { return Tensors{yes}; },
          [](const Tensors& v) { return Tensors{-v[0]}; }, {x})[0];
    });
    const Tensor x = tensor<float>(1, context);
    CHECK(f(tensor<int64_t>(4, context), x).item<float>() == 19);  // 3, 8, 19
    CHECK(f(tensor<int64_t>(5, context), x).item<float>() == 42);
    CHECK(f(tensor<int64_t>(0, context), x).item<float>() == -1);
    CHECK(f.traces() == 1);
    const auto below = [](const Tensors& v) { return v[0] < 100; };
    const auto doubled = [](const Tensors& v) { return Tensors{v[0] * 2}; };
    CHECK(while_loop(below, doubled, {x})[0].item<float>() == 128);
    CHECK(while_loop(below, doubled, {x}, {.max_trips = 3})[0].item<float>() == 8);
    CHECK(while_loop(below, doubled, {x * 200})[0].item<float>() == 200);
    CHECK(fori_loop(5, 2, twice, {x})[0].item<float>() == 1);
  });
}

/// Elements that one trip of each loop below these computes or copies.
int64_t work_of_trips(const Tensors& tensors) {
  std::vector<NodeRef> nodes;
  for (const Tensor& x : tensors) nodes.push_back(node_of(x));
  int64_t work = 0;
  for (const NodeRef& node : topological(nodes)) {
    if (node->op != Op::LOOP || node->as<LoopAttr>().result != 0) continue;
    for (const NodeRef& inner : topological(node->as<LoopAttr>().body->outputs)) {
      const bool is_there = inner->sources.empty() || inner->op == Op::VIEW;
      const bool in_place = inner->op == Op::STORE && inner->sources[0]->op != Op::CONST;
      if (!is_there) work += product((in_place ? inner->sources[2] : inner)->shape).value();
    }
  }
  return work;
}

TEST_CASE("a trip of a scan's gradient costs the same whatever the length") {
  on_each_device([](Context& context) {
    const auto work = [&](int64_t length) {
      const Tensor w = normal(Key(1, context), {8}), xs = normal(Key(2, context), {length, 8});
      realize({w, xs});
      const auto step = [&](const Tensors& carried, const Tensors& rows) {
        const Tensor h = (carried[0] * w + rows[0]).tanh();
        return Scanned{{h}, {h.square()}};
      };
      const Tensor sum = scan(step, {w}, {xs}).outputs[0].sum();
      return work_of_trips(grad(sum, {w, xs}));
    };
    CHECK(work(1000) == work(10));
    CHECK(work(10) > 0);
  });
}

TEST_CASE("what a body repeats is captured once") {
  on_each_device([](Context& context) {
    const Tensor w = normal(Key(1, context), {8, 4}), h = normal(Key(2, context), {16, 8});
    realize({w, h});
    const auto body = [&](const Tensor&, const Tensors& carried) {
      const Tensor x = carried[0].matmul(w) + w.take(0, 0);
      return Tensors{x.matmul(w.matrix_transpose())};
    };
    const Tensor last = fori_loop(0, 3, body, {h})[0];
    const Node& loop = *node_of(last);
    REQUIRE(loop.op == Op::LOOP);
    int64_t captured = 0;
    for (size_t s = 2; s < loop.sources.size(); ++s)
      captured += product(loop.sources[s]->shape).value();
    CHECK(captured == 2 * 32 + 4);
  });
}

TEST_CASE("loops refuse what does not fit") {
  on_each_device([](Context& context) {
    const Tensor x = tensor<float>({1, 2}, context), n = x.astype(DType::kI64);
    const auto same = [](const Tensors& v) { return v; };
    const auto scanned = [&](const std::function<Scanned(const Tensors&, const Tensors&)>& f,
                             const Tensors& inputs, const ScanOptions& options = {}) {
      return scan(f, {x}, inputs, options);
    };
    const auto keeps = [](const Tensors& v, const Tensors&) { return Scanned{v, {}}; };
    refuses([&] { scanned(keeps, {}); },
            "[scan] expected inputs or a length that say the number of steps, got neither");
    refuses([&] { scanned(keeps, {Tensor(1)}); },
            "[scan] expected inputs [n, ..], got input 0 of rank 0");
    refuses([&] { scanned(keeps, {x}, {.length = 3}); },
            "[scan] expected inputs of 3 rows, got 2 of input 0");
    refuses([&] { scanned(nullptr, {x}); }, "[scan] expected a body, got an empty function");
    refuses([&] { scan([](auto&, auto&) { return Scanned{}; }, {}, {x}); },
            "[scan] expected a function that gives tensors, got none");
    refuses(
        [&] {
          scanned([](auto& v, auto&) { return Scanned{{v[0].sum()}, {}}; }, {x});
        },
        "[scan] expected a body that keeps the type of carried value 0, f32[2], got f32[] "
        "from it");
    refuses(
        [&] {
          scanned([](auto& v, auto&) { return Scanned{{v[0].astype(DType::kI32)}, {}}; }, {x});
        },
        "of carried value 0, f32[2], got i32[2] from it");
    refuses(
        [&] {
          scanned([](auto& v, auto&) { return Scanned{{v[0], v[0]}, {}}; }, {x});
        },
        "[scan] expected a body that gives 1 carried values, as there are, got 2");
    const auto rows = [](const Tensor&, const Tensors& v) { return v; };
    refuses([&] { fori_loop(0, 2.5, rows, {x}); },
            "[fori_loop] expected end as an integer of rank 0, got f32[]");
    refuses([&] { fori_loop(-1, INT64_MAX, rows, {x}); },
            "[fori_loop] expected fewer than 2^63 trips, got -1 to 9223372036854775807");
    refuses([&] { fori_loop(n, 2, rows, {x}); },
            "[fori_loop] expected begin as an integer of rank 0, got i64[2]");
    refuses([&] { while_loop([](auto& v) { return v[0] > 0; }, same, {x}); },
            "[while_loop] expected a condition that gives bool[], got bool[2]");
    refuses([&] { while_loop([](auto& v) { return v[0].sum(); }, same, {x}, {.max_trips = -1}); },
            "[while_loop] expected at least 0 trips at most, got -1");
    refuses([&] { cond(x.sum(), same, same, {x}); },
            "[cond] expected a condition bool[], got f32[]");
    refuses(
        [&] {
          cond(x.sum() > 0, same, [](auto& v) { return Tensors{v[0], v[0]}; }, {x});
        },
        "[cond] expected branches that give as many tensors, got 1 where true and 2 where "
        "false");
    refuses([&] { cond(x.sum() > 0, same, [](auto& v) { return Tensors{v[0].sum()}; }, {x}); },
            "got f32[2] where true and f32[] where false of tensor 0");
    // A value that is not there yet, a context that is another, a gradient without a bound.
    refuses(
        [&] {
          scanned(
              [](auto& v, auto&) {
                return Scanned{{v[0] * v[0].sum().template item<float>()}, {}};
              },
              {x});
        },
        "that depends on an argument");
    ContextOptions options = cpu_and_null();
    Context other(options);
    const Tensor foreign = tensor<float>({1, 2}, other);
    refuses(
        [&] {
          scanned([&](auto&, auto&) { return Scanned{{foreign}, {}}; }, {x});
        },
        "expected tensors of one context, got two");
    refuses([&] { scanned(keeps, {foreign}); }, "[scan] expected tensors of one context, got two");
    const auto positive = [](const Tensors& v) { return v[0].sum() > 0; };
    const auto less = [](const Tensors& v) { return Tensors{v[0] - 1}; };
    const Tensor end = while_loop(positive, less, {x})[0];
    refuses([&] { grad(end.sum(), {x}); },
            "got the loop \"while_loop\" with trips of unknown bound");
    CHECK(grad(while_loop(positive, less, {x}, {.max_trips = 9})[0].sum(), {x})[0]
              .to_vector<float>() == Floats{1, 1});
  });
}

}  // namespace
}  // namespace tenon::test
