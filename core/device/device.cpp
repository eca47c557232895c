// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A device: the opened plugin device, memory pool, queue and executables.
#include "core/device/device.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/device/deferred_handles.hpp"
#include "core/device/executables.hpp"
#include "core/device/guards.hpp"
#include "core/device/host_access.hpp"
#include "core/device/opened_device.hpp"
#include "core/device/pool.hpp"
#include "core/device/queue.hpp"
#include "core/plugin/abi_struct.hpp"
#include "core/plugin/status.hpp"
#include "core/support/log.hpp"

namespace tenon {

Buffer::Buffer(std::shared_ptr<Device> device, tn_memory* memory, uint64_t offset, uint64_t size,
               bool is_slab)
    : device_(std::move(device)),
      memory_(memory),
      offset_(offset),
      size_(size),
      is_slab_(is_slab) {}

Buffer::~Buffer() {
  if (memory_) device_->release(*this);
}

void Buffer::set_last_use(uint64_t submission) {
  uint64_t old = last_use_.load(std::memory_order_relaxed);
  while (old < submission &&
         !last_use_.compare_exchange_weak(old, submission, std::memory_order_release)) {
  }
}

void Buffer::require_written() const {
  const uint64_t submission = written_.load(std::memory_order_acquire);
  if (submission != 0 && device_->has_failed(submission)) device_->wait_for(submission);
}

void Buffer::add_reader(std::shared_ptr<Device> device, uint64_t submission) {
  const std::lock_guard lock(readers_mutex_);
  for (auto& [known, last] : readers_) {
    if (known.lock() != device) continue;
    last = std::max(last, submission);
    return;
  }
  readers_.emplace_back(std::move(device), submission);
}

void Buffer::wait_for_readers() {
  decltype(readers_) readers;
  {
    const std::lock_guard lock(readers_mutex_);
    readers.swap(readers_);
  }
  for (const auto& [reader, submission] : readers)
    if (const auto device = reader.lock()) device->wait_idle(submission);
}

BufferRef Buffer::take() {
  TN_ASSERT(!is_imported());
  wait_for_readers();
  auto taken = std::make_shared<Buffer>(device_, memory_, offset_, size_, is_slab_);
  taken->set_last_use(last_use());
  memory_ = nullptr;
  is_spent_ = true;
  return taken;
}

Executable::~Executable() {
  if (handle) device->retire(handle);
}

struct Device::Parts : SlabSource {
  Parts(std::shared_ptr<PluginLibrary> library, uint32_t index, const tn_device_info& info,
        const DeviceOptions& options, std::shared_ptr<DiskCache> cache)
      : opened(std::move(library), index, info, options.id, options.plugin_options),
        guards(options.guard_bytes, options.poison),
        executables(opened, std::move(cache)),
        ranges(opened.plugin().memory_free) {
    try {
      queue = opened.facts.flags & TN_DEVICE_ASYNC
                  ? make_timeline_queue(opened.plugin(), opened.handle, opened.id)
                  : make_worker_queue(opened.plugin(), opened.handle, opened.id);
      host = std::make_unique<HostAccess>(opened, *queue);
      PoolOptions how;
      how.owner = opened.id;
      how.alignment = std::max<uint64_t>(opened.facts.spaces[0].alignment, 64);
      how.largest_slab = opened.facts.spaces[0].largest;
      how.limit = options.pool_limit;
      pool = std::make_unique<Pool>(static_cast<SlabSource&>(*this), how);
    } catch (...) {
      queue.reset();
      opened.close();
      throw;
    }
  }

  tn_memory* allocate_slab(uint64_t size) override {
    tn_error error = abi_struct<tn_error>();
    tn_memory* memory = nullptr;
    check_status(opened.plugin().memory_allocate(opened.handle, 0, size, &memory, &error), error,
                 "allocate", opened.id);
    return memory;
  }
  void free_slab(tn_memory* memory) override { opened.plugin().memory_free(memory); }
  void wait_idle(uint64_t submission) noexcept override {
    std::string failure;
    ErrorKind kind{};
    try {
      queue->wait(submission, failure, kind, false);
    } catch (const std::exception& error) {
      log_warning(error.what());
    }
  }

  /// Bytes of a guard zone, rounded up to the alignment of the pool.
  uint64_t guard() const {
    const uint64_t alignment = opened.facts.spaces[0].alignment;
    return (guards.bytes() + alignment - 1) & ~(alignment - 1);
  }
  Guards::Read reader() {
    return [this](tn_memory* memory, uint64_t at, void* data, uint64_t size) {
      host->read({memory, at}, data, size);
    };
  }

