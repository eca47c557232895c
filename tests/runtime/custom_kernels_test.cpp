// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transforms and programs that an application gives for kernels by name.
#include <catch2/catch_test_macros.hpp>
#include <thread>

#include "core/compile/compiler.hpp"
#include "core/ir/text/text.hpp"
#include "core/runtime/custom_kernels.hpp"
#include "tests/runtime/support.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

constexpr const char* kThrice = R"(graph thrice(%x: f32[64]) {
  %2 = const 2.0 : f32[64]
  %m = mul %x, %2
  %y = add %m, %x
  return %y
})";

constexpr const char* kSums = R"(graph sums(%x: f32[n, 32]) where 1 <= n <= 64 {
  %s = reduce.add %x, axes=[1] : f32[n, 1]
  return %s
})";

/// Multiplies by three, one element for each workgroup.
constexpr const char* kProgram =
    R"(program mine(%x: global f32 read, %y: global f32 write) workgroup 1 1 1 {
  %i = index grid.x : i32
  %v = load %x, %i : f32
  %k = const 3.0 : f32
  %p = mul %v, %k : f32
  store %y, %i, %p
}
)";

/// One is enough for these tests.
RuntimeOptions on_one_thread(const std::string& backend) {
  return options_for(backend == "cpu" ? "cpu@threads=1" : backend, backend);
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

Array run_text(Runtime& runtime, const char* text, RunStats* stats = nullptr) {
  const Graph graph = parse_graph(text, runtime.builder());
  const Array input = numbers(
      DType::kF32, text == kThrice ? std::vector<int64_t>{64} : std::vector<int64_t>{8, 32});
  Array got = runtime.run(graph, {input}, {}, "", stats)[0];
  CHECK(got == evaluate(graph, {input})[0]);
  return got;
}

KernelInfo only_kernel(Runtime& runtime) {
  const std::vector<KernelInfo> kernels = runtime.kernels();
  REQUIRE(kernels.size() == 1);
  return kernels[0];
}

std::string name_of(const std::string& backend, const char* text) {
  Runtime runtime(on_one_thread(backend));
  run_text(runtime, text);
  return only_kernel(runtime).name;
}

}  // namespace

TEST_CASE("a context lists its kernels by name") {
  for (const std::string& backend : backends()) {
    CAPTURE(backend);
    Runtime runtime(on_one_thread(backend));
    CHECK(runtime.kernels().empty());
    run_text(runtime, kThrice);
    const KernelInfo kernel = only_kernel(runtime);
    CAPTURE(kernel.name, kernel.loops, kernel.program);
    CHECK(kernel.name.starts_with("map_"));
    CHECK(kernel.device == runtime.device().id());
    CHECK(has(kernel.graph, "graph k0(%x: f32[64])"));
    CHECK(has(kernel.loops, "for a0"));
    CHECK(has(kernel.program, "program " + kernel.name));
    CHECK(kernel.workgroups[1] == 1);
    CHECK(name_of(backend, kThrice) == kernel.name);
    run_text(runtime, kSums);
    CHECK(runtime.kernels().size() == 2);
    CHECK(runtime.kernels()[0].name.starts_with("reduce_"));
    // The plan has a kernel of this name, so the setting is matched.
    runtime.set_transforms(kernel.name, "split a0 8; unroll a0.i");
    run_text(runtime, kThrice);
    CHECK(only_kernel(runtime).name == kernel.name);
    CHECK(only_kernel(runtime).transforms == "split a0 8; unroll a0.i");
  }
}

TEST_CASE("a list of one's own is what a kernel runs by") {
  for (const std::string& backend : backends()) {
    CAPTURE(backend);
    const std::string name = name_of(backend, kThrice);
    Runtime runtime(on_one_thread(backend)), other(on_one_thread(backend));
    RunStats stats;
    run_text(runtime, kThrice);
    run_text(other, kThrice);
    const KernelInfo usual = only_kernel(runtime);
    runtime.set_transforms(name, "split a0 16; unroll a0.i");
    run_text(runtime, kThrice, &stats);
    CHECK(!stats.plan_cached);
    CHECK(only_kernel(runtime).program != usual.program);
    run_text(runtime, kThrice, &stats);
    CHECK(stats.plan_cached);
    CHECK(only_kernel(other).program == usual.program);
    // The last word counts; a name counts more than the beginning of one.
    runtime.set_transforms("map_*", "split a0 2");
    run_text(runtime, kThrice);
    CHECK(only_kernel(runtime).transforms == "split a0 16; unroll a0.i");
    runtime.set_transforms(name, "");
    run_text(runtime, kThrice);
    CHECK(only_kernel(runtime).transforms.empty());
    runtime.reset_kernel(name);
    run_text(runtime, kThrice);
    CHECK(only_kernel(runtime).transforms == "split a0 2");
    runtime.reset_kernel("map_*");
    run_text(runtime, kThrice);
    CHECK(only_kernel(runtime).program == usual.program);
  }
}

