// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels whose structure and time somebody published, said in our transforms: what the budget
// predicts for them.
//
// "How to Optimize a CUDA Matmul Kernel for cuBLAS-like Performance" (Simon Boehm, 2022,
// github.com/siboehm/SGEMM_CUDA), products of f32 of 4096 on an RTX A6000, kernels 1 to 5, from the
// README's GFLOP/s. Registers are those of NVRTC 13.0 for sm_86.
#include <fmt/format.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "core/budget/print.hpp"
#include "core/compile/compiler.hpp"
#include "core/ir/text/text.hpp"
#include "plugins/cuda/rates.hpp"

namespace tenon {
namespace {

constexpr const char* kProduct = R"(graph product(%x: f32[4096, 4096], %w: f32[4096, 4096]) {
  %x3 = reshape %x : f32[4096, 4096, 1]
  %xs = expand %x3 : f32[4096, 4096, 4096]
  %w3 = reshape %w : f32[1, 4096, 4096]
  %ws = expand %w3 : f32[4096, 4096, 4096]
  %p = mul %xs, %ws
  %s = reduce.add %p, axes=[1]
  %y = reshape %s : f32[4096, 4096]
  return %y
})";

Capabilities rtx_a6000() {
  Capabilities c = generic_capabilities();
  c.max_workgroup = {1024, 1024, 64};
  c.max_workgroup_threads = 1024;
  c.max_grid = {(1u << 31) - 1, 65535, 65535};
  c.max_shared_bytes = 99 << 10;
  c.subgroup_min = c.subgroup_max = 32;
  c.compute_units = 84;
  c.l2_bytes = 6 << 20;
  for (DTypeCaps& caps : c.dtypes) caps.vector_lanes = 4;
  const tn_rates& rates = *cuda::rates_of(86);
  Rates& to = c.rates.emplace();
#define TN_RATE(name) to.name = rates.name;
#include "core/ir/rates.def"
  return c;
}

struct Published {
  const char* kernel;
  double gflops;
  uint32_t registers;
  std::string transforms;
};

const std::string kEdge = "bind a0.o grid.y; bind a1.o grid.x";

const std::array<Published, 5> kPublished = {{
    {"1 naive", 309.0, 43,
     "split a0 32; split a1 32; reorder a0.o a1.o a0.i a1.i; bind a0.i block.x; bind a1.i "
     "block.y; "},
    {"2 coalesced", 1986.5, 43,
     "split a0 32; split a1 32; reorder a0.o a1.o a0.i a1.i; bind a0.i block.y; bind a1.i "
     "block.x; "},
    {"3 shared tiles", 2980.3, 61,
     "split a0 32; split a1 32; split r0 32; reorder a0.o a1.o a0.i a1.i; bind a0.i block.y; "
     "bind a1.i block.x; stage b0 at r0.o; bind b0.c0 block.y; bind b0.c1 block.x; stage b1 at "
     "r0.o; bind b1.c0 block.y; bind b1.c1 block.x; unroll r0.i; "},
    {"4 a column of 8 a thread", 8474.7, 40,
     "split a0 64; split a0.i 8; split a1 64; split r0 8; reorder a0.o a1.o a0.i.o a1.i a0.i.i; "
     "bind a0.i.o block.y; bind a1.i block.x; unroll a0.i.i; stage b0 at r0.o; fuse b0.c1 b0.c2; "
     "bind b0.c0 block.y; bind b0.c1_b0.c2 block.x; stage b1 at r0.o; bind b1.c0 block.y; bind "
     "b1.c1 block.x; "},
    {"5 a tile of 8 x 8 a thread", 15971.7, 125,
     "split a0 128; split a0.i 8; split a1 128; split a1.i 8; split r0 8; reorder a0.o a1.o "
     "a0.i.o a1.i.o a0.i.i a1.i.i; bind a0.i.o block.y; bind a1.i.o block.x; unroll a0.i.i; split "
     "a1.i.i 4; unroll a1.i.i.o; vectorize a1.i.i.i; stage b0 at r0.o; fuse b0.c0 b0.c1; fuse "
     "b0.c0_b0.c1 b0.c2; split b0.c0_b0.c1_b0.c2 16; split b0.c0_b0.c1_b0.c2.o 16; unroll "
     "b0.c0_b0.c1_b0.c2.o.o; bind b0.c0_b0.c1_b0.c2.o.i block.y; bind b0.c0_b0.c1_b0.c2.i "
     "block.x; stage b1 at r0.o; fuse b1.c0 b1.c1; fuse b1.c0_b1.c1 b1.c2; fuse "
     "b1.c0_b1.c1_b1.c2 b1.c3; split b1.c0_b1.c1_b1.c2_b1.c3 16; split "
     "b1.c0_b1.c1_b1.c2_b1.c3.o 16; unroll b1.c0_b1.c1_b1.c2_b1.c3.o.o; bind "
     "b1.c0_b1.c1_b1.c2_b1.c3.o.i block.y; bind b1.c0_b1.c1_b1.c2_b1.c3.i block.x; "},
}};

TEST_CASE("published kernels take what the budget says, within 20 %") {
  const Capabilities device = rtx_a6000();
  Builder builder;
  const Compiler compiler(builder);
  ScheduleOptions options;
  options.devices.push_back({"gpu", device});
  const Schedule cut = compiler.schedule(parse_graph(kProduct, builder, "product"), options);
  for (const Published& published : kPublished) {
    INFO(published.kernel);
    each_kernel(cut, [&](const KernelCall& call, int) {
      WrittenChooser chooser(parse_transforms(published.transforms + kEdge));
      const LoweredKernel kernel = compiler.lower(call, device, chooser, 0, "kernel");
      const sdk::ProgramView program = kernel.program.view();
      BudgetLaunch launch;
      for (size_t axis = 0; axis < 3; ++axis)
        launch.grid[axis] = static_cast<uint64_t>(kernel.grid[axis].evaluate({}));
      launch.scalars.resize(program.param_count());
      launch.compiled.registers = published.registers;
      const Budget budget = budget_of(program, launch, device);
      const double measured = 2 * std::pow(4096.0, 3) / published.gflops / 1e9;
      const double ratio = budget.seconds / measured;
      fmt::print("{}: predicted {:.1f} ms, published {:.1f} ms, ratio {:.2f}\n", published.kernel,
                 budget.seconds * 1e3, measured * 1e3, ratio);
      INFO(print(budget, program, device));
      CHECK(ratio > 0.8);
      CHECK(ratio < 1.2);
    });
  }
}

TEST_CASE("a device that tells no rates has no budget") {
  Capabilities device = rtx_a6000();
  device.rates.reset();
  Builder builder;
  const Compiler compiler(builder);
  const Graph graph = parse_graph(kProduct, builder, "product");
  ScheduleOptions options;
  options.devices.push_back({"gpu", device});
  each_kernel(compiler.schedule(graph, options), [&](const KernelCall& call, int) {
    TemplateChooser templates;
    const LoweredKernel kernel = compiler.lower(call, device, templates, 0, "kernel");
    BudgetLaunch launch;
    launch.scalars.resize(kernel.program.view().param_count());
    CHECK_THROWS_AS(budget_of(kernel.program.view(), launch, device), Error);
  });
}

}  // namespace
}  // namespace tenon