  OpenedDevice opened;
  Guards guards;
  Executables executables;
  DeferredHandles<tn_memory> ranges;  ///< of a file, each a slab of its own
  std::unique_ptr<Queue> queue;
  std::unique_ptr<HostAccess> host;
  std::unique_ptr<Pool> pool;
  std::mutex order_mutex;  ///< holds off submissions while the host accesses memory
  const Birthplace made_in = birthplace();
};

Device::Device(std::shared_ptr<PluginLibrary> library, uint32_t index, const tn_device_info& info,
               const DeviceOptions& options, std::shared_ptr<DiskCache> cache)
    : parts_(std::make_unique<Parts>(std::move(library), index, info, options, std::move(cache))) {}

Device::~Device() {
  const InUse use(parts_->made_in, std::nothrow);
  if (use) {
    close();
  } else if (parts_->opened.handle) {  // a child made by fork has no threads to join
    leak(std::move(parts_->queue));
    leak(std::move(parts_->pool));
    leak(parts_->executables.release_cache());
  }
}

const std::string& Device::id() const { return parts_->opened.id; }
const tn_device_info& Device::info() const { return parts_->opened.info; }
const tn_plugin& Device::plugin() const { return parts_->opened.plugin(); }
tn_device* Device::handle() const { return parts_->opened.handle; }
const Capabilities& Device::capabilities() const { return parts_->opened.facts.capabilities; }
uint64_t Device::memory_alignment() const { return parts_->opened.facts.spaces[0].alignment; }
bool Device::guarded() const { return parts_->guards.bytes() > 0; }
void Device::set_poison(uint8_t poison) { parts_->guards.set_poison(poison); }

void Device::drain() noexcept {
  try {
    parts_->queue->synchronize();
  } catch (const std::exception& error) {
    log_warning(fmt::format("work that nobody waited for has failed: {}", error.what()));
  }
}

void Device::drain_before_fork() noexcept {
  if (parts_->opened.handle) wait_idle(parts_->queue->submitted());
}

void Device::close() noexcept {
  if (!parts_->opened.handle) return;
  wait_idle(parts_->queue->submitted());
  parts_->executables.handles().destroy_all();
  parts_->ranges.destroy_all();
  parts_->host->free_staging();
  parts_->pool.reset();
  parts_->queue.reset();
  parts_->opened.close();
}

uint64_t Device::bytes_in_use() const {
  const InUse use(parts_->made_in);
  return parts_->pool->bytes_in_use();
}

uint64_t Device::bytes_reserved() const {
  const InUse use(parts_->made_in);
  return parts_->pool->bytes_reserved();
}

void Device::trim() {
  const InUse use(parts_->made_in);
  parts_->pool->trim();
}

// Memory.

BufferRef Device::allocate(uint64_t size, const std::string& purpose) {
  const InUse use(parts_->made_in);
  if (size == 0) return std::make_shared<Buffer>(shared_from_this(), nullptr, 0, 0);
  Guards& guards = parts_->guards;
  const uint64_t guard = parts_->guard();
  const Pool::Block block = parts_->pool->allocate(size + 2 * guard, purpose);
  auto buffer =
      std::make_shared<Buffer>(shared_from_this(), block.memory, block.offset + guard, size);
  buffer->set_last_use(block.ready);
  if (guarded()) {
    const std::vector<uint8_t> poison(size + 2 * guards.bytes(), guards.poison());
    const auto lock = wait_and_lock(*buffer);
    parts_->host->write({block.memory, buffer->offset() - guards.bytes()}, poison.data(),
                        poison.size());
    guards.add(block.memory, buffer->offset(), size, purpose);
  }
  return buffer;
}

void Device::release(Buffer& buffer) noexcept {
  const InUse use(parts_->made_in, std::nothrow);
  if (!use) {
    if (buffer.owner_) leak(std::move(buffer.owner_));
    return;
  }
  if (buffer.is_slab()) {
    parts_->ranges.retire(buffer.memory(), buffer.last_use(), std::move(buffer.owner_));
    return destroy_retired();
  }
  uint64_t offset = buffer.offset();
  if (guarded()) {
    try {
      wait_idle(buffer.last_use());
      const std::lock_guard lock(parts_->order_mutex);
      parts_->guards.remove(buffer.memory(), offset, parts_->reader());
    } catch (const std::exception& error) {
      log_warning(error.what());
    }
    offset -= parts_->guard();
  }
  parts_->pool->release(buffer.memory(), offset, buffer.last_use());
}

std::string Device::check_guards() {
  if (!guarded()) return "";
  const InUse use(parts_->made_in);
  parts_->queue->synchronize();
  const std::lock_guard lock(parts_->order_mutex);
  return parts_->guards.check(parts_->reader());
}

BufferRef Device::open_range(uint64_t offset, uint64_t size, bool write) {
  if (!parts_->opened.files)
    fail(ErrorKind::kUnsupported, "[open_range] {}: expected a device of files, got {}", id(),
         capabilities().compute ? "one that computes" : "one without ranges");
  const InUse use(parts_->made_in);
  if (size == 0) return std::make_shared<Buffer>(shared_from_this(), nullptr, 0, 0);
  tn_error error = abi_struct<tn_error>();
  tn_memory* memory = nullptr;
  check_status(parts_->opened.files->open_range(handle(), offset, size, write ? TN_FILES_WRITE : 0u,
                                                &memory, &error),
               error, "open_range", id());
  parts_->ranges.add(memory);
  return std::make_shared<Buffer>(shared_from_this(), memory, 0, size, /*is_slab=*/true);
}

BufferRef Device::import_host(const void* data, uint64_t size, std::shared_ptr<void> owner) {
  const tn_memory_space& space = parts_->opened.facts.spaces[0];
  constexpr uint64_t kPage = 4096;  // what memory_import takes begins at one
  const auto at = reinterpret_cast<uintptr_t>(data);
  const uint64_t offset = at % kPage;
  if (size == 0 || !(space.flags & TN_MEMORY_IMPORT) || !plugin().memory_import ||
      offset % space.read_alignment != 0)
    return nullptr;
  const InUse use(parts_->made_in);
  tn_error error = abi_struct<tn_error>();
  tn_memory* memory = nullptr;
  if (plugin().memory_import(handle(), 0, reinterpret_cast<void*>(at - offset), offset + size,
                             &memory, &error) != TN_OK)
    return nullptr;
  parts_->ranges.add(memory);
  auto buffer =
      std::make_shared<Buffer>(shared_from_this(), memory, offset, size, /*is_slab=*/true);
  buffer->owner_ = std::move(owner);
  return buffer;
}

const void* Device::host_pointer(const Buffer& buffer) {
  constexpr uint32_t kNeeded = TN_MEMORY_HOST_VISIBLE | TN_MEMORY_COHERENT | TN_MEMORY_PERSISTENT;
  if ((parts_->opened.facts.spaces[0].flags & kNeeded) != kNeeded || buffer.size() == 0)
    return nullptr;
  const InUse use(parts_->made_in);
  const auto lock = wait_and_lock(buffer);
  buffer.require_written();
  return parts_->host->pointer({buffer.memory(), buffer.offset()}, buffer.size());
}

void Device::check_range(const Buffer& buffer, uint64_t offset, uint64_t size,
                         const char* what) const {
  if (&buffer.device() != this)
    fail(ErrorKind::kInvalid, "[{}] expected a buffer of {}, got one of {}", what, id(),
         buffer.device().id());
  if (offset > buffer.size() || size > buffer.size() - offset)
    fail(ErrorKind::kInvalid, "[{}] expected bytes inside a buffer of {}, got {} at {}", what,
         buffer.size(), size, offset);
}

std::unique_lock<std::mutex> Device::wait_and_lock(const Buffer& buffer) {
  for (;;) {
    const uint64_t use = buffer.last_use();
    wait_for(use);
    std::unique_lock lock(parts_->order_mutex);
    if (buffer.last_use() == use) return lock;
  }
}

void Device::write(Buffer& buffer, uint64_t offset, const void* data, uint64_t size) {
  check_range(buffer, offset, size, "write");
  if (size == 0) return;
  const InUse use(parts_->made_in);
  buffer.wait_for_readers();
  const auto lock = wait_and_lock(buffer);
  parts_->host->write({buffer.memory(), buffer.offset() + offset}, data, size);
}

void Device::read(const Buffer& buffer, uint64_t offset, void* data, uint64_t size) {
  check_range(buffer, offset, size, "read");
  if (size == 0) return;
  const InUse use(parts_->made_in);
  {
    const auto lock = wait_and_lock(buffer);
    buffer.require_written();  // later work that only read it may have succeeded
    parts_->host->read({buffer.memory(), buffer.offset() + offset}, data, size);
  }
  destroy_retired();
}

uint64_t Device::copy(Buffer& from, uint64_t from_offset, Buffer& to, uint64_t to_offset,
                      uint64_t size) {
  const InUse use(parts_->made_in);
  Device& source = from.device();
  source.check_range(from, from_offset, size, "copy");
  check_range(to, to_offset, size, "copy");
  if (size == 0) return 0;
  from.require_written();
  const MemoryPlace source_place{from.memory(), from.offset() + from_offset};
  const MemoryPlace place{to.memory(), to.offset() + to_offset};
  if (&source == this) {
    Buffer* const used[] = {&from, &to};
    submit({copy_command(source_place, place, size)}, std::span<Buffer* const>(used));
    if (size == to.size()) to.set_written();
    return to.last_use();
  }
  source.parts_->queue->check_alive();
  parts_->queue->check_alive();
  const uint64_t ready = from.last_use();
  parts_->queue->make_room();
  const std::lock_guard lock(parts_->order_mutex);
  // Runs on a host thread of the destination's queue, in submission order.
  const uint64_t number = parts_->queue->run(
      [this, source_ref = from.shared_from_this(), ready, source_place, place, size] {
        source_ref->device().wait_for(ready);
        parts_->host->copy_from(*source_ref->device().parts_->host, source_place, place, size);
      });
  to.set_last_use(number);
  if (size == to.size()) to.set_written();
  from.add_reader(shared_from_this(), number);
  return number;
}

// Order.

void Device::submit(const std::vector<tn_command>& commands, std::vector<BufferRef> used) {
  std::vector<Buffer*> pointers;
  pointers.reserve(used.size());
  for (const BufferRef& buffer : used) pointers.push_back(buffer.get());
  submit(commands, std::span<Buffer* const>(pointers));
}

void Device::submit(const std::vector<tn_command>& commands, std::span<Buffer* const> used) {
  if (commands.empty()) return;
  if (!plugin().submit)
    fail(ErrorKind::kUnsupported,
         "[submit] {}: expected a device that runs commands, got one "
         "with memory only",
         id());
  const InUse use(parts_->made_in);
  parts_->queue->make_room();
  uint64_t number = 0;
  {
    const std::lock_guard lock(parts_->order_mutex);
    number = parts_->queue->submit(commands);
    for (Buffer* buffer : used) buffer->set_last_use(number);
  }
  destroy_retired();
  // At a first launch drivers may compile in their own threads and construct static objects. Wait
  // for it, so that at exit the devices are closed before these are destroyed.
  if (parts_->executables.take_first_launches(commands)) {
    wait_idle(number);
    first_launches_ended();
  }
}

Device::AloneTime Device::run_alone(const tn_command& command, std::span<Buffer* const> used) {
  const InUse use(parts_->made_in);
  parts_->queue->synchronize();
  const std::vector<tn_command> commands{command};
  std::optional<double> of_device;
  std::chrono::duration<double> of_host{};
  {
    const std::lock_guard lock(parts_->order_mutex);
    if (parts_->opened.timing)
      of_device = parts_->queue->run_timed(commands, *parts_->opened.timing);
    if (!of_device) {
      const auto begin = std::chrono::steady_clock::now();
      parts_->queue->run_now(commands);
      of_host = std::chrono::steady_clock::now() - begin;
    }
    for (Buffer* buffer : used) buffer->set_last_use(parts_->queue->submitted());
  }
  if (parts_->executables.take_first_launches(commands)) first_launches_ended();
  return {of_device.value_or(of_host.count()), of_device.has_value()};
}

void Device::synchronize() {
  const InUse use(parts_->made_in);
  parts_->queue->synchronize();
  destroy_retired();
}

void Device::wait(uint64_t submission) {
  const InUse use(parts_->made_in);
  wait_for(submission);
  destroy_retired();
}

bool Device::has_failed(uint64_t submission) const {
  const InUse use(parts_->made_in);
  return parts_->queue->has_failed(submission);
}

void Device::wait_idle(uint64_t submission) noexcept { parts_->wait_idle(submission); }

void Device::wait_for(uint64_t submission) {
  std::string failure;
  ErrorKind kind{};
  if (!parts_->queue->wait(submission, failure, kind, true)) throw Error(kind, failure);
}

// Executables.

ExecutableRef Device::compile(const tn_program& program) {
  const InUse use(parts_->made_in);
  return parts_->executables.compile(program, *this);
}

void Device::retire(tn_executable* executable) noexcept {
  const InUse use(parts_->made_in, std::nothrow);
  if (!use) return;
  parts_->executables.retire(executable, parts_->queue->submitted());
  destroy_retired();
}

void Device::destroy_retired() noexcept {
  DeferredHandles<tn_executable>& executables = parts_->executables.handles();
  if (!executables.has_retired() && !parts_->ranges.has_retired()) return;
  const uint64_t ended = parts_->queue->ended();
  executables.destroy_retired(ended);
  parts_->ranges.destroy_retired(ended);
}

}  // namespace tenon
