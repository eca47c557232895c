// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the core and the conformance tool do with a graph, on graphs with 2^40 paths: text, passes,
// programs and sources, runs, gradients, judgement, shrinking. limits.cpp bounds time and memory.
#include <catch2/catch_test_macros.hpp>

#include "conformance/judge/harness.hpp"
#include "conformance/shrink/shrink.hpp"
#include "core/autodiff/autodiff.hpp"
#include "core/compile/compiler.hpp"
#include "core/device/target_compiler.hpp"
#include "core/ir/skeleton.hpp"
#include "core/ir/text/text.hpp"
#include "core/ir/verify.hpp"
#include "core/support/error.hpp"
#include "sdk/program/text.hpp"
#include "tests/conformance/judged.hpp"
#include "tests/walks/dags.hpp"

using namespace tenon;
using namespace tenon::conformance;

namespace {

/// Bytes of text for each byte of the graph's.
constexpr size_t kMostText = 1000;

std::filesystem::path cpu_plugin() {
  return std::filesystem::path(TENON_BINARY_DIR) / "lib/tenon/libtenon_cpu.so";
}

RuntimeOptions on_cpu(PassObserver* observer = nullptr) {
  RuntimeOptions options;
  options.plugins = {cpu_plugin().string()};
  options.devices = "cpu";
  options.use_environment = false;
  options.disk_cache = false;
  options.observer = observer;
  return options;
}

/// Asks for the text after each pass, as `tenon show --stage all` does.
struct PassText : PassObserver {
  size_t bytes = 0, longest = 0;
  void saw(const PassReport& report) override {
    const size_t size = report.text().size();
    bytes += size;
    longest = std::max(longest, size);
  }
};

std::vector<std::string> float_params(const Graph& graph) {
  std::vector<std::string> names;
  for (const NodeRef& param : graph.params)
    if (is_float(param->dtype)) names.push_back(param->as<ParamAttr>().name);
  return names;
}

/// Each stage of `tenon show` below the schedule.
void show(Runtime& runtime, const Schedule& schedule, size_t most) {
  const TargetCompiler target(runtime.device("cpu"));
  each_kernel(schedule, [&](const KernelCall& call, int) {
    TemplateChooser chooser;
    const LoweredKernel kernel =
        runtime.compiler().lower(call, target.capabilities(), chooser, 0, "kernel");
    CHECK(print(kernel.chosen).size() < most);
    CHECK(sdk::print_program(kernel.program.view()).size() < most);
    const CompiledProgram compiled = target.compile(*kernel.program.get());
    CHECK(compiled.text(TN_TEXT_SOURCE).size() < most);
    CHECK(compiled.text(TN_TEXT_ASSEMBLY).size() < most);
  });
}

Case case_of_dag(const test::Dag& dag, Builder& builder) {
  std::string text = dag.text;
  if (const size_t at = text.find(" where 2 <= n"); at != std::string::npos) {
    text = text.substr(0, at) + text.substr(text.find('{') - 1);
    for (size_t n; (n = text.find("[n,n]")) != std::string::npos;) text.replace(n, 5, "[4,4]");
  }
  Case made = case_of(text, builder);
  // Small, so that not all is infinite in the end, and inside the range of an index.
  for (Array& array : made.inputs)
    for (int64_t i = 0; i < array.count(); ++i)
      array.set(i, Scalar::of(array.dtype, is_float(array.dtype) ? 0.25 * static_cast<double>(i % 4)
                                                                 : static_cast<double>(i % 4)));
  return made;
}

}  // namespace

TEST_CASE("graphs with 2^40 paths are written, read and compared") {
  std::vector<test::Dag> dags = test::graph_dags();
  for (test::Dag& dag : test::deep_bodies()) dags.push_back(std::move(dag));
  for (const test::Dag& dag : dags) {
    INFO(dag.name);
    Builder builder, other;
    const Graph graph = parse_graph(dag.text, builder), again = parse_graph(dag.text, other);
    verify(graph);
    CHECK(structure_hash(graph) == structure_hash(again));
    CHECK(same_structure(graph, again));
    CHECK(Skeleton(graph, 0).hash() == Skeleton(again, 0).hash());
    const std::string text = print(graph);
    CHECK(text.size() < 4 * dag.text.size());
    CHECK(same_structure(parse_graph(text, other), graph));
  }
}

