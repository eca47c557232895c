// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constants that change become inputs of a plan by themselves, and every value keeps its meaning.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <thread>

#include "core/ir/text/text.hpp"
#include "tests/runtime/support.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

bool is_nan(const Scalar& value) { return is_float(value.dtype) && std::isnan(value.as_double()); }

/// Bit for bit, but for which NaN it is.
bool same(const Array& a, const Array& b) {
  if (a.dtype != b.dtype || a.shape != b.shape) return false;
  for (int64_t i = 0; i < a.count(); ++i)
    if (!(a.at(i) == b.at(i)) && !(is_nan(a.at(i)) && is_nan(b.at(i)))) return false;
  return true;
}

/// Runs it on arrays and compares with the reference; true if the plan was there.
bool runs_right(Runtime& runtime, const Graph& graph, const std::vector<Array>& inputs,
                const SymbolValues& symbols = {}) {
  RunStats stats;
  const std::vector<Array> got = runtime.run(graph, inputs, symbols, "", &stats);
  const std::vector<Array> expected = evaluate(graph, inputs, symbols);
  REQUIRE(got.size() == expected.size());
  for (size_t o = 0; o < got.size(); ++o) {
    if (same(got[o], expected[o])) continue;
    UNSCOPED_INFO(print(graph));
    for (int64_t i = 0; i < got[o].count(); ++i)
      UNSCOPED_INFO(to_string(got[o].at(i)) << ", expected " << to_string(expected[o].at(i)));
    CHECK(same(got[o], expected[o]));
  }
  return stats.plan_cached;
}

Graph graph_of(std::vector<NodeRef> params, std::vector<NodeRef> outputs) {
  Graph graph;
  graph.params = std::move(params);
  graph.outputs = std::move(outputs);
  graph.output_names.resize(graph.outputs.size());
  return graph;
}

/// w - rate * g, and the decayed w.
Graph step(Builder& b, float rate, float decay) {
  const Shape shape{Expr(6)};
  const NodeRef w = b.param("w", DType::kF32, shape), g = b.param("g", DType::kF32, shape);
  const auto number = [&](float x) { return b.constant(Scalar::of(DType::kF32, x), shape); };
  const NodeRef next = b.binary(Op::SUB, w, b.binary(Op::MUL, number(rate), g));
  return graph_of({w, g}, {next, b.binary(Op::MUL, next, number(decay))});
}

