// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Device over a plugin's table.
#pragma once

#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "core/device/device.hpp"
#include "core/device/guards.hpp"
#include "core/device/pool.hpp"
#include "core/device/process_end.hpp"
#include "core/device/queue.hpp"
#include "core/plugin/library.hpp"
#include "core/plugin/properties.hpp"
#include "core/support/disk_cache.hpp"
#include "tenon/ext/files.h"

namespace tenon {

struct DeviceOptions {
  std::string id;              ///< "cpu:0", or "BACKEND:PATH"
  std::string plugin_options;  ///< "threads=2": for device_open
  uint64_t pool_limit = 0;     ///< bytes; 0: none
  uint32_t guard_bytes = 0;
  uint8_t poison = 0;
};

class CompiledProgram;

class DeviceImpl final : public Device, public ClosedAtExit, private SlabSource {
 public:
  DeviceImpl(std::shared_ptr<PluginLibrary> library, uint32_t index, const tn_device_info& info,
             const DeviceOptions& options, std::shared_ptr<DiskCache> cache);
  ~DeviceImpl() override;

  const std::string& id() const override { return id_; }
  const tn_device_info& info() const override { return info_; }
  const tn_plugin& plugin() const override { return library_->table(); }
  tn_device* handle() const override { return handle_; }
  const Capabilities& capabilities() const override { return facts_.capabilities; }

  BufferRef allocate(uint64_t size, const std::string& purpose) override;
  void write(Buffer& buffer, uint64_t offset, const void* data, uint64_t size) override;
  void read(const Buffer& buffer, uint64_t offset, void* data, uint64_t size) override;
  uint64_t copy(Buffer& from, uint64_t from_offset, Buffer& to, uint64_t to_offset,
                uint64_t size) override;
  void wait(uint64_t submission) override;
  BufferRef open_range(uint64_t offset, uint64_t size, bool write) override;
  ExecutableRef compile(const tn_program& program) override;
  void submit(const std::vector<tn_command>& commands, std::vector<BufferRef> used) override;
  void submit(const std::vector<tn_command>& commands, std::span<Buffer* const> used) override;
  void synchronize() override;
  std::string check_guards() override;
  void set_poison(uint8_t poison) override { guards_.set_poison(poison); }
  uint64_t bytes_in_use() const override;
  uint64_t bytes_reserved() const override;
  void trim() override;
  uint64_t memory_alignment() const override { return facts_.spaces[0].alignment; }
  bool guarded() const override { return guards_.bytes() > 0; }

  void drain() noexcept override;
  void close() noexcept override;

 private:
  void release(const Buffer& buffer) noexcept override;
  void retire(tn_executable* executable) noexcept override;
  tn_memory* allocate_slab(uint64_t size) override;
  void free_slab(tn_memory* memory) override { plugin().memory_free(memory); }
  void wait_idle(uint64_t submission) noexcept override;

  /// Copies host bytes from or to a slab, whose work has ended.
  enum class Access { kRead, kWrite };
  void transfer(Access access, tn_memory* memory, uint64_t offset, void* data, uint64_t size);
  /// The same between the slabs of two devices.
  struct Place {
    tn_memory* memory;
    uint64_t offset;
  };
  void copy_between(DeviceImpl& source, Place from, Place to, uint64_t size);
  void copy_part(DeviceImpl& source, Place from, Place to, uint64_t size);
  bool copy_imported(DeviceImpl& source, Place from, Place to, uint64_t size);
  /// Between a slab and host memory that the device takes as it is; false if it does not.
  bool run_imported(Access access, Place place, void* host, uint64_t size);

  /// Host memory that stands for a range of a slab: mapped, or staged. Under memory_mutex_.
  class Window;
  bool is_visible() const { return facts_.spaces[0].flags & TN_MEMORY_HOST_VISIBLE; }
  uint64_t largest_part() const;
  tn_memory* staging();
  void run_copy(tn_memory* from, uint64_t from_offset, tn_memory* to, uint64_t to_offset,
                uint64_t size);
  void file_bytes(Access access, Place place, void* data, uint64_t size);
  void wait_for(uint64_t submission);
  /// Waits for the buffer's work, then holds off new submissions while the host is at it.
  std::unique_lock<std::mutex> settle(const Buffer& buffer);
  void check_range(const Buffer& buffer, uint64_t offset, uint64_t size, const char* what) const;
  void destroy_retired(bool all) noexcept;
  void await_first_launches(const std::vector<tn_command>& commands, uint64_t number);

  std::string cache_subject(const tn_program& program) const;
  ExecutableRef load_cached(const std::string& subject);
  ExecutableRef compile_fresh(const tn_program& program, const std::string& subject);
  void save(const CompiledProgram& compiled, const std::string& subject);
  ExecutableRef wrap(tn_executable* handle, const tn_compile_report& report, bool from_cache);

  std::shared_ptr<PluginLibrary> library_;
  tn_device_info info_;
  std::string id_;
  std::shared_ptr<DiskCache> cache_;
  tn_device* handle_ = nullptr;
  DeviceFacts facts_;
  Guards guards_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Pool> pool_;
  const tn_files* files_ = nullptr;  ///< of a storage device that has them
  std::mutex order_mutex_;           ///< submissions, held off while the host is at memory
  std::mutex memory_mutex_;          ///< maps, and staging_; taken after order_mutex_
  tn_memory* staging_ = nullptr;
  const Birthplace made_in_ = birthplace();
  std::atomic<bool> has_unlaunched_ = false;
  std::mutex retired_mutex_;                        ///< of these five
  std::unordered_set<tn_executable*> unlaunched_;   ///< so far
  std::unordered_set<tn_executable*> executables_;  ///< that someone holds
  std::unordered_set<tn_memory*> ranges_;           ///< slabs of their own that someone holds
  std::vector<std::pair<uint64_t, tn_executable*>> retired_;
  std::vector<std::pair<uint64_t, tn_memory*>> retired_slabs_;
  std::mutex compiled_mutex_;
  std::unordered_map<std::string, std::weak_ptr<Executable>> compiled_;
};

}  // namespace tenon
