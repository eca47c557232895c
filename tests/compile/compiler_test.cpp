// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pipeline: the order of passes, what observers see, what is verified.
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <thread>

#include "core/compile/compiler.hpp"
#include "core/ir/text/text.hpp"
#include "core/rewrite/pattern.hpp"
#include "core/support/error.hpp"

using namespace tenon;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

constexpr const char* kRows = R"(graph rows(%x: f32[8, 32]) {
  %s = reduce.add %x, axes=[1] : f32[8, 1]
  %e = exp %s : f32[8, 1]
  return %e
})";

/// The same, in a call.
constexpr const char* kCalled = R"(graph rows(%x: f32[8, 32]) {
  graph sums(%x: f32[8, 32]) {
    %s = reduce.add %x, axes=[1] : f32[8, 1]
    return %s
  }
  %s = call %x, body=sums
  %e = exp %s : f32[8, 1]
  return %e
})";

/// Memory of whole words, and no 64-bit integers.
Capabilities narrow() {
  Capabilities c = generic_capabilities();
  c.storage_bytes = 4;
  c.index_bits = 32;
  for (const DType dtype : {DType::kI64, DType::kU64})
    c.dtypes[static_cast<size_t>(dtype)].arithmetic = false;
  return c;
}

class Listener : public PassObserver {
 public:
  void saw(const PassReport& report) override {
    overlaps = overlaps || inside.exchange(true);
    passes += fmt::format("{}{}", passes.empty() ? "" : " ", pass_info(report.pass).name);
    if (wants_text) texts.push_back(report.text());
    least_ms = std::min(least_ms, report.ms);
    ++count;
    inside = false;
  }
  bool wants_text = true;
  std::string passes;
  std::vector<std::string> texts;
  double least_ms = 1;
  int count = 0;
  std::atomic<bool> inside{false};
  std::atomic<bool> overlaps{false};
};

LoweredKernel compile(const Compiler& compiler, const Capabilities& capabilities,
                      TransformChooser& chooser) {
  const Graph graph = parse_graph(kRows, compiler.builder());
  return compiler.lower(compiler.legalise(graph, capabilities), capabilities, {}, chooser);
}

/// A tree that no list of transforms makes.
class Spoiler : public TransformChooser {
 public:
  LoweredKernel choose(const UnchosenKernel& kernel) override {
    Kernel tree = kernel.tree;
    tree.body.push_back(tree.body.front());
    return kernel.lower({std::move(tree), {}});
  }
};

}  // namespace

TEST_CASE("passes run in the order of their list, and each is told of") {
  Builder builder;
  Listener listener;
  const Compiler compiler(builder, {.observer = &listener, .verify = true});
  ScheduleOptions options;
  options.devices.push_back({"device:0", narrow()});
  const rewrite::TextRule rule{"--x", rewrite::kFloat, "neg(neg(x))", "x"};
  const Schedule cut = compiler.schedule(parse_graph(kCalled, builder), options, Precision::kTf32,
                                         rewrite::compile({&rule, 1}));
  each_kernel(cut, [&](const KernelCall& call, int) {
    TemplateChooser templates;
    compiler.lower(call, narrow(), templates);
  });
  std::string all;
  for (const PassInfo& pass : all_passes())
    all += fmt::format("{}{}", all.empty() ? "" : " ", pass.name);
  CHECK(listener.passes == all);
  REQUIRE(listener.texts.size() == all_passes().size());
  CHECK_THAT(listener.texts[3], ContainsSubstring("graph rows"));
  CHECK_THAT(listener.texts[4], ContainsSubstring("schedule rows: 1 steps"));
  CHECK_THAT(listener.texts[6], ContainsSubstring("for a0"));
  CHECK_THAT(listener.texts[7], ContainsSubstring("transforms: "));
  CHECK_THAT(listener.texts[10], ContainsSubstring("program"));
  CHECK(listener.least_ms >= 0);
}

TEST_CASE("passes that have nothing to do are left out") {
  Builder builder;
  Listener listener;
  const Compiler compiler(builder, {.observer = &listener});
  TemplateChooser templates;
  compile(compiler, generic_capabilities(), templates);
  CHECK(listener.passes == "legalise build choose emit");
}

TEST_CASE("a broken tree is found after the pass that made it") {
  Builder builder;
  Spoiler spoiler;
  const Compiler compiler(builder, {.verify = true});
  CHECK_THROWS_MATCHES(compile(compiler, generic_capabilities(), spoiler), Error,
                       MessageMatches(ContainsSubstring("expected one loop for each axis")));
}

TEST_CASE("an observer is told of one pass at a time") {
  Builder builder;
  Listener listener;
  listener.wants_text = false;
  const Compiler compiler(builder, {.observer = &listener});
  constexpr int kThreads = 4, kEach = 20;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&] {
        TemplateChooser templates;
        for (int i = 0; i < kEach; ++i) compile(compiler, generic_capabilities(), templates);
      });
  }
  CHECK(listener.count == kThreads * kEach * 4);
  CHECK(!listener.overlaps);
}
