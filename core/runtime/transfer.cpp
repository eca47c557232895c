// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host access to a device's memory: mapped where the host sees it, else through a staging slab.
#include <cstring>

#include "core/runtime/abi_struct.hpp"
#include "core/runtime/device_impl.hpp"
#include "core/runtime/status.hpp"

namespace tenon {
namespace {

constexpr uint64_t kStagingBytes = uint64_t{4} << 20;

void copy(bool to_host, void* data, void* mapped, uint64_t size) {
  std::memcpy(to_host ? data : mapped, to_host ? mapped : data, size);
}

}  // namespace

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
  const auto lock = settle(buffer);
  transfer(Access::kWrite, buffer.memory(), buffer.offset() + offset, const_cast<void*>(data),
           size);
}

void DeviceImpl::read(const Buffer& buffer, uint64_t offset, void* data, uint64_t size) {
  check_range(buffer, offset, size, "read");
  if (size == 0) return;
  const auto lock = settle(buffer);
  transfer(Access::kRead, buffer.memory(), buffer.offset() + offset, data, size);
}

void DeviceImpl::transfer(Access access, tn_memory* memory, uint64_t offset, void* data,
                          uint64_t size) {
  if (facts_.spaces[0].flags & TN_MEMORY_HOST_VISIBLE) {
    transfer_mapped(access, memory, offset, data, size);
  } else {
    transfer_staged(access, memory, offset, data, size);
  }
}

void DeviceImpl::transfer_mapped(Access access, tn_memory* memory, uint64_t offset, void* data,
                                 uint64_t size) {
  tn_error error = abi_struct<tn_error>();
  void* mapped = nullptr;
  check_status(plugin().memory_map(memory, offset, size, &mapped, &error), error, "map", id_);
  copy(access == Access::kRead, data, mapped, size);
  check_status(plugin().memory_unmap(memory, &error), error, "unmap", id_);
}

void DeviceImpl::transfer_staged(Access access, tn_memory* memory, uint64_t offset, void* data,
                                 uint64_t size) {
  const bool to_host = access == Access::kRead;
  if (!staging_) {
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
  }
  tn_command command = abi_struct<tn_command>();
  command.kind = TN_COMMAND_COPY;
  for (uint64_t done = 0; done < size;) {
    const uint64_t part = std::min(size - done, kStagingBytes);
    char* host = static_cast<char*>(data) + done;
    command.destination = to_host ? staging_ : memory;
    command.destination_offset = to_host ? 0 : offset + done;
    command.source = to_host ? memory : staging_;
    command.source_offset = to_host ? offset + done : 0;
    command.size = part;
    if (!to_host) transfer_mapped(access, staging_, 0, host, part);
    wait_for(queue_->submit({command}));
    if (to_host) transfer_mapped(access, staging_, 0, host, part);
    done += part;
  }
}

}  // namespace tenon
