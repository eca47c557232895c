// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/judge/device_run.hpp"

#include <algorithm>

#include "conformance/cases/graphs/shapes.hpp"
#include "conformance/cases/random.hpp"
#include "conformance/judge/float_control.hpp"
#include "core/support/error.hpp"
#include "core/support/hash.hpp"

namespace tenon::conformance::judge {
namespace {

BufferRef upload(Device& device, const Array& array) {
  BufferRef buffer = device.allocate(array.bytes.size(), "input");
  if (!array.bytes.empty()) device.write(*buffer, 0, array.bytes.data(), array.bytes.size());
  return buffer;
}

std::vector<BufferRef> upload(Device& device, const std::vector<Array>& arrays, bool share) {
  std::vector<BufferRef> buffers;
  for (size_t i = 0; i < arrays.size(); ++i) {
    const auto end = arrays.begin() + static_cast<std::ptrdiff_t>(i);
    const auto same = std::find_if(arrays.begin(), end,
                                   [&](const Array& a) { return a.bytes == arrays[i].bytes; });
    buffers.push_back(share && same != end ? buffers[static_cast<size_t>(same - arrays.begin())]
                                           : upload(device, arrays[i]));
  }
  return buffers;
}

/// A sentence about the first byte of the inputs that is not what was written, or nothing.
std::string changed_input(Device& device, const std::vector<Array>& arrays,
                          const std::vector<BufferRef>& buffers) {
  std::vector<uint8_t> after;
  for (size_t i = 0; i < arrays.size(); ++i) {
    const std::vector<uint8_t>& before = arrays[i].bytes;
    if (before.empty() || buffers[i]->is_spent()) continue;
    after.resize(before.size());
    device.read(*buffers[i], 0, after.data(), after.size());
    if (after != before)
      return fmt::format("input {} was written to at byte {}", i,
                         std::ranges::mismatch(after, before).in1 - after.begin());
  }
  return {};
}

}  // namespace

DeviceRun run_on_device(Runtime& runtime, const Case& test, const RunSettings& settings,
                        const Progress& progress) {
  const FloatControl control;
  Device& device = runtime.device();
  device.set_poison(settings.poison);
  const std::vector<BufferRef> inputs = upload(device, test.inputs, settings.share_inputs);
  const PlanUse kept = settings.plan
                           ? PlanUse()
                           : runtime.planned(test.graph, inputs, nullptr,
                                             std::vector<bool>(inputs.size(), settings.donate));
  // A run may wait for its own launches, so its time begins before it.
  progress(settings.is_first ? RunPhase::kFirstLaunch : RunPhase::kLaunch);
  const std::vector<BufferRef> outputs =
      settings.plan ? runtime.run_planned(test.graph, *settings.plan, inputs, test.symbols)
                    : runtime.run_planned(test.graph, kept, inputs, test.symbols);
  device.synchronize();
  DeviceRun run;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Node& node = *test.graph.outputs[i];
    Array array = Array::zeros(node.dtype, graphs::concrete(node.shape, test.symbols));
    if (!array.bytes.empty()) device.read(*outputs[i], 0, array.bytes.data(), array.bytes.size());
    run.outputs.push_back(std::move(array));
  }
  run.changed = changed_input(device, test.inputs, inputs);
  run.guards = device.check_guards();
  if (const std::string changed = control.restore(); !changed.empty())
    fail(ErrorKind::kInternal, "[process] {}", changed);
  return run;
}

uint64_t digest_of(const std::vector<Array>& outputs) {
  uint64_t digest = outputs.size();
  for (const Array& array : outputs) {
    digest = mix(digest, static_cast<uint64_t>(array.dtype));
    for (const int64_t size : array.shape) digest = mix(digest, static_cast<uint64_t>(size));
    const std::string_view bytes(reinterpret_cast<const char*>(array.bytes.data()),
                                 array.bytes.size());
    digest = mix(digest, hash_bytes(0, bytes));
  }
  return digest ? digest : 1;
}

}  // namespace tenon::conformance::judge
