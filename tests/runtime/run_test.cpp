// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runtime::run end to end, on the null backend and on the CPU plugin where it is built.
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <thread>

#include "core/compile/chooser.hpp"
#include "core/ir/text/text.hpp"
#include "tests/runtime/support.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

void check_run(Runtime& runtime, const std::string& text, const std::vector<Array>& inputs,
               const SymbolValues& symbols = {}, RunStats* stats = nullptr) {
  const Graph graph = parse_graph(text, runtime.builder());
  const std::vector<Array> got = runtime.run(graph, inputs, symbols, "", stats);
  const std::vector<Array> expected = evaluate(graph, inputs, symbols);
  REQUIRE(got.size() == expected.size());
  for (size_t o = 0; o < got.size(); ++o) {
    CHECK(got[o].dtype == expected[o].dtype);
    CHECK(got[o].shape == expected[o].shape);
    CHECK(got[o].bytes == expected[o].bytes);
  }
}

const char* const kSum = R"(graph sum(%x: f32[4, 6], %y: f32[4, 6]) {
  %a = add %x, %y                  : f32[4, 6]
  %r = reduce.add %a, axes=[1]     : f32[4, 1]
  return %r
})";

const char* const kSymbolic = R"(graph scale(%x: f32[n, 3]) where 0 <= n <= 1000 {
  %a = add %x, %x                  : f32[n, 3]
  %r = reduce.add %a, axes=[0]     : f32[1, 3]
  return %a, %r
})";

}  // namespace

TEST_CASE("a graph runs and agrees with the reference") {
  for (const std::string& backend : backends()) {
    CAPTURE(backend);
    Runtime runtime(options_for(backend, backend));
    RunStats stats;
    check_run(runtime, kSum, {numbers(DType::kF32, {4, 6}), numbers(DType::kF32, {4, 6})}, {},
              &stats);
    CHECK(stats.kernels >= 1);
    CHECK_FALSE(stats.plan_cached);
    check_run(runtime, kSum, {numbers(DType::kF32, {4, 6}), numbers(DType::kF32, {4, 6})}, {},
              &stats);
    CHECK(stats.plan_cached);
    CHECK(stats.compile_ms == 0);
  }
}

TEST_CASE("other values of symbols re-use the plan, zero-size ones too") {
  for (const std::string& backend : backends()) {
    CAPTURE(backend);
    Runtime runtime(options_for(backend, backend));
    bool first = true;
    for (const int64_t n : {5, 17, 0, 1, 5, 1000}) {
      RunStats stats;
      check_run(runtime, kSymbolic, {numbers(DType::kF32, {n, 3})}, {{"n", n}}, &stats);
      CHECK(stats.plan_cached == !first);
      first = false;
    }
  }
}

TEST_CASE("inputs and symbols are checked by name") {
  Runtime runtime(options_for(backends()[0], backends()[0]));
  const Graph graph = parse_graph(kSymbolic, runtime.builder());
  const auto run = [&](const Array& x, const SymbolValues& symbols) {
    return error_of([&] { runtime.run(graph, std::vector<Array>{x}, symbols, ""); });
  };
  const Array x = numbers(DType::kF32, {5, 3});
  CHECK(run(x, {}) == "");
  CHECK(has(run(x, {{"n", 6}}), "input 0 (x): expected shape [6, 3], got [5, 3]"));
  CHECK(has(run(x, {{"n", 5000}}), "expected 0 <= n <= 1000, got 5000"));
  CHECK(has(run(x, {{"n", 5}, {"m", 2}}), "got m = 2"));
  CHECK(has(run(numbers(DType::kI32, {5, 3}), {}), "expected f32, got i32"));
  CHECK(has(error_of([&] {
              runtime.run(graph, std::vector<Array>{}, {{"n", 5}}, "");
            }),
            "expected 1 inputs, got 0"));
  const BufferRef small = runtime.device().allocate(8);
  CHECK(has(error_of([&] {
              runtime.run(graph, std::vector<BufferRef>{small}, {{"n", 5}});
            }),
            "expected 60 bytes for f32[n, 3], got 8"));
  CHECK(has(error_of([&] { runtime.run(graph, std::vector<BufferRef>{small}, {}); }),
            "expected a value of symbol n"));
  CHECK(has(error_of([&] { runtime.device("gpu:7"); }), "got 'gpu:7'"));
}

