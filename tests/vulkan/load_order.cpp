// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// load_order FIRST SECOND: opens two backends in one process, in this order, and computes on each
// in turn. A software driver of Vulkan brings an LLVM of its own, and the CPU plugin another.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

#include "core/ir/text/text.hpp"
#include "core/runtime/runtime.hpp"
#include "core/support/error.hpp"

namespace {

constexpr char kGraph[] = R"(graph rows(%x: f32[4, 100]) {
  %e = exp2 %x
  %s = reduce.add %e, axes=[1]
  return %s
}
)";

/// Sums of 100 twos to the power of the row's number.
bool is_right(const tenon::Array& sums) {
  for (int row = 0; row < 4; ++row) {
    float sum = 0;
    std::memcpy(&sum, sums.bytes.data() + row * sizeof sum, sizeof sum);
    const float expected = 100.0f * static_cast<float>(1 << row);
    if (std::abs(sum - expected) > 1e-3f * expected) return false;
  }
  return true;
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 3) return 2;
  tenon::RuntimeOptions options;
  options.devices = std::string(arguments[1]) + "@optional," + arguments[2] + "@optional";
  options.disk_cache = false;
  tenon::Runtime runtime(std::move(options));
  if (runtime.devices().size() < 2) {
    std::puts("skipped: one of the two has no device");
    return 4;
  }
  const tenon::Graph graph = tenon::parse_graph(kGraph, runtime.builder());
  tenon::Array rows = tenon::Array::zeros(tenon::DType::kF32, {4, 100});
  for (int i = 0; i < 400; ++i) {
    const float value = static_cast<float>(i / 100);
    std::memcpy(rows.bytes.data() + i * sizeof value, &value, sizeof value);
  }
  for (int round = 0; round < 2; ++round) {
    for (const auto& device : runtime.devices()) {
      if (!is_right(runtime.run(graph, {rows}, {}, device->id()).at(0))) {
        std::printf("wrong sums on %s\n", device->id().c_str());
        return 1;
      }
    }
  }
  return 0;
} catch (const tenon::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
