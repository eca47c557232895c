// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host access to device memory: by file functions for a file, mapped where the host sees the
// memory, else through a staging slab.
#include "core/device/host_access.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/plugin/abi_struct.hpp"
#include "core/plugin/status.hpp"

namespace tenon {
namespace {

constexpr uint64_t kStagingBytes = uint64_t{4} << 20;

}  // namespace

tn_command copy_command(MemoryPlace from, MemoryPlace to, uint64_t size) {
  tn_command command = abi_struct<tn_command>();
  command.kind = TN_COMMAND_COPY;
  command.source = from.memory;
  command.source_offset = from.offset;
  command.destination = to.memory;
  command.destination_offset = to.offset;
  command.size = size;
  return command;
}

void HostAccess::read(MemoryPlace from, void* data, uint64_t size) {
  transfer(Access::kRead, from, data, size);
}

void HostAccess::write(MemoryPlace to, const void* data, uint64_t size) {
  transfer(Access::kWrite, to, const_cast<void*>(data), size);
}

uint64_t HostAccess::largest_chunk() const {
  return opened_.is_visible() ? kMappedChunk : kStagingBytes;
}

void HostAccess::transfer(Access access, MemoryPlace place, void* data, uint64_t size) {
  if (opened_.files) return file_bytes(access, place, data, size);
  const std::lock_guard lock(mutex_);
  for (uint64_t done = 0; done < size;) {
    const uint64_t part = std::min(size - done, opened_.is_visible() ? size : largest_chunk());
    auto* host = static_cast<char*>(data) + done;
    Window window(*this, access, {place.memory, place.offset + done}, part);
    std::memcpy(access == Access::kRead ? host : window.data(),
                access == Access::kRead ? window.data() : host, part);
    window.close();
    done += part;
  }
}

void HostAccess::file_bytes(Access access, MemoryPlace place, void* data, uint64_t size) {
  tn_error error = abi_struct<tn_error>();
  const int32_t status = access == Access::kRead
                             ? opened_.files->read(place.memory, place.offset, size, data, &error)
                             : opened_.files->write(place.memory, place.offset, size, data, &error);
  check_status(status, error, access == Access::kRead ? "read" : "write", opened_.id);
}

tn_memory* HostAccess::staging() {
  if (staging_) return staging_;
  uint32_t space = 0;
  for (uint32_t s = 1; s < opened_.facts.spaces.size() && space == 0; ++s) {
    const bool visible = opened_.facts.spaces[s].flags & TN_MEMORY_HOST_VISIBLE;
    if (visible && (opened_.facts.spaces[0].copy_from >> s & 1) &&
        (opened_.facts.spaces[s].copy_from & 1))
      space = s;
  }
  if (space == 0)
    fail(ErrorKind::kUnsupported,
         "[transfer] {}: expected a memory space that the host sees and "
         "space 0 copies from and to, got none",
         opened_.id);
  tn_error error = abi_struct<tn_error>();
  check_status(
      opened_.plugin().memory_allocate(opened_.handle, space, kStagingBytes, &staging_, &error),
      error, "staging", opened_.id);
  return staging_;
}

void HostAccess::free_staging() noexcept {
  if (staging_) opened_.plugin().memory_free(std::exchange(staging_, nullptr));
}

void HostAccess::run_copy(MemoryPlace from, MemoryPlace to, uint64_t size) {
  queue_.run_now({copy_command(from, to, size)});
}

const void* HostAccess::pointer(MemoryPlace at, uint64_t size) {
  const std::lock_guard lock(mutex_);
  Window window(*this, Access::kRead, at, size);
  const void* const out = window.data();
  window.close();
  return out;
}

HostAccess::Window::Window(HostAccess& device, Access access, MemoryPlace place, uint64_t size)
    : device_(device), access_(access), place_(place), size_(size) {
  mapped_ = place;
  if (!device.opened_.is_visible()) {
    mapped_ = {device.staging(), 0};
    if (access == Access::kRead) device.run_copy(place, mapped_, size);
  }
  tn_error error = abi_struct<tn_error>();
  check_status(
      device.opened_.plugin().memory_map(mapped_.memory, mapped_.offset, size, &data_, &error),
      error, "map", device.opened_.id);
}

HostAccess::Window::~Window() {
  tn_error error = abi_struct<tn_error>();
  if (data_) device_.opened_.plugin().memory_unmap(mapped_.memory, &error);
}

void HostAccess::Window::close() {
  data_ = nullptr;
  tn_error error = abi_struct<tn_error>();
  check_status(device_.opened_.plugin().memory_unmap(mapped_.memory, &error), error, "unmap",
               device_.opened_.id);
  if (access_ == Access::kWrite && mapped_.memory != place_.memory)
    device_.run_copy(mapped_, place_, size_);
}

}  // namespace tenon
