// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a graph to executables, each pass runs once for each kernel.
#include <catch2/catch_test_macros.hpp>
#include <map>

#include "core/compile/chooser.hpp"
#include "core/compile/compiler.hpp"
#include "core/ir/text/text.hpp"
#include "tests/runtime/support.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

/// How often each pass ran, and how often on the kernel that it ran on most.
class Counter : public PassObserver {
 public:
  void saw(const PassReport& report) override {
    ++total[report.pass];
    const int times = ++of[{report.pass, std::string(report.subject)}];
    most[report.pass] = std::max(most[report.pass], times);
  }
  std::map<Pass, int> total, most;

 private:
  std::map<std::pair<Pass, std::string>, int> of;
};

struct Passes {
  Counter counter;
  int programs = 0;
};

Passes passes_of(const std::string& text) {
  Passes out;
  RuntimeOptions options = options_for("cpu", "cpu");
  options.observer = &out.counter;
  Runtime runtime(options);
  TemplateChooser templates;
  const SchedulePlanRef plan = runtime.plan(parse_graph(text, runtime.builder()), templates);
  out.programs = plan->programs();
  return out;
}

}  // namespace

TEST_CASE("each pass takes a kernel of a transformer once") {
  const Passes passes =
      passes_of(read_file(fs::path(TENON_SOURCE_DIR) / "tests/golden/in/transformer4.tn"));
  for (const Pass pass : {Pass::kSchedule, Pass::kSimplify})
    CHECK(passes.counter.total.at(pass) == 1);
  for (const Pass pass : {Pass::kLegalise, Pass::kBuild, Pass::kChoose, Pass::kEmit}) {
    INFO(pass_info(pass).name);
    CHECK(passes.counter.total.at(pass) == passes.programs);
  }
  for (const Pass pass : {Pass::kBuild, Pass::kChoose, Pass::kEmit}) {
    INFO(pass_info(pass).name);
    CHECK(passes.counter.most.at(pass) == 1);
  }
}

TEST_CASE("a kernel of sizes that a launch tells is not lowered before it") {
  const Passes passes = passes_of(R"(graph rows(%x: f32[n, 64]) where 1 <= n <= 4096 {
    %s = reduce.add %x, axes=[1] : f32[n, 1]
    return %s
  })");
  CHECK(passes.counter.total.at(Pass::kLegalise) == 1);
  CHECK(!passes.counter.total.contains(Pass::kEmit));
}