TEST_CASE("an output that is an input is the same buffer") {
  Runtime runtime(options_for(backends()[0], backends()[0]));
  Builder& b = runtime.builder();
  Graph graph;
  graph.params = {b.param("x", DType::kI32, {Expr(4)})};
  graph.outputs = {graph.params[0], b.binary(Op::ADD, graph.params[0], graph.params[0])};
  graph.output_names = {"", ""};
  const BufferRef x = runtime.device().allocate(16);
  const int32_t values[4] = {1, 2, 3, 4};
  runtime.device().write(*x, 0, values, 16);
  const auto outputs = runtime.run(graph, std::vector<BufferRef>{x});
  CHECK(outputs[0] == x);
  int32_t doubled[4];
  runtime.device().read(*outputs[1], 0, doubled, 16);
  CHECK(doubled[3] == 8);
}

TEST_CASE("several threads run on one context") {
  for (const std::string& backend : backends()) {
    Runtime runtime(options_for(backend, backend));
    std::vector<std::jthread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        const Graph graph = parse_graph(t % 2 ? kSum : kSymbolic, runtime.builder());
        for (int i = 0; i < 20; ++i) {
          const int64_t n = 1 + i % 5;
          std::vector<Array> inputs{numbers(DType::kF32, {t % 2 ? 4 : n, t % 2 ? 6 : 3})};
          if (t % 2) inputs.push_back(inputs[0]);
          const SymbolValues symbols = t % 2 ? SymbolValues{} : SymbolValues{{"n", n}};
          const auto got = runtime.run(graph, inputs, symbols, "");
          const auto expected = evaluate(graph, inputs, symbols);
          for (size_t o = 0; o < got.size(); ++o) wrong += got[o].bytes != expected[o].bytes;
        }
      });
    }
    threads.clear();
    CHECK(wrong == 0);
  }
}

TEST_CASE("guard zones keep what a kernel writes over in one buffer") {
  for (const std::string& backend : backends()) {
    CAPTURE(backend);
    RuntimeOptions options = options_for(backend, backend);
    options.guard_bytes = 256;
    Runtime runtime(options);
    // The difference goes over the sum that it is made from.
    check_run(runtime, R"(graph centre(%x: f32[2, 4]) {
  %d = add %x, %x                  : f32[2, 4]
  %m = reduce.max %d, axes=[0]     : f32[1, 4]
  %e = expand %m                   : f32[2, 4]
  %s = sub %d, %e                  : f32[2, 4]
  %r = reduce.add %s, axes=[0]     : f32[1, 4]
  %f = expand %r                   : f32[2, 4]
  %o = mul %s, %f                  : f32[2, 4]
  return %o
})",
              {numbers(DType::kF32, {2, 4})});
    CHECK(runtime.device().check_guards().empty());
  }
}

namespace {
/// No transforms at all.
class Plain : public WrittenChooser {
 public:
  LoweredKernel choose(const UnchosenKernel& kernel) override {
    ++kernels;
    LoweredKernel lowered = WrittenChooser::choose(kernel);
    ok = ok && kernel.number < 4 && lowered.chosen.list.empty();
    return lowered;
  }
  std::atomic<size_t> kernels{0};
  std::atomic<bool> ok{true};
};
}  // namespace

TEST_CASE("a plan of its own is chosen by the caller and kept by nobody") {
  for (const std::string& backend : backends()) {
    CAPTURE(backend);
    Runtime runtime(options_for(backend, backend));
    const Graph graph = parse_graph(kSum, runtime.builder());
    Plain plain;
    const SchedulePlanRef plan = runtime.plan(graph, plain);
    CHECK(plain.kernels > 0);
    CHECK(plain.ok);
    const std::vector<Array> inputs{numbers(DType::kF32, {4, 6}), numbers(DType::kF32, {4, 6})};
    std::vector<BufferRef> buffers;
    for (const Array& input : inputs) {
      buffers.push_back(runtime.device().allocate(input.bytes.size()));
      runtime.device().write(*buffers.back(), 0, input.bytes.data(), input.bytes.size());
    }
    const std::vector<BufferRef> outputs = runtime.run_planned(graph, *plan, buffers);
    Array got = Array::zeros(DType::kF32, {4, 1});
    runtime.device().read(*outputs[0], 0, got.bytes.data(), got.bytes.size());
    CHECK(got == evaluate(graph, inputs)[0]);
    RunStats stats;
    check_run(runtime, kSum, inputs, {}, &stats);
    CHECK(!stats.plan_cached);
    CHECK_THROWS(runtime.run_planned(graph, *plan, {buffers[0]}));
  }
}
