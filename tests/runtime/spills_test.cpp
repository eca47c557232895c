// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compilers that report spills, and the smaller tiles chosen then.
#include <catch2/catch_test_macros.hpp>

#include "core/compile/compiler.hpp"
#include "core/ir/text/text.hpp"
#include "core/reference/reference.hpp"
#include "core/runtime/plan.hpp"
#include "tests/runtime/support.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

/// 16 sums of a thread by the rules; the device has registers for 8.
const char* const kSpillingProduct = R"(graph product(%a: f32[256, 16, 1], %b: f32[1, 16, 256]) {
  %ae = expand %a                : f32[256, 16, 256]
  %be = expand %b                : f32[256, 16, 256]
  %p = mul %ae, %be              : f32[256, 16, 256]
  %s = reduce.add %p, axes=[1]   : f32[256, 1, 256]
  return %s
})";
constexpr int64_t kBlocksByRules = 4 * 4, kBlocks = 8 * 8;

RuntimeOptions limited() { return options_for("limited_webgpu", "limited_webgpu"); }

int64_t blocks(const KernelPlan& kernel) { return kernel.grid[0].value() * kernel.grid[1].value(); }

/// The one kernel of the product, by the runtime's own rules.
const KernelPlan& planned(const SchedulePlanRef& plan) {
  REQUIRE(plan->steps().size() == 1);
  return plan->steps()[0].kernel;
}

}  // namespace

TEST_CASE("what a compiler spills is answered by a smaller tile") {
  Runtime runtime(limited());
  const Graph graph = parse_graph(kSpillingProduct, runtime.builder());
  TemplateChooser rules;
  const SchedulePlanRef plan = runtime.plan(graph, rules, "limited_webgpu:0");
  const KernelPlan& kernel = planned(plan);
  CHECK(blocks(kernel) == kBlocks);
  CHECK(kernel.executable->report.spills == 0);
  const std::vector<Array> inputs{numbers(DType::kF32, {256, 16, 1}),
                                  numbers(DType::kF32, {1, 16, 256})};
  CHECK(runtime.run(graph, inputs, {}, "") == evaluate(graph, inputs));
}

TEST_CASE("who writes the transforms is not asked for a smaller tile") {
  Runtime runtime(limited());
  const Graph graph = parse_graph(kSpillingProduct, runtime.builder());
  struct ByRules : TemplateChooser {
    std::shared_ptr<TransformChooser> with_smaller_tiles(std::string_view, size_t) const override {
      return nullptr;
    }
  } rules;
  const SchedulePlanRef plan = runtime.plan(graph, rules, "limited_webgpu:0");
  CHECK(blocks(planned(plan)) == kBlocksByRules);
  CHECK(planned(plan).executable->report.spills == 16 - 8);
}

TEST_CASE("a cached executable says what it spills, so that the same tile is taken again") {
  const TempFolder folder;
  RuntimeOptions options = limited();
  options.disk_cache = true;
  options.cache_dir = folder.path;
  for (const bool cached : {false, true}) {
    CAPTURE(cached);
    Runtime runtime(options);
    const Graph graph = parse_graph(kSpillingProduct, runtime.builder());
    TemplateChooser rules;
    const SchedulePlanRef plan = runtime.plan(graph, rules, "limited_webgpu:0");
    CHECK(planned(plan).executable->from_cache == cached);
    CHECK(planned(plan).executable->report.registers == 8);
    CHECK(blocks(planned(plan)) == kBlocks);
  }
}
