// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/schedule/limits.hpp"

#include <set>

#include "core/support/error.hpp"

namespace tenon::scheduling {
namespace {

std::string describe(const ScheduledBuffer& buffer, int number) {
  return fmt::format("buffer b{}{}{}: {}{}", number, buffer.name.empty() ? "" : " ", buffer.name,
                     dtype_name(buffer.dtype), to_string(buffer.shape));
}

/// Smallest size in bytes, as a double: the product may exceed 64 bits.
double least_bytes(const ScheduledBuffer& buffer) {
  double bytes = static_cast<double>(dtype_size(buffer.dtype));
  for (const Dim& dim : buffer.shape) bytes *= static_cast<double>(dim.min());
  return bytes;
}

void check_kernel(const Schedule& schedule, const KernelCall& call, const ScheduleDevice& device) {
  const Capabilities& caps = device.capabilities;
  const std::string_view op = op_info(call.graph.outputs[0]->op).text;
  if (!caps.compute)
    fail(ErrorKind::kUnsupported, "[{}] expected a device that computes, got {}", op, device.name);
  std::set<int> bound(call.inputs.begin(), call.inputs.end());
  bound.insert(call.outputs.begin(), call.outputs.end());
  if (caps.max_bindings && bound.size() > caps.max_bindings)
    fail(ErrorKind::kUnsupported, "[{}] expected at most {} buffers in one launch on {}, got {}",
         op, caps.max_bindings, device.name, bound.size());
  for (int b : bound) {
    const ScheduledBuffer& buffer = schedule.buffers[b];
    if (!caps.stores(buffer.dtype))
      fail(ErrorKind::kUnsupported, "[{}] expected a dtype that {} stores, got {}", op, device.name,
           describe(buffer, b));
    if (caps.max_buffer_bytes && least_bytes(buffer) > static_cast<double>(caps.max_buffer_bytes))
      fail(ErrorKind::kUnsupported, "[{}] expected buffers of at most {} bytes on {}, got {}", op,
           caps.max_buffer_bytes, device.name, describe(buffer, b));
  }
}

}  // namespace

void check_limits(const Schedule& schedule, const ScheduleOptions& options) {
  for (const Step& step : schedule.steps)
    if (const auto* call = std::get_if<KernelCall>(&step.call))
      check_kernel(schedule, *call, options.devices[step.device]);
}

}  // namespace tenon::scheduling