TEST_CASE("lists that are wrong are refused, with kernel and reason") {
  for (const std::string& backend : backends()) {
    CAPTURE(backend);
    const std::string name = name_of(backend, kThrice);
    Runtime runtime(on_one_thread(backend));
    const auto refused = [&](const std::string& kernel, const std::string& text) {
      return error_of([&] { runtime.set_transforms(kernel, text); });
    };
    CHECK(
        has(refused(name, "split a0"), "column 9: expected a number from 1 to 2^30, got the end"));
    CHECK(has(refused(name, "spilt a0 4"), "column 1: expected a transform, got \"spilt\""));
    CHECK(has(refused("", "split a0 4"), "expected a kernel's name, as reduce_"));
    CHECK(has(refused("a b", "split a0 4"), "got 'a b'"));
    CHECK(has(refused("*_map", "split a0 4"), "got '*_map'"));
    CHECK(has(error_of([&] { runtime.reset_kernel(name); }),
              "expected a kernel that transforms or a program were set for"));
    run_text(runtime, kThrice);  // nothing of that has stayed

    const auto planned = [&](const std::string& text) {
      runtime.set_transforms(name, text);
      return error_of([&] { run_text(runtime, kThrice); });
    };
    const std::string missing = planned("split a7 4");
    CHECK(has(missing, "[kernel] " + name + " with the transforms set for " + name));
    CHECK(has(missing, "[transform] split a7 4: expected"));
    CHECK(has(missing, "for a0"));  // its loops
    CHECK(has(planned("bind a0 grid.x; split a0 4"), "split a0 4: expected"));
    CHECK(
        has(planned("split a0 32; bind a0.o grid.x; bind a0.i block.y; tensorize a0.o a0.i a0 32"),
            "[kernel] " + name));
    if (backend == "cpu") {
      ErrorKind kind{};
      runtime.set_transforms(name, "split a0 32; bind a0.i block.x");
      const std::string threads = error_of([&] { run_text(runtime, kThrice); }, &kind);
      CHECK(kind == ErrorKind::kUnsupported);
      CHECK(has(threads, "[kernel] " + name + " with the transforms set for " + name));
    }
    runtime.reset_kernel(name);
    run_text(runtime, kThrice);
  }
}

TEST_CASE("a name that no kernel has met is told, with those that there were") {
  CustomKernels own;
  own.set_transforms("map_*", "split a0 2");
  own.set_transforms("map_1", "split a0 2");
  REQUIRE(own.unmatched().size() == 2);
  CHECK(own.unmatched()[1] ==
        "no kernel was called 'map_1', for which something is set; kernels were none since");
  Builder builder;
  const Compiler compiler(builder);
  CustomChooser chooser(own);
  const Capabilities capabilities = generic_capabilities();
  const LoweredKernel kernel = compiler.lower(
      compiler.legalise(parse_graph(kThrice, builder), capabilities), capabilities, {}, chooser);
  CHECK(list_text(kernel.chosen) == "split a0 2");
  REQUIRE(own.unmatched().size() == 1);
  CHECK(own.unmatched()[0].ends_with("kernels were " + std::string(kernel.program.view().name())));
}

TEST_CASE("a program of one's own is what a kernel runs") {
  for (const std::string& backend : backends()) {
    CAPTURE(backend);
    const std::string name = name_of(backend, kThrice);
    Runtime runtime(on_one_thread(backend));
    runtime.set_program(name, kProgram, {64, 1, 1});
    RunStats stats;
    run_text(runtime, kThrice, &stats);
    CHECK(has(only_kernel(runtime).program, "program mine("));
    CHECK(only_kernel(runtime).workgroups == std::array<int64_t, 3>{64, 1, 1});
    run_text(runtime, kThrice, &stats);
    CHECK(stats.plan_cached);
    // The core's own is one that is taken.
    runtime.reset_kernel(name);
    run_text(runtime, kThrice);
    const KernelInfo usual = only_kernel(runtime);
    runtime.set_program(name, usual.program, usual.workgroups);
    run_text(runtime, kThrice);
    CHECK(only_kernel(runtime).program == usual.program);
  }
}

