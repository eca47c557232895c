// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/schedule/uses.hpp"

#include <algorithm>

namespace tenon::scheduling {
namespace {

struct Read {
  std::vector<int>& out;
  void add(const std::vector<int>& buffers) {
    out.insert(out.end(), buffers.begin(), buffers.end());
  }
  void operator()(const KernelCall& call) { add(call.inputs); }
  void operator()(const CopyCall& call) { out.push_back(call.source); }
  void operator()(const IfCall& call) {
    out.push_back(call.condition);
    add(call.captured);
  }
  void operator()(const LoopCall& call) {
    out.push_back(call.trips);
    add(call.initial);
    add(call.captured);
  }
};

}  // namespace

std::vector<int> buffers_read(const Step& step) {
  std::vector<int> out;
  std::visit(Read{out}, step.call);
  return out;
}

std::vector<int> buffers_written(const Step& step) {
  if (const auto* kernel = std::get_if<KernelCall>(&step.call)) return kernel->outputs;
  if (const auto* copy = std::get_if<CopyCall>(&step.call)) return {copy->destination};
  if (const auto* branch = std::get_if<IfCall>(&step.call)) return branch->outputs;
  return std::get<LoopCall>(step.call).outputs;
}

std::vector<int> inputs_written(const Schedule& schedule) {
  std::vector<int> out;
  std::vector<bool> written(schedule.buffers.size());
  for (const Step& step : schedule.steps)
    for (const int b : buffers_written(step)) written[static_cast<size_t>(b)] = true;
  for (size_t i = 0; i < schedule.inputs.size(); ++i)
    if (written[static_cast<size_t>(schedule.inputs[i])]) out.push_back(static_cast<int>(i));
  return out;
}

std::vector<Lifetime> lifetimes(const Schedule& schedule) {
  std::vector<Lifetime> out(schedule.buffers.size());
  const auto touch = [&](int b, int step) {
    out[b].first = std::min(out[b].first, step);
    out[b].last = std::max(out[b].last, step);
  };
  for (size_t s = 0; s < schedule.steps.size(); ++s) {
    for (int b : buffers_read(schedule.steps[s])) touch(b, static_cast<int>(s));
    for (int b : buffers_written(schedule.steps[s])) touch(b, static_cast<int>(s));
    // Later steps on the source device do not wait for a copy to another device.
    const auto* copy = std::get_if<CopyCall>(&schedule.steps[s].call);
    if (copy && schedule.buffers[copy->source].device != schedule.steps[s].device)
      touch(copy->source, static_cast<int>(schedule.steps.size()));
  }
  return out;
}

}  // namespace tenon::scheduling
