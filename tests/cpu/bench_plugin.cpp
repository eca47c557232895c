// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints what the CPU plugin reaches: GEMM on packed panels against the FMA peak, compile times,
// cost of a small launch. `bench_cpu_plugin asm` prints the GEMM kernel's assembly instead.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string_view>

#include "tests/cpu/gemm_program.hpp"
#include "tests/cpu/harness.hpp"

namespace tenon::cpu_test {
namespace {

using Value = sdk::ProgramBuilder::Value;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Best of `repeats`.
template <class Body>
double best_time(int repeats, Body&& body) {
  double best = 1e9;
  for (int i = 0; i < repeats; ++i) {
    const auto start = Clock::now();
    body();
    best = std::min(best, seconds_since(start));
  }
  return best;
}

/// 24 independent chains of multiply-adds on registers.
sdk::Program peak_program(uint32_t steps, uint16_t lanes) {
  sdk::ProgramBuilder b("peak");
  const Value out = b.buffer("out", TN_DTYPE_F32, TN_ACCESS_WRITE);
  const Value factor =
      b.op(TN_OP_BROADCAST, TN_DTYPE_F32, lanes, {b.scalar("f", TN_DTYPE_F32, 0, 0)});
  const Value zero = b.constant(TN_DTYPE_F32, 0, lanes);
  std::vector<Value> sums(24, zero);
  const Value loop = b.begin_loop(b.constant(TN_DTYPE_I64, 0), b.constant(TN_DTYPE_I64, steps),
                                  b.constant(TN_DTYPE_I64, 1), sums);
  for (size_t i = 0; i < sums.size(); ++i) {
    const Value carry = loop + 1 + static_cast<Value>(i);
    const Value product = b.op(TN_OP_MUL, TN_DTYPE_F32, lanes, {carry, factor});
    sums[i] = b.op(TN_OP_ADD, TN_DTYPE_F32, lanes, {product, factor}, 0, TN_OP_CONTRACT);
  }
  b.end(sums);
  for (uint32_t i = 0; i < 24; ++i)
    b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, b.constant(TN_DTYPE_I64, i * lanes), loop + 1 + i});
  return b.finish();
}

struct Bound {
  const Device& device;
  Executable executable;
  std::vector<tn_argument> arguments;
  sdk::Extent grid;
  void run() { device.run({sdk::launch_command(executable, grid, {}, arguments)}); }
};

tn_argument buffer(const Device& device, uint64_t bytes) {
  const auto* memory = new Memory(device, bytes);  // until the process ends
  auto* floats = reinterpret_cast<float*>(memory->map(0, bytes));
  for (uint64_t i = 0; i < bytes / 4; ++i) floats[i] = static_cast<float>(i % 17) - 8;
  return sdk::buffer_argument(*memory, 0, bytes);
}

void bench_gemm(const char* options, uint32_t size, uint16_t lanes) {
  const Device& device = *new Device(plugin(), options);  // outlives its memory
  constexpr uint32_t kSteps = 1 << 18;
  const tn_argument factor = sdk::scalar_argument(0x3f000000);
  Bound peak{device,
             device.compile(peak_program(kSteps, lanes)),
             {buffer(device, uint64_t{24} * lanes * 4), factor},
             {device.properties().compute_units}};
  const double flops = 2.0 * 24 * lanes * kSteps * device.properties().compute_units;
  const double limit = flops / best_time(20, [&] { peak.run(); }) * 1e-9;

  GemmShape shape{(size + 11) / 12 * 12, size, size};
  shape.lanes = lanes;
  shape.tile_m = lanes == 16 ? 12 : 6;
  tn_compile_report report = TN_INIT(tn_compile_report);
  Bound gemm{device,
             device.compile(gemm_program(shape), &report),
             {buffer(device, uint64_t{shape.m} * shape.k * 4),
              buffer(device, uint64_t{shape.k} * shape.n * 4),
              buffer(device, uint64_t{shape.m} * shape.n * 4)},
             {shape.m / shape.tile_m, shape.n / (shape.vectors_n * lanes)}};
  const double time = best_time(20, [&] { gemm.run(); });
  const double rate = 2.0 * shape.m * shape.n * shape.k / time * 1e-9;
  std::printf("gemm %ux%ux%u %s: %.1f GFLOP/s, peak %.1f, ratio %.2f, compiled in %.1f ms\n",
              shape.m, shape.n, shape.k, options, rate, limit, rate / limit,
              static_cast<double>(report.compile_ns) * 1e-6);
}

void bench_small() {
  const Device& device = shared_device();
  const tn_dtype inputs[] = {TN_DTYPE_F32, TN_DTYPE_F32};
  const tn_dtype one[] = {TN_DTYPE_F32};
  tn_compile_report report = TN_INIT(tn_compile_report);
  for (tn_opcode op : {TN_OP_ADD, TN_OP_EXP2, TN_OP_LOG2, TN_OP_SIN}) {
    const bool binary = op == TN_OP_ADD;
    const sdk::Program program =
        elementwise_program(op, binary ? std::span<const tn_dtype>(inputs) : one, TN_DTYPE_F32, 16);
    double compile = 1e9;
    for (int i = 0; i < 10; ++i) {
      device.compile(program, &report);
      compile = std::min(compile, static_cast<double>(report.compile_ns) * 1e-6);
    }
    constexpr uint32_t kCount = 1 << 14;
    std::vector<tn_argument> arguments;
    for (int i = 0; i < (binary ? 3 : 2); ++i) arguments.push_back(buffer(device, kCount * 4));
    Bound bound{device, device.compile(program), arguments, {kCount / 16}};
    const double time = best_time(200, [&] { bound.run(); });
    bound.grid = {1};
    const double launch = best_time(2000, [&] { bound.run(); });
    std::printf("elementwise op %d: compiled in %.2f ms, %.2f G/s, launch of one group %.2f us\n",
                op, compile, kCount / time * 1e-9, launch * 1e6);
  }
}

}  // namespace
}  // namespace tenon::cpu_test

int main(int argc, char** argv) {
  using namespace tenon::cpu_test;
  const uint16_t lanes =
      static_cast<uint16_t>(shared_device().properties().vector_bytes / sizeof(float));
  if (argc > 1) {
    GemmShape shape{516, 512, 512};
    shape.lanes = lanes;
    shape.tile_m = lanes == 16 ? 12 : 6;
    shape.by_attribute = std::string_view(argv[1]) == "asm-loop";
    const Executable executable = shared_device().compile(gemm_program(shape));
    std::fputs(shared_device().text(executable, TN_TEXT_ASSEMBLY).c_str(), stdout);
    return 0;
  }
  for (uint32_t size : {256u, 512u, 1024u}) bench_gemm("threads=1", size, lanes);
  bench_gemm("threads=2", 1024, lanes);
  bench_small();
  return 0;
}
