// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/runtime/device_rates.hpp"

#include <string>
#include <vector>

#include "core/compile/compiler.hpp"
#include "core/ir/text/text.hpp"
#include "core/runtime/kernel_times.hpp"
#include "core/runtime/run_plan.hpp"
#include "core/support/log.hpp"

namespace tenon {
namespace {

constexpr int kMostLaunches = 10;
constexpr double kLongEnough = 20e-3;  ///< seconds of all launches

/// Launches the kernel of a graph on zeros until the times add up to kLongEnough.
KernelTime time_launches(Runtime& runtime, Device& device, const std::string& text) {
  const Graph graph = parse_graph(text, runtime.builder());
  TemplateChooser chooser;
  const SchedulePlanRef plan = runtime.plan(graph, chooser, device.id());
  std::vector<BufferRef> inputs;
  for (const NodeRef& param : graph.params) {
    const auto bytes = static_cast<uint64_t>(product(param->shape).evaluate({})) * sizeof(float);
    inputs.push_back(device.allocate(bytes, "profile"));
    Buffer* const used[] = {inputs.back().get()};
    tn_command zeros = fill_command({inputs.back().get(), 0}, 0, sizeof(float));
    zeros.size = bytes;
    device.submit({zeros}, std::span<Buffer* const>(used));
  }
  KernelTimes times;
  KernelTime time;
  while (time.launches < 2 || (time.launches < kMostLaunches && time.seconds < kLongEnough)) {
    run_plan(*plan, inputs, {}, {.times = &times});
    time = times.profile().kernels.at(0);
  }
  return time;
}

std::string map_text(int64_t elements) {
  return fmt::format("graph copy(%x: f32[{0}]) {{\n %y = neg %x\n return %y\n}}", elements);
}

std::string product_text(int64_t n) {
  return fmt::format(
      "graph product(%a: f32[{0}, 1, {0}], %b: f32[1, {0}, {0}]) {{\n"
      " %c = expand %a : f32[{0}, {0}, {0}]\n %d = expand %b : f32[{0}, {0}, {0}]\n"
      " %e = mul %c, %d\n %f = reduce.add %e, axes=[2]\n return %f\n}}",
      n);
}

/// Times of the first graph that takes long enough, or of the last one that runs. Empty if the
/// device lacks memory or the kernel is unsupported.
KernelTime first_long_run(Runtime& runtime, Device& device, const std::vector<std::string>& texts) {
  KernelTime time;
  try {
    for (const std::string& text : texts) {
      time = time_launches(runtime, device, text);
      if (time.launches < kMostLaunches) break;
    }
  } catch (const Error& error) {
    TN_LOG("runtime", "no rates to compare kernels with: {}", error.what());
  }
  return time;
}

/// Rate of the shortest launch. All launches do the same work.
double rate(const KernelTime& time, double amount) {
  return time.launches > 1 ? amount / static_cast<double>(time.launches - 1) / time.least_seconds
                           : 0;
}

}  // namespace

DeviceRates measure_rates(Runtime& runtime, Device& device) {
  const KernelTime empty = first_long_run(runtime, device, {map_text(1)});
  const KernelTime copy =
      first_long_run(runtime, device, {map_text(1 << 18), map_text(1 << 22), map_text(1 << 24)});
  const KernelTime product =
      first_long_run(runtime, device,
                     {product_text(64), product_text(256), product_text(1024), product_text(4096)});
  return {.device = device.id(),
          .by_device = empty.by_device,
          .launch_seconds = empty.least_seconds,
          .bytes_per_second = rate(copy, copy.bytes),
          .flops_per_second = rate(product, product.flops)};
}

}  // namespace tenon
