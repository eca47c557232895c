// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/runtime/plan_use.hpp"

#include <algorithm>
#include <cstring>

#include "core/runtime/plan.hpp"
#include "core/runtime/run_plan.hpp"
#include "core/schedule/assign_devices.hpp"

namespace tenon {

namespace {

/// The device itself if it computes, else the first device that does.
template <class Computes>
int computing(int device, size_t count, const Computes& computes) {
  if (device >= 0 && computes(static_cast<size_t>(device))) return device;
  for (size_t d = 0; d < count; ++d)
    if (computes(d)) return static_cast<int>(d);
  return -1;
}

}  // namespace

DTypeSet storable_dtypes(const DeviceList& devices, const std::vector<InputPlace>& input_places) {
  const auto computes = [&](size_t d) { return devices[d]->capabilities().compute; };
  DTypeSet all = 0;
  for (const DType dtype : all_dtypes()) all |= dtype_bit(dtype);
  std::vector<InputPlace> on = input_places;
  if (on.empty()) on.emplace_back(-1);
  for (const InputPlace& wanted : on) {
    const int device = computing(wanted.device, devices.size(), computes);
    if (device < 0) return 0;
    for (const DType dtype : all_dtypes())
      if (!devices[static_cast<size_t>(device)]->capabilities().of(dtype).storage)
        all &= ~dtype_bit(dtype);
  }
  return all;
}

std::vector<int> devices_of_uses(const Skeleton& skeleton, const ScheduleOptions& options) {
  FlatMap<const Node*, int> index;
  for (const NodeRef& node : skeleton.nodes())
    index.try_emplace(node.get(), static_cast<int>(index.size()));
  const std::vector<int> placed =
      scheduling::node_devices(skeleton.graph(), options, skeleton.nodes(), index);
  const auto computes = [&](size_t d) { return options.devices[d].capabilities->compute; };
  std::vector<int> devices;
  for (const ConstantUse& use : skeleton.uses()) {
    const int device = use.node ? placed[static_cast<size_t>(index.at(use.node))] : -1;
    devices.push_back(computing(device, options.devices.size(), computes));
  }
  return devices;
}

ConstantBuffers::ConstantBuffers(std::shared_ptr<const Lifting> lifting,
                                 const std::vector<Scalar>& values)
    : lifting_(std::move(lifting)) {
  for (const LiftedInput& input : lifting_->inputs)
    words_.emplace_back((static_cast<size_t>(input.count) * dtype_size(input.dtype) + 3) / 4);
  for (size_t u = 0; u < values.size(); ++u) {
    const LiftedPlace& place = lifting_->places[u];
    if (place.input < 0) continue;
    const auto i = static_cast<size_t>(place.input);
    const size_t bytes = dtype_size(lifting_->inputs[i].dtype);
    auto* const to = reinterpret_cast<uint8_t*>(words_[i].data());
    std::memcpy(to + static_cast<size_t>(place.element) * bytes, &values[u].bits, bytes);
  }
}

std::vector<BufferRef> ConstantBuffers::get(const SchedulePlan& plan) {
  const std::lock_guard lock(mutex_);
  const auto lost = [](const BufferRef& b) { return b->device().has_failed(b->last_use()); };
  if (buffers_.empty() || std::ranges::any_of(buffers_, lost)) fill(plan);
  return buffers_;
}

/// Fills words, which every device queues like kernels.
void ConstantBuffers::fill(const SchedulePlan& plan) {
  std::vector<BufferRef> buffers;
  for (size_t i = 0; i < words_.size(); ++i) {
    Device& device = plan.device(lifting_->devices[i]);
    buffers.push_back(device.allocate(words_[i].size() * 4, "constants"));
    std::vector<tn_command> commands;
    for (size_t w = 0; w < words_[i].size(); ++w)
      commands.push_back(fill_command({buffers[i].get(), w * 4}, words_[i][w], 4));
    Buffer* const used[] = {buffers[i].get()};
    device.submit(commands, std::span<Buffer* const>(used));
  }
  buffers_ = std::move(buffers);
}

}  // namespace tenon
