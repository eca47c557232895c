// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/lower/cutting.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <random>

namespace tenon::test {

Cutting::Cutting(const std::string& text, const Capabilities& capabilities)
    : graph(parse_graph(text, builder)), device(capabilities) {
  ScheduleOptions options;
  options.devices.push_back({"device:0", capabilities});
  schedule = Compiler(builder).schedule(graph, options);
}

LoweredKernel Cutting::lowered(const KernelCall& call) {
  const Compiler compiler(builder, {.verify = true});
  TemplateChooser templates;
  return compiler.lower(call, device, templates, 0, "kernel");
}

std::vector<Array> Cutting::run(const std::vector<Array>& inputs) {
  std::vector<Array> buffers(schedule.buffers.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    buffers[static_cast<size_t>(schedule.inputs[i])] = inputs[i];
  for (size_t s = 0; s < schedule.steps.size(); ++s) {
    const KernelCall& k = call(s);
    std::vector<Array> in;
    for (size_t i = 0; i < k.inputs.size(); ++i) {
      in.push_back(buffers[static_cast<size_t>(k.inputs[i])]);
      in.back().shape.clear();
      for (const Dim& dim : k.graph.params[i]->shape) in.back().shape.push_back(dim.value());
    }
    const std::vector<Array> out = test::run(lowered(k), k.graph, k.alias, in, {}, device.atoms);
    for (size_t o = 0; o < out.size(); ++o) buffers[static_cast<size_t>(k.outputs[o])] = out[o];
  }
  std::vector<Array> out;
  for (const int b : schedule.outputs) out.push_back(buffers[static_cast<size_t>(b)]);
  return out;
}

int64_t Cutting::largest() const {
  int64_t most = 0;
  for (const ScheduledBuffer& buffer : schedule.buffers)
    if (buffer.kind == BufferKind::kTemporary) most = std::max(most, product(buffer.shape).max());
  return most;
}

std::vector<Array> drawn(const Graph& graph, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> number(-2, 2);
  std::vector<Array> out;
  for (const NodeRef& p : graph.params) {
    std::vector<int64_t> shape;
    for (const Dim& dim : p->shape) shape.push_back(dim.value());
    out.push_back(Array::zeros(p->dtype, shape));
    for (int64_t i = 0; i < out.back().count(); ++i)
      out.back().set(i, Scalar::of(p->dtype, number(random)));
  }
  return out;
}

void check_same(Cutting& cut, const std::vector<Array>& inputs, double tolerance) {
  const std::vector<Array> expected = evaluate(cut.graph, inputs, {}), got = cut.run(inputs);
  for (size_t o = 0; o < expected.size(); ++o)
    for (int64_t i = 0; i < expected[o].count(); ++i) {
      const double x = expected[o].at(i).as_double(), y = got[o].at(i).as_double();
      if (std::isnan(x) == std::isnan(y) &&
          (std::isnan(x) || std::abs(x - y) <= tolerance * std::max(1.0, std::abs(x))))
        continue;
      FAIL_CHECK("output " << o << " element " << i << ": expected " << x << ", got " << y);
      return;
    }
}

}  // namespace tenon::test