std::vector<Scalar> edge_values(DType dtype) {
  std::vector<Scalar> values;
  for (const double x : {0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 64.0, 100.0})
    values.push_back(Scalar::of(dtype, x));
  if (is_float(dtype)) {
    for (const double x :
         {-0.0, -1.0, -2.0, 0.5, 0.1, 1e-30, 1e30, std::numeric_limits<double>::infinity(),
          -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
      values.push_back(Scalar::of(dtype, x));
  } else if (dtype != DType::kBool) {
    values.push_back(lowest(dtype));
    values.push_back(highest(dtype));
    if (is_signed(dtype)) values.push_back(Scalar::of_int(dtype, -1));
  }
  return values;
}

/// Ops on x and constants in a row: the choice of ops follows from the seed, the constants do not.
Graph random_graph(Builder& b, DType dtype, uint64_t seed, const std::vector<Scalar>& constants) {
  std::mt19937_64 random(seed);
  const auto pick = [&](size_t n) { return static_cast<size_t>(random() % n); };
  const Shape shape{Expr(2), Expr(5)};
  const NodeRef x = b.param("x", dtype, shape);
  NodeRef y = x;
  std::vector<Op> ops{Op::ADD, Op::MUL, Op::MAX, Op::MIN};
  if (dtype != DType::kBool) ops.push_back(Op::SUB);
  if (is_int(dtype))
    for (const Op op : {Op::IDIV, Op::MOD, Op::SHL, Op::SHR, Op::AND, Op::OR, Op::XOR})
      ops.push_back(op);
  std::vector<NodeRef> outputs;
  for (const Scalar& constant : constants) {
    const NodeRef c = b.constant(constant, shape);
    const size_t form = pick(8);
    const bool left = pick(4) == 0;
    const Op op = ops[pick(ops.size())];
    if (form == 0) {
      y = b.where(b.binary(Op::CMPLT, y, c), x, y);
    } else if (form == 1) {
      y = b.where(b.binary(Op::CMPNE, y, c), y, c);
    } else if (form == 2) {  // of two constants: their value counts
      y = b.binary(op, y, b.binary(Op::MAX, c, b.constant(Scalar::of(dtype, 1), shape)));
    } else {
      y = left ? b.binary(op, c, y) : b.binary(op, y, c);
    }
    if (pick(3) == 0) outputs.push_back(b.reduce(Op::MAX, y, {static_cast<int>(pick(2))}));
  }
  outputs.push_back(y);
  outputs.push_back(b.constant(constants[0], shape));
  return graph_of({x}, outputs);
}

}  // namespace

TEST_CASE("a rate that changes a thousand times takes one more plan") {
  for (const std::string& backend : backends()) {
    CAPTURE(backend);
    Runtime runtime(options_for(backend, backend));
    const std::vector<Array> inputs{numbers(DType::kF32, {6}), numbers(DType::kF32, {6})};
    for (int i = 0; i < 1000; ++i) {
      const bool cached = runs_right(
          runtime, step(runtime.builder(), 0.5f / static_cast<float>(i + 1), 1.0f), inputs);
      CHECK(cached == (i >= 2));
    }
    CHECK(runtime.plan_count() == 2);
    // Another constant begins to change: one more, and old values are still right.
    for (int i = 0; i < 100; ++i)
      runs_right(runtime, step(runtime.builder(), 0.25f, 1.0f - 0.001f * static_cast<float>(i)),
                 inputs);
    CHECK(runtime.plan_count() == 3);
    CHECK(runs_right(runtime, step(runtime.builder(), 0.5f, 1.0f), inputs));
    CHECK(runtime.plan_count() == 3);
  }
}

TEST_CASE("values that rules know keep their meaning whichever plan serves them") {
  std::vector<std::string> all = backends();
  all.emplace_back("limited_webgpu");  // words in memory, no 64-bit integers
  for (const std::string& backend : all) {
    CAPTURE(backend);
    for (const DType dtype :
         {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI32, DType::kI64, DType::kU8,
          DType::kI16, DType::kU32, DType::kU64, DType::kI8, DType::kU16, DType::kBool}) {
      CAPTURE(dtype_name(dtype));
      Runtime runtime(options_for(backend, backend));
      if (!runtime.device().capabilities().of(dtype).storage) continue;
      const std::vector<Scalar> values = edge_values(dtype);
      std::mt19937_64 random(static_cast<uint64_t>(dtype));
      const Array x = numbers(dtype, {2, 5});
      const int graphs = backend == "cpu" ? 2 : 6;
      for (int g = 0; g < graphs; ++g) {
        const size_t before = runtime.plan_count();
        std::vector<Scalar> constants(1 + random() % 4, values[0]);
        const uint64_t seed = random();
        for (int round = 0; round < 12; ++round) {
          for (Scalar& c : constants)
            if (random() % 2) c = values[random() % values.size()];
          runs_right(runtime, random_graph(runtime.builder(), dtype, seed, constants), {x});
        }
        CHECK(runtime.plan_count() - before <= 4);
      }
    }
  }
}

TEST_CASE("a graph's constants are told apart by their bits") {
  Runtime runtime(options_for("null", "null"));
  Builder& b = runtime.builder();
  Array x = Array::zeros(DType::kF32, {2});
  x.set(0, Scalar::of(DType::kF32, -0.0));
  const auto sum = [&](Scalar c) {
    const NodeRef p = b.param("x", DType::kF32, {Expr(2)});
    return graph_of({p}, {b.binary(Op::ADD, p, b.constant(c, {Expr(2)}))});
  };
  for (int i = 0; i < 3; ++i) {
    runs_right(runtime, sum(Scalar::of(DType::kF32, -0.0)), {x});
    runs_right(runtime, sum(Scalar::of(DType::kF32, 0.0)), {x});
    runs_right(runtime, sum(Scalar{DType::kF32, 0x7fc00001}), {x});
  }
  CHECK(runtime.plan_count() <= 3);
}

TEST_CASE("constants that happen to be equal do not hide a plan") {
  Runtime runtime(options_for("null", "null"));
  Builder& b = runtime.builder();
  const Array x = numbers(DType::kF32, {4});
  const auto scaled = [&](float p, float q) {
    const Shape shape{Expr(4)};
    const NodeRef in = b.param("x", DType::kF32, shape);
    const auto times = [&](float c) {
      return b.binary(Op::MUL, in, b.constant(Scalar::of(DType::kF32, c), shape));
    };
    return graph_of({in}, {b.unary(Op::NEG, times(p)), b.unary(Op::SQRT, times(q))});
  };
  for (int i = 0; i < 40; ++i)
    runs_right(runtime, scaled(static_cast<float>(i % 5), static_cast<float>(i % 3)), {x});
  CHECK(runtime.plan_count() <= 4);
}

TEST_CASE("what constants shape stays structure") {
  Runtime runtime(options_for("null", "null"));
  const auto loop = [&](int trips, const char* step) {
    return parse_graph(fmt::format(R"(graph repeat(%x: f32[4]) {{
  graph body(%i: i64[], %a: f32[4]) {{
    %c = const {} : f32[4]
    %b = add %a, %c
    return %b
  }}
  %n = const {} : i64[]
  %k = const 2 : i64[1]
  %t = take %x, %k, axis=0
  %y = loop %n, %x, body=body, carried=1, while=false, result=0
  return %y, %t
}})",
                                   step, trips),
                       runtime.builder());
  };
  const Array x = numbers(DType::kF32, {4});
  for (const int trips : {3, 0, 5, 3})
    for (const char* step : {"1.0", "0.5", "2.5"}) runs_right(runtime, loop(trips, step), {x});
}

