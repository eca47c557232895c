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

/// A range of a slab of the pool, of a file, or of host memory that was imported. Released with the
/// last reference; the pool reuses it after the work that was submitted with it has ended.
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
  bool is_slab() const { return is_slab_; }    ///< owns a whole slab, outside the pool
  /// It is somebody else's memory too, and only read.
  bool is_imported() const { return owner_ != nullptr; }
  /// Number of the last submission that uses it, which the host waits for.
  uint64_t last_use() const { return last_use_.load(std::memory_order_acquire); }
  void set_last_use(uint64_t submission);
  /// Marks its last use so far as the submission that wrote it.
  void set_written() { written_.store(last_use(), std::memory_order_release); }
  /// Throws the failure of the submission that wrote it, if that is known to have failed.
  void require_written() const;
  /// Adds a submission of another device that reads it. Writers wait for it.
  void add_reader(std::shared_ptr<Device> device, uint64_t submission);
  void wait_for_readers();

  /// Moves the bytes into a new buffer, to be overwritten; this one must not be used again. Needs a
  /// sole owner. The writer must wait for readers on other devices.
  std::shared_ptr<Buffer> take();
  bool is_spent() const { return is_spent_; }

 private:
  friend class Device;
  std::shared_ptr<Device> device_;
  tn_memory* memory_;
  uint64_t offset_, size_;
  bool is_slab_, is_spent_ = false;
  std::shared_ptr<void> owner_;  ///< of what was imported
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
  std::string about;  ///< text about the program, device and driver
  ~Executable();
};
using ExecutableRef = std::shared_ptr<Executable>;

struct DeviceOptions {
  std::string id;              ///< "cpu:0", or "BACKEND:PATH"
  std::string plugin_options;  ///< "threads=2", for device_open
  uint64_t pool_limit = 0;     ///< bytes; 0: none
  uint32_t guard_bytes = 0;
  uint8_t poison = 0;
};

class Device final : public std::enable_shared_from_this<Device>, public ClosedAtExit {
 public:
  /// Throws the error of the plugin. `cache` null: executables are not cached on disk.
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

  /// `size` in bytes, 0 is legal. Throws kOutOfMemory, naming the largest holders, if trimming the
  /// pool does not help.
  BufferRef allocate(uint64_t size, const std::string& purpose = "");
  /// Both wait for the work in flight on the buffer. Offset and size in bytes.
  void write(Buffer& buffer, uint64_t offset, const void* data, uint64_t size);
  void read(const Buffer& buffer, uint64_t offset, void* data, uint64_t size);
  /// Queues a copy from a buffer of any device to one of this device. It runs in the submission
  /// order of this device, after the work that writes `from`. Returns the submission number at
  /// once; `from` is kept alive.
  uint64_t copy(Buffer& from, uint64_t from_offset, Buffer& to, uint64_t to_offset, uint64_t size);
  /// Waits for a submission. Throws its failure.
  void wait(uint64_t submission);
  /// Whether a submission is known to have failed, so that its outputs are invalid. Does not wait.
  bool has_failed(uint64_t submission) const;

  /// Bytes [offset, offset + size) of the file of a storage device. `write`: the range may exceed
  /// the file, which grows at once. Throws kEnvironment with the file name, and kUnsupported if the
  /// device has no file.
  BufferRef open_range(uint64_t offset, uint64_t size, bool write);

  /// Host memory as a buffer that is only read, without a copy: it stays as it is while the buffer
  /// is there, which then lets go of `owner`, from whatever thread. Null where the device does not
  /// take it: it imports none, or none of this alignment.
  BufferRef import_host(const void* data, uint64_t size, std::shared_ptr<void> owner);
  /// Where the host sees the buffer, for as long as this is there; what is submitted later to write
  /// it must not be. Waits for what wrote it. Null where the device has no such pointers.
  const void* host_pointer(const Buffer& buffer);

  /// Compiles a program, or loads it from the executable cache. Thread-safe. Throws kUnsupported
  /// with the plugin's reason.
  ExecutableRef compile(const tn_program& program);
  /// Queues commands, which run in order after all earlier submissions. Returns at once, or after
  /// the first launch of a kernel has ended. Keeps the buffers alive until the commands have ended.
  void submit(const std::vector<tn_command>& commands, std::vector<BufferRef> used);
  /// The same without owning the buffers: their release waits for the submission.
  void submit(const std::vector<tn_command>& commands, std::span<Buffer* const> used);
  /// Seconds that a command took alone.
  struct AloneTime {
    double seconds;
    bool by_device;  ///< by the device clock; else by the host, from submission to the end of the
                     ///< wait
  };
  /// Waits for all submitted work, then runs and times one command. Throws a failure of the command
  /// or of work before it.
  AloneTime run_alone(const tn_command& command, std::span<Buffer* const> used);
  /// Waits for all submitted work. Throws its first failure; kDeviceLost is permanent.
  void synchronize();

  /// Empty if every guard zone is intact, else a sentence that names buffer, side and offset. Waits
  /// for all work.
  std::string check_guards();
  /// Sets the fill of guard zones and new buffers. No effect without guard zones.
  void set_poison(uint8_t poison);

  uint64_t bytes_in_use() const;
  uint64_t bytes_reserved() const;  ///< of slabs allocated from the plugin
  void trim();                      ///< frees unused slabs

  uint64_t memory_alignment() const;  ///< bytes; alignment of every bound offset
  bool guarded() const;               ///< buffers have guard zones

  void drain() noexcept override;
  void drain_before_fork() noexcept override;
  void close() noexcept override;

 private:
  friend class Buffer;
  friend struct Executable;
  struct Parts;
  void wait_idle(uint64_t submission) noexcept;
  void wait_for(uint64_t submission);
  /// Called by destructors: work in flight may still use the object.
  void release(Buffer& buffer) noexcept;
  void retire(tn_executable* executable) noexcept;
  /// Waits for the work on the buffer, then blocks new submissions while the lock is held.
  std::unique_lock<std::mutex> wait_and_lock(const Buffer& buffer);
  void check_range(const Buffer& buffer, uint64_t offset, uint64_t size, const char* what) const;
  void destroy_retired() noexcept;

  std::unique_ptr<Parts> parts_;
};

}  // namespace tenon
