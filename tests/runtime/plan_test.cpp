// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans are found by structure, and replaying one costs little.
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <stdexcept>

#include "core/runtime/plan_cache.hpp"
#include "tests/runtime/support.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

SchedulePlanRef empty_plan() {
  return std::make_shared<SchedulePlan>(Schedule{}, std::vector<StepPlan>{}, DeviceList{});
}

/// Gives empty plans and counts them.
class Counting : public PlanCompiler {
 public:
  explicit Counting(Builder& builder) : builder_(builder) {}

  SchedulePlanRef build(const Graph& graph, const std::vector<InputPlace>& input_places) override {
    if (graph.params.size() != input_places.size()) throw std::logic_error("a device an input");
    if (refuses && (refuses(graph))) throw Error(ErrorKind::kUnsupported, "no");
    last = graph;
    ++built;
    return empty_plan();
  }
  DTypeSet varying(const std::vector<InputPlace>&) override { return ~DTypeSet{0}; }
  std::vector<int> devices_of(const Skeleton& skeleton, const std::vector<InputPlace>&) override {
    return std::vector<int>(skeleton.uses().size(), 0);
  }
  Builder& builder() override { return builder_; }

  int built = 0;
  Graph last;
  std::function<bool(const Graph&)> refuses;

 private:
  Builder& builder_;
};

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
  Counting maker(b);
  const int& built = maker.built;
  bool found = false;
  const auto get = [&](const Graph& graph, const std::vector<InputPlace>& devices) {
    return cache.get(graph, devices, maker, found).plan;
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
  Counting maker(b);
  maker.refuses = [](const Graph&) { return true; };
  CHECK(error_of([&] { cache.get(graph, {0}, maker, found); }) == "no");
  CHECK(error_of([&] { cache.get(graph, {0}, maker, found); }) == "no");
  CHECK(cache.size() == 0);
  maker.refuses = nullptr;
  CHECK(cache.get(graph, {0}, maker, found).plan != nullptr);
}

TEST_CASE("a constant that changes becomes an input, the others stay") {
  Builder b;
  PlanCache cache;
  Counting maker(b);
  bool found = false;
  const auto get = [&](float p, float q, float r) {
    const Shape shape{Expr(4)};
    NodeRef x = b.param("x", DType::kF32, shape);
    Graph graph;
    graph.params = {x};
    for (const float c : {p, q, r})
      x = b.binary(Op::ADD, x, b.constant(Scalar::of(DType::kF32, c), shape));
    graph.outputs = {x};
    graph.output_names = {""};
    return cache.get(graph, {0}, maker, found);
  };
  const auto elements = [](const PlanUse& use) { return use.constants != nullptr; };
  CHECK_FALSE(elements(get(1, 2, 3)));
  CHECK(elements(get(1, 5, 3)));
  CHECK(maker.built == 2);
  CHECK(maker.last.params.size() == 2);
  CHECK(elements(get(1, 7, 3)));
  CHECK(found);
  CHECK(elements(get(1, 7, 3)));
  CHECK_FALSE(elements(get(1, 2, 3)));  // the first plan has it inside
  CHECK(found);
  get(4, 2, 3);
  CHECK(maker.built == 3);
  get(4, 2, 9);  // the third change: all are inputs from here on
  CHECK(maker.built == 4);
  for (int i = 0; i < 50; ++i) {
    get(static_cast<float>(i), static_cast<float>(i % 7), static_cast<float>(i % 3));
    CHECK(found);
  }
  CHECK(cache.size() == 4);
}

TEST_CASE("where a device refuses constants as inputs they stay in plans") {
  Builder b;
  PlanCache cache;
  Counting maker(b);
  maker.refuses = [](const Graph& graph) { return graph.params.size() > 1; };
  bool found = false;
  const auto get = [&](float c) {
    const Shape shape{Expr(4)};
    Graph graph;
    graph.params = {b.param("x", DType::kF32, shape)};
    graph.outputs = {
        b.binary(Op::MUL, graph.params[0], b.constant(Scalar::of(DType::kF32, c), shape))};
    graph.output_names = {""};
    return cache.get(graph, {0}, maker, found);
  };
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 5; ++i) {
      CHECK(get(static_cast<float>(i)).constants == nullptr);
      CHECK(found == (round == 1));
    }
  }
  CHECK(maker.built == 5);
}

TEST_CASE("a replayed plan of 100 launches costs little for each") {
  // The fake device's kernels do next to nothing, so what is measured is the core.
  Runtime runtime(options_for("fake:0", "fake"));
  Builder& b = runtime.builder();
  Graph graph;
  const Shape square{Expr(8), Expr(8)};
  graph.params = {b.param("x", DType::kF32, square)};
  NodeRef x = graph.params[0];
  for (int i = 0; i < 100; ++i)  // along rows and columns in turn: nothing can be fused
    x = b.binary(Op::ADD, x, b.expand(b.reduce(Op::ADD, x, {i % 2}), square));
  graph.outputs = {x};
  graph.output_names = {""};
  const BufferRef input = runtime.device().allocate(256, "x");
  RunStats stats;
  runtime.run(graph, std::vector<BufferRef>{input}, {}, &stats);
  const int kernels = stats.kernels;
  CHECK(kernels >= 50);
  double best = 1e9;
  for (int i = 0; i < 50; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    runtime.run(graph, std::vector<BufferRef>{input}, {}, &stats);
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
    best = std::min(best, time.count() / kernels);
    runtime.device().synchronize();
  }
  CHECK(stats.plan_cached);
  WARN("core overhead per launch: " << best << " us over " << kernels << " launches");
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
  CHECK(best < 5);
#else
  CHECK(best < 100);
#endif
}
