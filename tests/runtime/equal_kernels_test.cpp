// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that differ in names alone are lowered and compiled once.
#include <catch2/catch_test_macros.hpp>

#include "core/compile/chooser.hpp"
#include "core/ir/text/text.hpp"
#include "core/runtime/run_state.hpp"
#include "core/schedule/canonical.hpp"
#include "tests/runtime/support.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

Array numbers_from(std::vector<int64_t> shape, int first) {
  Array array = Array::zeros(DType::kF32, std::move(shape));
  for (int64_t i = 0; i < array.count(); ++i)
    array.set(i, Scalar::of(DType::kF32, static_cast<double>((i + first) % 11) - 3));
  return array;
}

/// Runs it, compares with the reference and gives what the run took.
RunStats run(Runtime& runtime, const std::string& text, const std::vector<Array>& inputs,
             const SymbolValues& symbols = {}) {
  const Graph graph = parse_graph(text, runtime.builder());
  RunStats stats;
  const std::vector<Array> got = runtime.run(graph, inputs, symbols, "", &stats);
  const std::vector<Array> expected = evaluate(graph, inputs, symbols);
  REQUIRE(got.size() == expected.size());
  for (size_t o = 0; o < got.size(); ++o) CHECK(got[o] == expected[o]);
  return stats;
}

}  // namespace

TEST_CASE("a transformer of four equal blocks is compiled from ten programs or fewer") {
  for (const char* backend : {"cpu", "null"}) {
    if (!fs::exists(plugin_file(backend))) continue;
    CAPTURE(backend);
    Runtime runtime(options_for(backend, backend));
    const Graph graph =
        parse_graph(read_file(fs::path(TENON_SOURCE_DIR) / "tests/golden/in/transformer4.tn"),
                    runtime.builder());
    std::vector<BufferRef> inputs;
    for (const NodeRef& param : graph.params) {
      const auto bytes = static_cast<size_t>(product(param->shape).value()) * 4;
      inputs.push_back(runtime.device().allocate(bytes));
      const std::vector<uint8_t> zeros(bytes);
      runtime.device().write(*inputs.back(), 0, zeros.data(), bytes);
    }
    const SchedulePlanRef plan = runtime.planned(graph, inputs).plan;
    size_t kernels = 0;
    for (const Step& step : plan->schedule().steps)
      kernels += std::holds_alternative<KernelCall>(step.call);
    CAPTURE(kernels, plan->programs());
    CHECK(kernels >= 20);
    CHECK(plan->programs() <= 10);
    CHECK(plan->programs() >= 2);
  }
}

TEST_CASE("names of inputs do not enter programs") {
  Runtime runtime(options_for("null", "null"));
  const RunStats stats = run(runtime, R"(graph two(%left: f32[4, 6], %right.hand: f32[4, 6]) {
  %a = reduce.add %left, axes=[1]        : f32[4, 1]
  %b = reduce.add %right.hand, axes=[1]  : f32[4, 1]
  %x = expand %a : f32[4, 6]
  %y = expand %b : f32[4, 6]
  %p = mul %x, %left
  %q = mul %y, %right.hand
  %r = reduce.max %p, axes=[0]           : f32[1, 6]
  %s = reduce.max %q, axes=[0]           : f32[1, 6]
  return %r, %s
})",
                             {numbers_from({4, 6}, 0), numbers_from({4, 6}, 5)});
  CHECK(stats.kernels >= 2);
  CHECK(stats.programs * 2 <= stats.kernels);
}

TEST_CASE("names of symbols do not enter programs, whatever order they sort in") {
  Runtime runtime(options_for("null", "null"));
  const char* const text =
      R"(graph scale(%x: f32[n, m], %y: f32[a, z]) where 0 <= n <= 100, 0 <= m <= 100, 0 <= z <= 100, 0 <= a <= 100 {
  %p = add %x, %x                  : f32[n, m]
  %r = reduce.add %p, axes=[0]     : f32[1, m]
  %q = add %y, %y                  : f32[a, z]
  %s = reduce.add %q, axes=[0]     : f32[1, z]
  return %r, %s
})";
  const RunStats stats = run(runtime, text, {numbers_from({3, 5}, 0), numbers_from({7, 2}, 4)},
                             {{"n", 3}, {"m", 5}, {"a", 7}, {"z", 2}});
  CHECK(stats.kernels == 2);
  // Symbols count by their place among the graph's: n, m and z, a are in another order.
  CHECK(stats.programs <= 2);
  // Swapped names must not be taken for each other.
  run(runtime, R"(graph swapped(%x: f32[n1, n0]) where 0 <= n1 <= 100, 0 <= n0 <= 100 {
  %p = add %x, %x                  : f32[n1, n0]
  %r = reduce.add %p, axes=[0]     : f32[1, n0]
  return %p, %r
})",
      {numbers_from({3, 5}, 1)}, {{"n1", 3}, {"n0", 5}});
}

TEST_CASE("equal kernels in names alone become the same nodes, others do not") {
  Builder b;
  const auto kernel = [&](const std::string& text) {
    return canonical_kernel(parse_graph(text, b), b).graph;
  };
  const Graph first =
      kernel("graph a(%x: f32[n]) where 0 <= n <= 9 {\n%y = add %x, %x\nreturn %y }");
  const auto same = [&](const std::string& text) {
    const Graph other = kernel(text);
    return first.outputs == other.outputs && first.params == other.params;
  };
  CHECK(same("graph b(%y: f32[k]) where 0 <= k <= 9 {\n%x = add %y, %y\nreturn %x }"));
  CHECK_FALSE(same("graph b(%x: f32[n]) where 0 <= n <= 10 {\n%y = add %x, %x\nreturn %y }"));
  CHECK_FALSE(same("graph b(%x: f32[n]) where 0 <= n <= 9 {\n%y = mul %x, %x\nreturn %y }"));
  CHECK_FALSE(same("graph b(%x: f32[9]) {\n%y = add %x, %x\nreturn %y }"));
  CHECK_FALSE(
      same("graph b(%z: f32[n], %x: f32[n]) where 0 <= n <= 9 {\n%y = add %x, %x\nreturn %y }"));
}

TEST_CASE("what a device refuses is named as the graph names it") {
  if (!fs::exists(plugin_file("limited_webgpu"))) return;
  Runtime runtime(options_for("limited_webgpu", "limited_webgpu"));
  const auto refused = [&](const char* text, const SymbolValues& symbols) {
    const Graph graph = parse_graph(text, runtime.builder());
    return error_of([&] {
      TemplateChooser templates;
      const SchedulePlanRef plan = runtime.plan(graph, templates);
      const std::shared_ptr<Layout> layout = plan->run_state().layout(symbols);
      layout->release(layout->acquire(*plan));
    });
  };
  // Few elements, read at positions counted far beyond 32 bits.
  CHECK(has(refused("graph big(%weights: f32[70001, 1]) {\n"
                    "%e = expand %weights : f32[70001, 70001]\n"
                    "%f = reshape %e : f32[4900140001]\n"
                    "%y = reduce.add %f, axes=[0]\nreturn %y }",
                    {}),
            "expected indices below 2^31 for a device of 32-bit indices"));
  CHECK(has(refused("graph big(%weights: f32[rows, 1]) where 1 <= rows <= 70000 {\n"
                    "%e = expand %weights : f32[rows, 70000]\n"
                    "%f = reshape %e : f32[rows*70000]\n"
                    "%y = reduce.add %f, axes=[0]\nreturn %y }",
                    {{"rows", 70000}}),
            "in buffer weights of rows elements"));
}
