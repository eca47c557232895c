// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps that compile, and that add commands to a batch.
#include <algorithm>

#include "conformance/abi/saved.hpp"
#include "conformance/abi/sequences/runner.hpp"

namespace tenon::conformance::abi::sequences {

bool SequenceRunner::fill(const Numbers& numbers) {
  constexpr uint32_t kWidths[] = {1, 2, 4, 8};
  const size_t slot = numbers.slot(0, kSlabSlots);
  if (!slabs_[slot] || !subject_.table.submit) return false;
  Slab& slab = *slabs_[slot];
  uint32_t width = 1;
  for (const uint32_t legal : kWidths)
    if (numbers.size(3) >= legal) width = legal;
  const uint64_t offset = std::min(numbers.size(1), slab.size());
  const uint64_t count = std::min(numbers.size(2), slab.size() - offset) / width * width;
  const auto pattern = static_cast<uint64_t>(numbers.at(4));
  const tn_command command = fill_command(slab.memory.get(), offset, count, pattern, width);
  if (!add(slab.device, command, {{slot, offset, offset + count, true}})) return false;
  slab.fill(offset, count, pattern, width, step_);
  return true;
}

bool SequenceRunner::copy(const Numbers& numbers) {
  const size_t to = numbers.slot(0, kSlabSlots), from = numbers.slot(2, kSlabSlots);
  if (!slabs_[to] || !slabs_[from] || !subject_.table.submit) return false;
  Slab &target = *slabs_[to], &source = *slabs_[from];
  if (target.device != source.device) return false;
  const OpenDevice& opened = seats_[target.device]->opened;
  if (!(opened.spaces()[target.space].copy_from >> source.space & 1)) return false;
  const uint64_t at = std::min(numbers.size(1), target.size());
  const uint64_t origin = std::min(numbers.size(3), source.size());
  const uint64_t count = std::min({numbers.size(4), target.size() - at, source.size() - origin});
  if (to == from && at < origin + count && origin < at + count) return false;
  const tn_command command =
      copy_command(target.memory.get(), at, source.memory.get(), origin, count);
  if (!add(target.device, command,
           {{to, at, at + count, true}, {from, origin, origin + count, false}}))
    return false;
  target.copy(at, source, origin, count, step_);
  return true;
}

bool SequenceRunner::compile(const std::string& kind, const Numbers& numbers) {
  const size_t slot = numbers.slot(0, kExecutableSlots), device = numbers.slot(1, kDeviceSlots);
  const auto& kinds = program_kinds();
  TN_REQUIRE(std::ranges::find(kinds, kind) != kinds.end(),
             "[sequence] expected a kind of program, got \"{}\"", kind);
  if (!seats_[device]) return false;
  KernelSpec spec;
  spec.kind = kind;
  spec.dtype = static_cast<tn_dtype>(numbers.slot(2, 0x80));
  spec.constant = numbers.at(3);
  spec.threads = static_cast<uint32_t>(std::min<uint64_t>(numbers.size(4), 1024));
  spec.swapped = numbers.at(5) != 0;
  spec.renamed = numbers.at(6) != 0;
  if (executables_[slot]) drop_executable(slot);
  auto loaded = load_kernel(spec, seats_[device]->opened);
  if (!loaded) return false;
  executables_[slot] = LoadedSlot{std::move(*loaded), device};
  return true;
}

bool SequenceRunner::destroy(const Numbers& numbers) {
  const size_t slot = numbers.slot(0, kExecutableSlots);
  if (!executables_[slot]) return false;
  drop_executable(slot);
  return true;
}

bool SequenceRunner::reload(const Numbers& numbers) {
  const size_t slot = numbers.slot(0, kExecutableSlots);
  if (!executables_[slot]) return false;
  const size_t device = executables_[slot]->device;
  const OpenDevice& opened = seats_[device]->opened;
  if (!can_save(opened)) return false;
  const std::vector<uint8_t> bytes = save(opened, executables_[slot]->loaded.executable.get());
  LoadAnswer answer = load(opened, bytes);
  if (answer.status != TN_OK)
    find("error", "executable_load: expected TN_OK for what executable_save gave, got {}",
         status_text(answer.status));
  const Kernel kernel = executables_[slot]->loaded.kernel;
  drop_executable(slot);
  executables_[slot] = LoadedSlot{Loaded{kernel, std::move(answer.executable)}, device};
  return true;
}

bool SequenceRunner::damage(const Numbers& numbers) {
  const size_t slot = numbers.slot(0, kExecutableSlots);
  if (!executables_[slot]) return false;
  const OpenDevice& opened = seats_[executables_[slot]->device]->opened;
  if (!can_save(opened)) return false;
  expect_damage_is_refused(opened, save(opened, executables_[slot]->loaded.executable.get()),
                           numbers.size(1));
  return true;
}

bool SequenceRunner::launch(const Numbers& numbers) {
  const size_t slot = numbers.slot(0, kExecutableSlots);
  const size_t to = numbers.slot(1, kSlabSlots), from = numbers.slot(3, kSlabSlots);
  if (!executables_[slot] || !slabs_[to] || !slabs_[from]) return false;
  Slab &target = *slabs_[to], &source = *slabs_[from];
  const auto& [loaded, device] = *executables_[slot];
  const Kernel& kernel = loaded.kernel;
  const OpenDevice& opened = seats_[device]->opened;
  if (target.device != device || source.device != device) return false;
  const auto reachable = [&](const Slab& slab) {
    return opened.spaces()[slab.space].flags & TN_MEMORY_DEVICE;
  };
  if (!reachable(target) || !reachable(source)) return false;
  const auto place = [&](const Slab& slab, uint64_t request) {
    const uint64_t alignment =
        std::max<uint64_t>({opened.spaces()[slab.space].alignment, kernel.element_bytes(), 1});
    return request / alignment * alignment;
  };
  const uint64_t at = place(target, numbers.size(2)), origin = place(source, numbers.size(4));
  const uint64_t bytes = kernel.element_bytes(), most = opened.properties().max_buffer_bytes;
  // The most that fits, down to what one workgroup does.
  uint64_t count = numbers.size(5);
  Kernel::Extent extent = kernel.extent(count);
  const auto fits = [&](const Slab& slab, uint64_t offset, uint64_t elements) {
    return offset + elements * bytes <= slab.size() && (most == 0 || elements * bytes <= most);
  };
  while (!fits(target, at, extent.outputs) || !fits(source, origin, extent.inputs)) {
    if (count <= kernel.spec().threads) return false;
    extent = kernel.extent(count /= 2);
  }
  const Access writes{to, at, at + extent.outputs * bytes, true};
  const Access reads{from, origin, origin + extent.inputs * bytes, false};
  const bool same = to == from && at == origin && extent.inputs == extent.outputs;
  if (conflict(writes, reads) && !(same && kernel.is_elementwise())) return false;
  const uint64_t scalar = kernel.scalar_bits(numbers.at(6));
  Batch& batch = batches_[device];
  LaunchArguments& arguments = batch.arguments.emplace_back();
  const tn_command command =
      launch_command(kernel, loaded.executable.get(), extent, {target.memory.get(), at},
                     {source.memory.get(), origin}, scalar, arguments);
  if (!add(device, command, {writes, reads})) {
    batch.arguments.pop_back();
    return false;
  }
  batch.executables.insert(slot);
  kernel.apply(extent, source.range(origin, extent.inputs * bytes),
               target.range(at, extent.outputs * bytes), scalar);
  target.note(at, extent.outputs * bytes, step_);
  return true;
}

}  // namespace tenon::conformance::abi::sequences
