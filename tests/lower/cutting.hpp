// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A whole graph as the compiler cuts it, each of its kernels run as a program.
#pragma once

#include <vector>

#include "tests/lower/harness.hpp"

namespace tenon::test {

struct Cutting {
  Builder builder;
  Graph graph;
  Schedule schedule;
  Capabilities device;

  Cutting(const std::string& text, const Capabilities& capabilities);

  const KernelCall& call(size_t step) const {
    return std::get<KernelCall>(schedule.steps[step].call);
  }
  LoweredKernel lowered(const KernelCall& call);
  /// The kernels one after another.
  std::vector<Array> run(const std::vector<Array>& inputs);
  /// Elements of the largest buffer between the kernels.
  int64_t largest() const;
};

/// Of the graph's inputs, numbers from -2 to 2.
std::vector<Array> drawn(const Graph& graph, uint32_t seed);
/// By the reference, and by the kernels.
void check_same(Cutting& cut, const std::vector<Array>& inputs, double tolerance);

}  // namespace tenon::test
