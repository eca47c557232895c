// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies between two devices: in the order of the destination's submissions, by a thread of its
// queue, with one copy on the host at most (two staged devices meet in host memory).
#include <cstring>

#include "core/device/host_window.hpp"
#include "core/plugin/abi_struct.hpp"
#include "core/plugin/status.hpp"

namespace tenon {
namespace {

constexpr uint64_t kMappedPart = uint64_t{16} << 20;  ///< then others get their turn at the memory
constexpr uint64_t kSmallestImport = uint64_t{1}
                                     << 20;  ///< below it importing costs more than it saves

}  // namespace

uint64_t DeviceImpl::copy(Buffer& from, uint64_t from_offset, Buffer& to, uint64_t to_offset,
                          uint64_t size) {
  const InUse use(made_in_);
  auto& source = static_cast<DeviceImpl&>(from.device());
  source.check_range(from, from_offset, size, "copy");
  check_range(to, to_offset, size, "copy");
  if (size == 0) return 0;
  const Place source_place{from.memory(), from.offset() + from_offset};
  const Place place{to.memory(), to.offset() + to_offset};
  if (&source == this) {
    tn_command command = abi_struct<tn_command>();
    command.kind = TN_COMMAND_COPY;
    command.source = source_place.memory;
    command.source_offset = source_place.offset;
    command.destination = place.memory;
    command.destination_offset = place.offset;
    command.size = size;
    Buffer* const used[] = {&from, &to};
    submit({command}, std::span<Buffer* const>(used));
    return to.last_use();
  }
  source.queue_->check_alive();
  queue_->check_alive();
  const uint64_t ready = from.last_use();
  queue_->make_room();
  const std::lock_guard lock(order_mutex_);
  const uint64_t number =
      queue_->run([this, kept = from.shared_from_this(), ready, source_place, place, size] {
        auto& device = static_cast<DeviceImpl&>(kept->device());
        device.wait_for(ready);
        copy_between(device, source_place, place, size);
      });
  to.set_last_use(number);
  from.add_reader(shared_from_this(), number);
  return number;
}

uint64_t DeviceImpl::largest_part() const { return is_visible() ? kMappedPart : kStagingBytes; }

void DeviceImpl::copy_between(DeviceImpl& source, Place from, Place to, uint64_t size) {
  for (uint64_t done = 0; done < size;) {
    uint64_t part = std::min(size - done, kMappedPart);
    const Place part_from{from.memory, from.offset + done}, part_to{to.memory, to.offset + done};
    // Both at once, in whatever order: two devices may copy to each other.
    const std::scoped_lock lock(memory_mutex_, source.memory_mutex_);
    if (part < kSmallestImport || !copy_imported(source, part_from, part_to, part)) {
      part = std::min({part, largest_part(), source.largest_part()});
      copy_part(source, part_from, part_to, part);
    }
    done += part;
  }
}

void DeviceImpl::copy_part(DeviceImpl& source, Place from, Place to, uint64_t size) {
  if (files_) {
    Window window(source, Access::kRead, from, size);
    file_bytes(Access::kWrite, to, window.data(), size);
    return window.close();
  }
  Window window(*this, Access::kWrite, to, size);
  if (source.files_) {
    source.file_bytes(Access::kRead, from, window.data(), size);
  } else {
    Window read(source, Access::kRead, from, size);
    std::memcpy(window.data(), read.data(), size);
    read.close();
  }
  window.close();
}

/// Where one side takes the other's host memory as its own, the device moves the bytes itself.
bool DeviceImpl::copy_imported(DeviceImpl& source, Place from, Place to, uint64_t size) {
  if (!is_visible() && source.files_) {
    void* pages = nullptr;
    tn_error error = abi_struct<tn_error>();
    if (!source.files_->pin ||
        source.files_->pin(from.memory, from.offset, size, &pages, &error) != TN_OK)
      return false;
    bool done = false;
    try {
      done = run_imported(Access::kWrite, to, pages, size);
    } catch (...) {
      source.files_->unpin(from.memory);
      throw;
    }
    source.files_->unpin(from.memory);
    return done;
  }
  if (files_ || source.files_ || is_visible() == source.is_visible()) return false;
  if (source.is_visible()) {
    Window window(source, Access::kRead, from, size);
    const bool done = run_imported(Access::kWrite, to, window.data(), size);
    window.close();
    return done;
  }
  Window window(*this, Access::kWrite, to, size);
  const bool done = source.run_imported(Access::kRead, from, window.data(), size);
  window.close();
  return done;
}

bool DeviceImpl::run_imported(Access access, Place place, void* host, uint64_t size) {
  uint32_t space = 0;
  const auto copies = [&](uint32_t to, uint32_t from) {
    return (facts_.spaces[to].copy_from >> from & 1) != 0;
  };
  while (space < facts_.spaces.size() &&
         !((facts_.spaces[space].flags & TN_MEMORY_IMPORT) &&
           (access == Access::kWrite ? copies(0, space) : copies(space, 0))))
    ++space;
  if (space == facts_.spaces.size() || !plugin().memory_import) return false;
  tn_error error = abi_struct<tn_error>();
  tn_memory* imported = nullptr;
  if (plugin().memory_import(handle_, space, host, size, &imported, &error) != TN_OK) return false;
  try {
    if (access == Access::kWrite) {
      run_copy(imported, 0, place.memory, place.offset, size);
    } else {
      run_copy(place.memory, place.offset, imported, 0, size);
    }
  } catch (...) {
    plugin().memory_free(imported);
    throw;
  }
  plugin().memory_free(imported);
  return true;
}

BufferRef DeviceImpl::open_range(uint64_t offset, uint64_t size, bool write) {
  if (!files_)
    fail(ErrorKind::kUnsupported, "[open_range] {}: expected a device of files, got {}", id_,
         facts_.capabilities.compute ? "one that computes" : "one without ranges");
  const InUse use(made_in_);
  if (size == 0) return std::make_shared<Buffer>(shared_from_this(), nullptr, 0, 0);
  tn_error error = abi_struct<tn_error>();
  tn_memory* memory = nullptr;
  check_status(
      files_->open_range(handle_, offset, size, write ? TN_FILES_WRITE : 0u, &memory, &error),
      error, "open_range", id_);
  auto range = std::make_shared<Buffer>(shared_from_this(), memory, 0, size, /*is_slab=*/true);
  const std::lock_guard lock(retired_mutex_);
  ranges_.insert(memory);
  return range;
}

}  // namespace tenon