TEST_CASE("positions at the ends of 64 bits are out of bounds") {
  Runtime runtime(options_for("null", "null"));
  const std::vector<Array> inputs{numbers(DType::kF32, {9}), numbers(DType::kF32, {4})};
  for (const char* k : {"-9223372036854775808", "-9223372036854775807", "9223372036854775807",
                        "-4611686018427387905", "4611686018427387905", "-1", "9", "8"})
    runs_right(runtime,
               parse_graph(fmt::format(R"(graph ends(%x: f32[9], %v: f32[4]) {{
  %k = const {} : i64[4]
  %i = index axis=0 : i64[4]
  %n = max %i, %k
  %m = min %i, %k
  %a = take %x, %k, axis=0
  %b = take %x, %n, axis=0
  %c = take %x, %m, axis=0
  %d = store %x, %k, %v, axis=0
  %e = store.add %x, %m, %v, axis=0
  %l = cmplt %k, %i
  %o = cmpeq %m, %i
  return %a, %b, %c, %d, %e, %l, %o
}})",
                                       k),
                           runtime.builder()),
               inputs);
}

TEST_CASE("constants of graphs with symbols, and without inputs") {
  Runtime runtime(options_for("null", "null"));
  const auto scale = [&](const std::string& c, const std::string& n) {
    return parse_graph("graph s(%x: f32[" + n + ", 3]) where 0 <= " + n + " <= 50 {\n%c = const " +
                           c + " : f32[" + n + ", 3]\n%y = mul %x, %c\nreturn %y, %c\n}",
                       runtime.builder());
  };
  int made = 0;
  for (const char* c : {"3.0", "4.0", "5.0", "0.0", "nan", "3.0"})
    for (const int64_t n : {4, 0, 9})
      made += !runs_right(runtime, scale(c, n == 9 ? "m" : "n"), {numbers(DType::kF32, {n, 3})},
                          {{n == 9 ? "m" : "n", n}});
  CHECK(made == 2);
  made = 0;
  for (const char* c : {"1", "2", "3", "4", "1"})
    made += !runs_right(
        runtime,
        parse_graph(std::string("graph f() {\n%c = const ") + c + " : i64[1]\n%d = const " + c +
                        " : i16[3]\n%i = index axis=0 : i64[1]\n%y = add %i, "
                        "%c\nreturn %c, %d, %y\n}",
                    runtime.builder()),
        {});
  CHECK(made == 2);
}

TEST_CASE("threads with constants of their own share plans") {
  for (const std::string& backend : backends()) {
    Runtime runtime(options_for(backend, backend));
    std::atomic<int> wrong{0};
    const std::vector<Array> inputs{numbers(DType::kF32, {6}), numbers(DType::kF32, {6})};
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
          for (int i = 0; i < 50; ++i) {
            const Graph graph = step(runtime.builder(), 0.1f * static_cast<float>(t + 4 * i), 1.5f);
            const auto got = runtime.run(graph, inputs, {}, "");
            const auto expected = evaluate(graph, inputs, {});
            for (size_t o = 0; o < got.size(); ++o) wrong += !same(got[o], expected[o]);
          }
        });
    }
    CHECK(wrong == 0);
    CHECK(runtime.plan_count() <= 4);
  }
}

TEST_CASE("the guards and the reference agree while constants change") {
  RuntimeOptions options = options_for("null", "null");
  options.guard_bytes = 256;
  options.validate = true;
  Runtime runtime(options);
  const std::vector<Array> inputs{numbers(DType::kF32, {6}), numbers(DType::kF32, {6})};
  for (int i = 0; i < 20; ++i)
    runs_right(runtime, step(runtime.builder(), 0.1f * static_cast<float>(i), 0.5f), inputs);
  CHECK(runtime.plan_count() == 2);
  CHECK(runtime.device().check_guards().empty());
}
