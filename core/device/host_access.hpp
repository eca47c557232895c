// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host at a device's memory: reads, writes, and copies from another device through the host.
#pragma once

#include <memory>
#include <mutex>

#include "core/device/opened_device.hpp"
#include "core/device/queue.hpp"

namespace tenon {

/// Bytes of a slab, or of a file.
struct MemoryPlace {
  tn_memory* memory;
  uint64_t offset;
};

tn_command copy_command(MemoryPlace from, MemoryPlace to, uint64_t size);

/// Bytes that are mapped at once; then others get their turn at the memory.
inline constexpr uint64_t kMappedPart = uint64_t{16} << 20;

/// Nothing here waits for queued work: that is the caller's.
class HostAccess {
 public:
  HostAccess(const OpenedDevice& opened, Queue& queue) : opened_(opened), queue_(queue) {}

  void read(MemoryPlace from, void* data, uint64_t size);
  void write(MemoryPlace to, const void* data, uint64_t size);
  /// With one copy on the host at most: two staged devices meet in host memory.
  void copy_from(HostAccess& source, MemoryPlace from, MemoryPlace to, uint64_t size);
  void free_staging() noexcept;

 private:
  enum class Access { kRead, kWrite };
  class Window;
  void transfer(Access access, MemoryPlace place, void* data, uint64_t size);
  void file_bytes(Access access, MemoryPlace place, void* data, uint64_t size);
  void copy_part(HostAccess& source, MemoryPlace from, MemoryPlace to, uint64_t size);
  bool copy_imported(HostAccess& source, MemoryPlace from, MemoryPlace to, uint64_t size);
  /// Between a slab and host memory that the device takes as it is; false if it does not.
  bool run_imported(Access access, MemoryPlace place, void* host, uint64_t size);
  void run_copy(MemoryPlace from, MemoryPlace to, uint64_t size);
  uint64_t largest_part() const;
  tn_memory* staging();

  const OpenedDevice& opened_;
  Queue& queue_;
  std::mutex mutex_;  ///< maps, and staging_
  tn_memory* staging_ = nullptr;
};

/// Host memory that stands for a range of a slab. Read: the bytes are there from the beginning.
/// Write: they arrive with close(), after which the pointer is void. At most largest_part() bytes
/// where the host does not see the device's memory.
class HostAccess::Window {
 public:
  Window(HostAccess& device, Access access, MemoryPlace place, uint64_t size);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  void* data() const { return data_; }
  void close();

 private:
  HostAccess& device_;
  Access access_;
  MemoryPlace place_, mapped_{};
  uint64_t size_;
  void* data_ = nullptr;
};

}  // namespace tenon