TEST_CASE("programs that are wrong are refused, with kernel and reason") {
  for (const std::string& backend : backends()) {
    CAPTURE(backend);
    const std::string name = name_of(backend, kThrice);
    Runtime runtime(on_one_thread(backend));
    const auto refused = [&](const std::string& kernel, const std::string& text, int64_t count) {
      return error_of([&] { runtime.set_program(kernel, text, {count, 1, 1}); });
    };
    CHECK(has(refused(name, "program {", 1), "[program] "));
    CHECK(has(refused(name, with(kProgram, "%v, %k", "%v, %z"), 64), "[program] line 5"));
    CHECK(has(refused(name, with(kProgram, "mul %v, %k", "mul %v, %i"), 64), "mul"));
    CHECK(has(refused(name, kProgram, 0), "expected from 1 to 2^31 - 1 workgroups"));
    CHECK(has(refused("map_*", kProgram, 64), "expected the name of one kernel for a program"));
    run_text(runtime, kThrice);  // nothing of that has stayed

    const auto planned = [&](const std::string& text, int64_t count = 64) {
      runtime.set_program(name, text, {count, 1, 1});
      return error_of([&] { run_text(runtime, kThrice); });
    };
    const std::string wrong = planned(with(kProgram, "3.0", "2.0"));
    INFO(wrong);
    CHECK(has(wrong, "[kernel] " + name + " on " + runtime.device().id() +
                         " with the program set for it: output 0, element "));
    CHECK(has(wrong, ": expected "));
    CHECK(has(planned(kProgram, 32), "output 0, element 3"));
    CHECK(has(planned(R"(program p(%y: global f32 write) workgroup 1 1 1 {
})"),
              "expected 2 params that are bound, got 1"));
    CHECK(has(planned(R"(program p(%x: global i32 read, %y: global f32 write) workgroup 1 1 1 {
})"),
              "as param 0, got a read buffer of i32"));
    CHECK(
        has(planned(R"(program p(%x: global f32 read write, %y: global f32 write) workgroup 1 1 1 {
})"),
            "as param 0, got a read and written buffer of f32"));
    CHECK(has(planned(R"(program p(%x: global f32 read, %y: global f32 write) workgroup 1 1 1 {
})"),
              "output 0, element "));
    CHECK(has(planned(with(kProgram, "f32 read,", "f32 read align 4096,")),
              "expected param 0 aligned to at most 4 bytes, got 4096"));
    const std::string in_vectors = with(kProgram, "load %x, %i : f32",
                                        "load %x, %i aligned : f32x4\n  %w = extract %v, 0 : f32");
    CHECK(has(planned(with(in_vectors, "mul %v", "mul %w")),
              "expected loads of param 0 aligned to at most 4 bytes, got one to 16"));
    CHECK(has(planned(with(kProgram, "workgroup 1", "workgroup 65536")),
              "expected a workgroup of at most "));
    if (backend != "null")  // which stops for good at what the others write
      CHECK(has(planned(kProgram, 65),
                "expected writes inside of buffers, got one after the 256 "
                "bytes of an output"));
    runtime.reset_kernel(name);
    run_text(runtime, kThrice);
  }
}

TEST_CASE("a program for a kernel of symbolic sizes is refused") {
  for (const std::string& backend : backends()) {
    CAPTURE(backend);
    const std::string name = name_of(backend, kSums);
    Runtime runtime(on_one_thread(backend));
    runtime.set_program(name, kProgram, {64, 1, 1});
    ErrorKind kind{};
    const std::string message = error_of([&] { run_text(runtime, kSums); }, &kind);
    CHECK(kind == ErrorKind::kUnsupported);
    CHECK(has(message, "expected a kernel of fixed sizes, got one with 1 symbol(s)"));
    CHECK(has(message, name));
    // Transforms serve all sizes.
    runtime.set_transforms(name, "split a0 2");
    run_text(runtime, kSums);
  }
}

TEST_CASE("kernels may be set while others run") {
  const std::string backend = backends().back(), name = name_of(backend, kThrice);
  Runtime runtime(on_one_thread(backend));
  std::atomic<bool> stop{false}, ok{true};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      const Graph graph = parse_graph(kThrice, runtime.builder());
      const Array input = numbers(DType::kF32, {64});
      const Array expected = evaluate(graph, {input})[0];
      while (!stop) ok = ok && runtime.run(graph, {input}, {}, "")[0] == expected;
    });
  for (int i = 0; i < 5; ++i) {
    runtime.set_transforms(name, fmt::format("split a0 {}", 2 << i));
    run_text(runtime, kThrice);
    runtime.kernels();
    runtime.set_program(name, kProgram, {64, 1, 1});
    run_text(runtime, kThrice);
    runtime.reset_kernel(name);
  }
  stop = true;
  threads.clear();
  CHECK(ok);
}
