// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lets an elementwise kernel overwrite an input of which it is the last reader.
#include <algorithm>

#include "core/schedule/emit.hpp"
#include "core/schedule/uses.hpp"

namespace tenon::scheduling {
namespace {

/// The two buffers can be one.
bool same_elements(const ScheduledBuffer& a, const ScheduledBuffer& b) {
  return a.dtype == b.dtype && a.device == b.device &&
         same_shape(without_ones(a.shape), without_ones(b.shape));
}

}  // namespace

void reuse_in_place(Schedule& schedule, const std::vector<std::vector<bool>>& identity) {
  const std::vector<Lifetime> lives = lifetimes(schedule);
  for (size_t s = 0; s < schedule.steps.size(); ++s) {
    auto* call = std::get_if<KernelCall>(&schedule.steps[s].call);
    // With several outputs one could be written before another has read.
    if (!call || call->outputs.size() != 1 || call->alias[0] >= 0) continue;
    const ScheduledBuffer& output = schedule.buffers[call->outputs[0]];
    if (output.kind != BufferKind::kTemporary) continue;
    for (size_t i = 0; i < call->inputs.size(); ++i) {
      const int b = call->inputs[i];
      const bool ends_here = lives[b].last == static_cast<int>(s);
      if (i < identity[s].size() && identity[s][i] && ends_here &&
          schedule.buffers[b].kind == BufferKind::kTemporary &&
          same_elements(schedule.buffers[b], output) &&
          std::count(call->inputs.begin(), call->inputs.end(), b) == 1) {
        call->alias[0] = static_cast<int>(i);
        break;
      }
    }
  }
}

}  // namespace tenon::scheduling