TEST_CASE("graphs with 2^40 paths are shown at every stage") {
  PassText passes;
  Runtime runtime(on_cpu(&passes));
  for (const test::Dag& dag : test::graph_dags()) {
    INFO(dag.name);
    passes = {};
    const Graph graph = parse_graph(dag.text, runtime.builder());
    const Schedule schedule = runtime.schedule_for(graph);
    CHECK(print(schedule).size() < kMostText * dag.text.size());
    show(runtime, schedule, kMostText * dag.text.size());
    CHECK(passes.longest < kMostText * dag.text.size());
  }
}

TEST_CASE("gradients of graphs with 2^40 paths") {
  Runtime runtime(on_cpu());
  for (const test::Dag& dag : test::graph_dags()) {
    if (dag.name == "conditions" || dag.name == "random bits") continue;
    INFO(dag.name);
    const Graph graph = parse_graph(dag.text, runtime.builder());
    const std::vector<std::string> wrt{float_params(graph).front()};
    const Graph gradient = gradient_graph(graph, 0, wrt, runtime.builder());
    CHECK(print(gradient).size() < kMostText * dag.text.size());
    CHECK(print(runtime.schedule_for(gradient)).size() < kMostText * dag.text.size());
  }
}

TEST_CASE("graphs with 2^40 paths are judged and shrunk") {
  judge::Harness harness({"cpu", cpu_plugin()});
  for (const test::Dag& dag : test::graph_dags()) {
    INFO(dag.name);
    Builder& builder = harness.builder();
    Case test = case_of_dag(dag, builder);
    for (const int seed : {0, 1}) {
      if (seed) test.transform_seed = static_cast<uint64_t>(seed);
      const Outcome outcome = judged(harness, test);
      INFO(outcome.text);
      CHECK_FALSE(is_failure(outcome.status));
    }
    test.transform_seed = {};
    const shrink::Probe fails = [&](const Case& candidate) -> std::optional<Outcome> {
      if (topological(candidate.graph.outputs).size() < 3) return std::nullopt;
      return failed("mismatch", "");
    };
    const shrink::Shrunk small =
        shrink::shrink(test, failed("mismatch", ""), fails, builder, {.seconds = 5, .probes = 100});
    CHECK(topological(small.test.graph.outputs).size() <= topological(test.graph.outputs).size());
  }
}

TEST_CASE("kernels of graphs with 2^40 paths are listed, and refuse transforms in few words") {
  Runtime runtime(on_cpu());
  for (const test::Dag& dag : test::graph_dags()) {
    INFO(dag.name);
    if (dag.name == "symbols") continue;
    Builder builder;
    const Case test = case_of_dag(dag, builder);
    runtime.run(test.graph, test.inputs, {}, "");
    size_t bytes = 0;
    for (const KernelInfo& kernel : runtime.kernels())
      bytes += kernel.graph.size() + kernel.loops.size() + kernel.program.size();
    CHECK(bytes > 0);
    CHECK(bytes < kMostText * dag.text.size());
    std::string told;
    for (const char* const names : {"map_*", "reduce_*", "store_*", "move_*"})
      runtime.set_transforms(names, "split nothing 3");
    try {
      const Graph other = parse_graph(print(test.graph), runtime.builder());
      runtime.run(other, test.inputs, {}, "");
    } catch (const Error& error) {
      told = error.what();
    }
    for (const char* const names : {"map_*", "reduce_*", "store_*", "move_*"})
      runtime.reset_kernel(names);
    CHECK(told.find("nothing") != std::string::npos);
    CHECK(told.size() < kMostText * dag.text.size());
  }
}
