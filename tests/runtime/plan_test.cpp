// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans are found by structure, and replaying one costs little.
#include <catch2/catch_test_macros.hpp>
#include <chrono>

#include "core/runtime/plan_cache.hpp"
#include "tests/runtime/support.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

SchedulePlanRef empty_plan() {
  return std::make_shared<SchedulePlan>(Schedule{}, std::vector<StepPlan>{}, DeviceList{});
}

Graph chain(Builder& b, int64_t size, uint64_t identity) {
  Graph graph;
  graph.params = {b.param("x", DType::kF32, {Expr(size)}, identity)};
  graph.outputs = {b.binary(Op::ADD, graph.params[0], graph.params[0])};
  graph.output_names = {""};
  return graph;
}

}  // namespace

TEST_CASE("equal structures share a plan, others do not") {
  Builder b;
  PlanCache cache(3);
  int built = 0;
  bool found = false;
  const auto get = [&](const Graph& graph, std::vector<int> devices) {
    return cache.get(
        graph, devices, [&] { return ++built, empty_plan(); }, found);
  };
  const auto first = get(chain(b, 4, 1), {0});
  CHECK_FALSE(found);
  CHECK(get(chain(b, 4, 1), {0}) == first);
  CHECK(found);
  CHECK(get(chain(b, 4, 2), {0}) == first);  // another tensor of the same form
  CHECK(built == 1);
  CHECK(get(chain(b, 4, 1), {1}) != first);  // elsewhere
  CHECK(get(chain(b, 5, 1), {0}) != first);
  CHECK(built == 3);
  for (int64_t n = 6; n < 20; ++n) get(chain(b, n, 1), {0});
  CHECK(cache.size() == 3);
  get(chain(b, 4, 1), {0});
  CHECK_FALSE(found);  // the oldest was dropped
}

TEST_CASE("a plan that fails is not kept") {
  Builder b;
  PlanCache cache;
  bool found = false;
  const Graph graph = chain(b, 4, 1);
  const auto fails = [&]() -> SchedulePlanRef { throw Error(ErrorKind::kUnsupported, "no"); };
  CHECK(error_of([&] { cache.get(graph, {0}, fails, found); }) == "no");
  CHECK(error_of([&] { cache.get(graph, {0}, fails, found); }) == "no");
  CHECK(cache.size() == 0);
  CHECK(cache.get(
            graph, {0}, [] { return empty_plan(); }, found) != nullptr);
}

TEST_CASE("a replayed plan of 100 launches costs little for each") {
  // The fake device's kernels do next to nothing, so what is measured is the core.
  Context context(options_for("fake:0", "fake"));
  Builder& b = context.builder();
  Graph graph;
  const Shape square{Expr(8), Expr(8)};
  graph.params = {b.param("x", DType::kF32, square)};
  NodeRef x = graph.params[0];
  for (int i = 0; i < 100; ++i)  // along rows and columns in turn: nothing can be fused
    x = b.binary(Op::ADD, x, b.expand(b.reduce(Op::ADD, x, {i % 2}), square));
  graph.outputs = {x};
  graph.output_names = {""};
  const BufferRef input = context.device().allocate(256, "x");
  RunStats stats;
  context.run(graph, std::vector<BufferRef>{input}, {}, &stats);
  const int kernels = stats.kernels;
  CHECK(kernels >= 50);
  double best = 1e9;
  for (int i = 0; i < 50; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    context.run(graph, std::vector<BufferRef>{input}, {}, &stats);
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
    best = std::min(best, time.count() / kernels);
    context.device().synchronize();
  }
  CHECK(stats.plan_cached);
  WARN("core overhead per launch: " << best << " us over " << kernels << " launches");
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
  CHECK(best < 5);
#else
  CHECK(best < 100);
#endif
}
