// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One open device of a plugin: capabilities, memory from the core's pool, a timeline of
// submissions.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/device/process_end.hpp"
#include "core/ir/capabilities.hpp"
#include "tenon/plugin.h"

namespace tenon {

class Device;
class DiskCache;
class PluginLibrary;

/// A range of a pool's slab, or of a file. Released when the last reference goes; the pool reuses
/// it only after the work that was submitted with it has ended.
class Buffer : public std::enable_shared_from_this<Buffer> {
 public:
  Buffer(std::shared_ptr<Device> device, tn_memory* memory, uint64_t offset, uint64_t size,
         bool is_slab = false);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  Device& device() const { return *device_; }
  tn_memory* memory() const { return memory_; }
  uint64_t offset() const { return offset_; }  ///< bytes
  uint64_t size() const { return size_; }      ///< bytes, as asked for
  bool is_slab() const { return is_slab_; }    ///< not the pool's: all of a slab of its own
  /// Number of the last submission that uses it: the host waits for that one.
  uint64_t last_use() const { return last_use_.load(std::memory_order_acquire); }
  void set_last_use(uint64_t submission);
  /// Of a run that gave it its bytes: that of its last use so far.
  void set_written() { written_.store(last_use(), std::memory_order_release); }
  /// Throws the failure of the run that was to give it its bytes, if it is known to have failed.
  void require_written() const;
  /// Submission of another device that reads it: who writes to it waits for that one too.
  void add_reader(std::shared_ptr<Device> device, uint64_t submission);
  void wait_for_readers();

  /// The same bytes as another buffer, to be written over; this one is spent: nothing may use it.
  /// For one owner alone, after whose readers on other devices the writer is to come.
  std::shared_ptr<Buffer> take();
  bool is_spent() const { return is_spent_; }

 private:
  std::shared_ptr<Device> device_;
  tn_memory* memory_;
  uint64_t offset_, size_;
  bool is_slab_, is_spent_ = false;
  std::atomic<uint64_t> last_use_{0}, written_{0};
  std::mutex readers_mutex_;
  std::vector<std::pair<std::weak_ptr<Device>, uint64_t>> readers_;
};
using BufferRef = std::shared_ptr<Buffer>;

struct Executable {
  std::shared_ptr<Device> device;
  tn_executable* handle = nullptr;
  tn_compile_report report{};
  bool from_cache = false;
  std::string about;  ///< the program, the device and the driver that it was made for
  ~Executable();
};
using ExecutableRef = std::shared_ptr<Executable>;

struct DeviceOptions {
  std::string id;              ///< "cpu:0", or "BACKEND:PATH"
  std::string plugin_options;  ///< "threads=2": for device_open
  uint64_t pool_limit = 0;     ///< bytes; 0: none
  uint32_t guard_bytes = 0;
  uint8_t poison = 0;
};

class Device final : public std::enable_shared_from_this<Device>, public ClosedAtExit {
 public:
  /// Throws what the plugin says. `cache` null: executables are not kept on disk.
  Device(std::shared_ptr<PluginLibrary> library, uint32_t index, const tn_device_info& info,
         const DeviceOptions& options, std::shared_ptr<DiskCache> cache);
  ~Device() override;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const std::string& id() const;  ///< "cpu:0"
  const tn_device_info& info() const;
  const tn_plugin& plugin() const;
  tn_device* handle() const;
  const Capabilities& capabilities() const;

  /// Throws kOutOfMemory, naming the largest holders, after trimming the pool did not help. size 0
  /// is legal.
  BufferRef allocate(uint64_t size, const std::string& purpose = "");
  /// Both wait for the work in flight on the buffer. Range is in bytes.
  void write(Buffer& buffer, uint64_t offset, const void* data, uint64_t size);
  void read(const Buffer& buffer, uint64_t offset, void* data, uint64_t size);
  /// Bytes of a buffer of any device into one of this, in the order of this device's submissions,
  /// once what `from` waits for has ended. Returns at once, with the number; `from` is kept alive.
  uint64_t copy(Buffer& from, uint64_t from_offset, Buffer& to, uint64_t to_offset, uint64_t size);
  /// Until a submission has ended; throws its failure.
  void wait(uint64_t submission);
  /// Whether it has failed, as far as is known by now: what it was to write is not there.
  bool has_failed(uint64_t submission) const;

  /// Bytes [offset, offset + size) of the file behind a storage device. `write`: they may lie
  /// beyond its end, and the file grows at once. Throws kEnvironment, naming the file, kUnsupported
  /// where there is none.
  BufferRef open_range(uint64_t offset, uint64_t size, bool write);

  /// From the executable cache if it is there. Thread-safe. Throws kUnsupported with the plugin's
  /// reason.
  ExecutableRef compile(const tn_program& program);
  /// Returns at once, or after the first launch of a kernel; commands run in order after all
  /// earlier submissions. Buffers are kept alive until they ended.
  void submit(const std::vector<tn_command>& commands, std::vector<BufferRef> used);
  /// The same, for callers that submit often; the buffers are kept by what their release waits for.
  void submit(const std::vector<tn_command>& commands, std::span<Buffer* const> used);
  /// What a command took that ran alone, in seconds.
  struct AloneTime {
    double seconds;
    bool by_device;  ///< by its own clock; else the host's, from the submission to the wait's end
  };
  /// Waits for all submitted work, runs a command and waits for it. Throws its failure, or that of
  /// work before it.
  AloneTime run_alone(const tn_command& command, std::span<Buffer* const> used);
  /// Waits for all submitted work; throws the first failure of it (kDeviceLost is for good).
  void synchronize();

  /// Empty if every guard zone is intact, else a sentence that names buffer, side and offset. Waits
  /// for all work.
  std::string check_guards();
  /// What guard zones and fresh buffers are filled with from here on; no guard zones, no effect.
  void set_poison(uint8_t poison);

  uint64_t bytes_in_use() const;
  uint64_t bytes_reserved() const;  ///< slabs held from the plugin
  void trim();                      ///< gives unused slabs back

  uint64_t memory_alignment() const;  ///< bytes, of every offset that a launch binds
  bool guarded() const;               ///< buffers have guard zones

  void drain() noexcept override;
  void rest() noexcept override;
  void close() noexcept override;

 private:
  friend class Buffer;
  friend struct Executable;
  struct Parts;
  void wait_idle(uint64_t submission) noexcept;
  void wait_for(uint64_t submission);
  /// What the destructors do: the work in flight may still use both.
  void release(const Buffer& buffer) noexcept;
  void retire(tn_executable* executable) noexcept;
  /// Waits for the buffer's work, then holds off new submissions while the host is at it.
  std::unique_lock<std::mutex> settle(const Buffer& buffer);
  void check_range(const Buffer& buffer, uint64_t offset, uint64_t size, const char* what) const;
  void destroy_retired() noexcept;

  std::unique_ptr<Parts> parts_;
};

}  // namespace tenon
