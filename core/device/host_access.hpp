// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host access to device memory: reads, writes, and copies from another device through the host.
#pragma once

#include <mutex>

#include "core/device/opened_device.hpp"
#include "core/device/queue.hpp"

namespace tenon {

/// An offset in a slab or file, in bytes.
struct MemoryPlace {
  tn_memory* memory;
  uint64_t offset;
};

tn_command copy_command(MemoryPlace from, MemoryPlace to, uint64_t size);

/// Most bytes mapped at once. Between chunks others may access the memory.
inline constexpr uint64_t kMappedChunk = uint64_t{16} << 20;

/// Does not wait for queued work: the caller must.
class HostAccess {
 public:
  HostAccess(const OpenedDevice& opened, Queue& queue) : opened_(opened), queue_(queue) {}

  void read(MemoryPlace from, void* data, uint64_t size);
  void write(MemoryPlace to, const void* data, uint64_t size);
  /// Copies with at most one intermediate copy in host memory.
  void copy_from(HostAccess& source, MemoryPlace from, MemoryPlace to, uint64_t size);
  /// Of persistent memory: good until the slab is freed.
  const void* pointer(MemoryPlace at, uint64_t size);
  void free_staging() noexcept;

 private:
  enum class Access { kRead, kWrite };
  class Window;
  void transfer(Access access, MemoryPlace place, void* data, uint64_t size);
  void file_bytes(Access access, MemoryPlace place, void* data, uint64_t size);
  void copy_chunk(HostAccess& source, MemoryPlace from, MemoryPlace to, uint64_t size);
  bool copy_imported(HostAccess& source, MemoryPlace from, MemoryPlace to, uint64_t size);
  /// Copies between a slab and host memory that the device imports. False if it cannot.
  bool run_imported(Access access, MemoryPlace place, void* host, uint64_t size);
  void run_copy(MemoryPlace from, MemoryPlace to, uint64_t size);
  uint64_t largest_chunk() const;
  tn_memory* staging();

  const OpenedDevice& opened_;
  Queue& queue_;
  std::mutex mutex_;  ///< maps, and staging_
  tn_memory* staging_ = nullptr;
};

/// Host memory for a range of a slab. Read: holds the bytes from the start. Write: close()
/// transfers the bytes and invalidates the pointer. At most largest_chunk() bytes where the host
/// does not see device memory.
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
