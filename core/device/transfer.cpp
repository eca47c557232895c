// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host access to a device's memory: by the file's own functions where it is one, mapped where the
// host sees it, else through a staging slab.
#include <cstring>

#include "core/device/host_window.hpp"
#include "core/plugin/abi_struct.hpp"
#include "core/plugin/status.hpp"

namespace tenon {

void DeviceImpl::check_range(const Buffer& buffer, uint64_t offset, uint64_t size,
                             const char* what) const {
  if (&buffer.device() != this)
    fail(ErrorKind::kInvalid, "[{}] expected a buffer of {}, got one of {}", what, id_,
         buffer.device().id());
  if (offset > buffer.size() || size > buffer.size() - offset)
    fail(ErrorKind::kInvalid, "[{}] expected bytes inside a buffer of {}, got {} at {}", what,
         buffer.size(), size, offset);
}

std::unique_lock<std::mutex> DeviceImpl::settle(const Buffer& buffer) {
  for (;;) {
    const uint64_t use = buffer.last_use();
    wait_for(use);
    std::unique_lock lock(order_mutex_);
    if (buffer.last_use() == use) return lock;
  }
}

void DeviceImpl::write(Buffer& buffer, uint64_t offset, const void* data, uint64_t size) {
  check_range(buffer, offset, size, "write");
  if (size == 0) return;
  const InUse use(made_in_);
  buffer.wait_for_readers();
  const auto lock = settle(buffer);
  transfer(Access::kWrite, buffer.memory(), buffer.offset() + offset, const_cast<void*>(data),
           size);
}

void DeviceImpl::read(const Buffer& buffer, uint64_t offset, void* data, uint64_t size) {
  check_range(buffer, offset, size, "read");
  if (size == 0) return;
  const InUse use(made_in_);
  const auto lock = settle(buffer);
  transfer(Access::kRead, buffer.memory(), buffer.offset() + offset, data, size);
}

void DeviceImpl::transfer(Access access, tn_memory* memory, uint64_t offset, void* data,
                          uint64_t size) {
  if (files_) return file_bytes(access, {memory, offset}, data, size);
  const std::lock_guard lock(memory_mutex_);
  for (uint64_t done = 0; done < size;) {
    const uint64_t part = std::min(size - done, is_visible() ? size : largest_part());
    auto* host = static_cast<char*>(data) + done;
    Window window(*this, access, {memory, offset + done}, part);
    std::memcpy(access == Access::kRead ? host : window.data(),
                access == Access::kRead ? window.data() : host, part);
    window.close();
    done += part;
  }
}

void DeviceImpl::file_bytes(Access access, Place place, void* data, uint64_t size) {
  tn_error error = abi_struct<tn_error>();
  const int32_t status = access == Access::kRead
                             ? files_->read(place.memory, place.offset, size, data, &error)
                             : files_->write(place.memory, place.offset, size, data, &error);
  check_status(status, error, access == Access::kRead ? "read" : "write", id_);
}

tn_memory* DeviceImpl::staging() {
  if (staging_) return staging_;
  uint32_t space = 0;
  for (uint32_t s = 1; s < facts_.spaces.size() && space == 0; ++s) {
    const bool visible = facts_.spaces[s].flags & TN_MEMORY_HOST_VISIBLE;
    if (visible && (facts_.spaces[0].copy_from >> s & 1) && (facts_.spaces[s].copy_from & 1))
      space = s;
  }
  if (space == 0)
    fail(ErrorKind::kUnsupported,
         "[transfer] {}: expected a memory space that the host sees and "
         "space 0 copies from and to, got none",
         id_);
  tn_error error = abi_struct<tn_error>();
  check_status(plugin().memory_allocate(handle_, space, kStagingBytes, &staging_, &error), error,
               "staging", id_);
  return staging_;
}

void DeviceImpl::run_copy(tn_memory* from, uint64_t from_offset, tn_memory* to, uint64_t to_offset,
                          uint64_t size) {
  tn_command command = abi_struct<tn_command>();
  command.kind = TN_COMMAND_COPY;
  command.source = from;
  command.source_offset = from_offset;
  command.destination = to;
  command.destination_offset = to_offset;
  command.size = size;
  queue_->run_now({command});
}

DeviceImpl::Window::Window(DeviceImpl& device, Access access, Place place, uint64_t size)
    : device_(device), access_(access), place_(place), size_(size) {
  mapped_ = place;
  if (!device.is_visible()) {
    mapped_ = {device.staging(), 0};
    if (access == Access::kRead)
      device.run_copy(place.memory, place.offset, mapped_.memory, 0, size);
  }
  tn_error error = abi_struct<tn_error>();
  check_status(device.plugin().memory_map(mapped_.memory, mapped_.offset, size, &data_, &error),
               error, "map", device.id_);
}

DeviceImpl::Window::~Window() {
  tn_error error = abi_struct<tn_error>();
  if (data_) device_.plugin().memory_unmap(mapped_.memory, &error);
}

void DeviceImpl::Window::close() {
  data_ = nullptr;
  tn_error error = abi_struct<tn_error>();
  check_status(device_.plugin().memory_unmap(mapped_.memory, &error), error, "unmap", device_.id_);
  if (access_ == Access::kWrite && mapped_.memory != place_.memory)
    device_.run_copy(mapped_.memory, 0, place_.memory, place_.offset, size_);
}

}  // namespace tenon
