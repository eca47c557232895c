// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/device/device_impl.hpp"

#include <algorithm>
#include <utility>

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

Executable::~Executable() {
  if (handle) device->retire(handle);
}

DeviceImpl::DeviceImpl(std::shared_ptr<PluginLibrary> library, uint32_t index,
                       const tn_device_info& info, const DeviceOptions& options,
                       std::shared_ptr<DiskCache> cache)
    : library_(std::move(library)),
      info_(info),
      id_(options.id),
      cache_(std::move(cache)),
      guards_(options.guard_bytes, options.poison) {
  const ForkHold hold;
  tn_error error = abi_struct<tn_error>();
  const char* text = options.plugin_options.empty() ? nullptr : options.plugin_options.c_str();
  check_status(plugin().device_open(index, text, &handle_, &error), error, "open", id_);
  try {
    TN_ASSERT(handle_ != nullptr);
    tn_target target = abi_struct<tn_target>();
    target.device = handle_;
    const tn_properties* properties = nullptr;
    check_status(plugin().properties(&target, &properties, &error), error, "properties", id_);
    facts_ = read_properties(properties, id_);
    if (const std::string why = check_device_functions(plugin(), facts_.flags); !why.empty())
      throw Error(ErrorKind::kEnvironment, fmt::format("[properties] {}: {}", id_, why));
    queue_ = facts_.flags & TN_DEVICE_ASYNC ? make_timeline_queue(plugin(), handle_, id_)
                                            : make_worker_queue(plugin(), handle_, id_);
    if (plugin().get_extension)
      files_ = static_cast<const tn_files*>(plugin().get_extension(TN_FILES_ID));
  } catch (...) {
    if (handle_) plugin().device_close(handle_);
    throw;
  }
  PoolOptions pool;
  pool.owner = id_;
  pool.alignment = std::max<uint64_t>(facts_.spaces[0].alignment, 64);
  pool.largest_slab = facts_.spaces[0].largest;
  pool.limit = options.pool_limit;
  pool_ = std::make_unique<Pool>(static_cast<SlabSource&>(*this), pool);
  TN_LOG("runtime", "{} opened: {}", id_, fixed_string(info_.name));
}

DeviceImpl::~DeviceImpl() {
  const InUse use(made_in_, std::nothrow);
  if (use) {
    close();
  } else if (handle_) {  // a child's threads are not there to be joined
    keep_for_ever(std::move(queue_));
    keep_for_ever(std::move(pool_));
    keep_for_ever(std::move(cache_));
  }
}

void DeviceImpl::drain() noexcept {
  try {
    queue_->synchronize();
  } catch (const std::exception& error) {
    log_warning(fmt::format("work that nobody waited for has failed: {}", error.what()));
  }
}

void DeviceImpl::close() noexcept {
  if (!handle_) return;
  wait_idle(queue_->submitted());
  destroy_retired(true);
  for (tn_executable* executable : executables_) plugin().executable_destroy(executable);
  for (tn_memory* range : ranges_) free_slab(range);
  if (staging_) free_slab(staging_);
  pool_.reset();
  queue_.reset();
  plugin().device_close(std::exchange(handle_, nullptr));
}

void DeviceImpl::wait(uint64_t submission) {
  const InUse use(made_in_);
  wait_for(submission);
}

uint64_t DeviceImpl::bytes_in_use() const {
  const InUse use(made_in_);
  return pool_->bytes_in_use();
}

uint64_t DeviceImpl::bytes_reserved() const {
  const InUse use(made_in_);
  return pool_->bytes_reserved();
}

void DeviceImpl::trim() {
  const InUse use(made_in_);
  pool_->trim();
}

BufferRef DeviceImpl::allocate(uint64_t size, const std::string& purpose) {
  const InUse use(made_in_);
  if (size == 0) return std::make_shared<Buffer>(shared_from_this(), nullptr, 0, 0);
  const uint64_t alignment = memory_alignment();
  const uint64_t guard = (guards_.bytes() + alignment - 1) & ~(alignment - 1);
  const Pool::Block block = pool_->allocate(size + 2 * guard, purpose);
  auto buffer =
      std::make_shared<Buffer>(shared_from_this(), block.memory, block.offset + guard, size);
  buffer->set_last_use(block.ready);
  if (guarded()) {
    const std::vector<uint8_t> poison(size + 2 * guards_.bytes(), guards_.poison());
    const auto lock = settle(*buffer);
    transfer(Access::kWrite, block.memory, buffer->offset() - guards_.bytes(),
             const_cast<uint8_t*>(poison.data()), poison.size());
    guards_.add(block.memory, buffer->offset(), size, purpose);
  }
  return buffer;
}

void DeviceImpl::release(const Buffer& buffer) noexcept {
  const InUse use(made_in_, std::nothrow);
  if (!use) return;
  if (buffer.is_slab()) {
    {
      const std::lock_guard lock(retired_mutex_);
      ranges_.erase(buffer.memory());
      retired_slabs_.emplace_back(buffer.last_use(), buffer.memory());
    }
    return destroy_retired(false);
  }
  uint64_t offset = buffer.offset();
  if (guarded()) {
    const uint64_t alignment = memory_alignment();
    try {
      wait_idle(buffer.last_use());
      const std::lock_guard lock(order_mutex_);
      guards_.remove(buffer.memory(), offset,
                     [this](tn_memory* memory, uint64_t at, void* data, uint64_t size) {
                       transfer(Access::kRead, memory, at, data, size);
                     });
    } catch (const std::exception& error) {
      log_warning(error.what());
    }
    offset -= (guards_.bytes() + alignment - 1) & ~(alignment - 1);
  }
  pool_->release(buffer.memory(), offset, buffer.last_use());
}

tn_memory* DeviceImpl::allocate_slab(uint64_t size) {
  tn_error error = abi_struct<tn_error>();
  tn_memory* memory = nullptr;
  check_status(plugin().memory_allocate(handle_, 0, size, &memory, &error), error, "allocate", id_);
  return memory;
}

void DeviceImpl::submit(const std::vector<tn_command>& commands, std::vector<BufferRef> used) {
  std::vector<Buffer*> pointers;
  pointers.reserve(used.size());
  for (const BufferRef& buffer : used) pointers.push_back(buffer.get());
  submit(commands, std::span<Buffer* const>(pointers));
}

void DeviceImpl::submit(const std::vector<tn_command>& commands, std::span<Buffer* const> used) {
  if (commands.empty()) return;
  if (!plugin().submit)
    fail(ErrorKind::kUnsupported,
         "[submit] {}: expected a device that runs commands, got one "
         "with memory only",
         id_);
  const InUse use(made_in_);
  queue_->make_room();
  uint64_t number = 0;
  {
    const std::lock_guard lock(order_mutex_);
    number = queue_->submit(commands);
    for (Buffer* buffer : used) buffer->set_last_use(number);
  }
  destroy_retired(false);
  if (has_unlaunched_) await_first_launches(commands, number);
}

/// Drivers may compile at the first launch, in threads of their own, and make static objects then:
/// at exit these must be there before the devices are closed, not come between.
void DeviceImpl::await_first_launches(const std::vector<tn_command>& commands, uint64_t number) {
  bool any = false;
  {
    const std::lock_guard lock(retired_mutex_);
    for (const tn_command& command : commands)
      any |= command.kind == TN_COMMAND_LAUNCH && unlaunched_.erase(command.executable) > 0;
    has_unlaunched_ = !unlaunched_.empty();
  }
  if (!any) return;
  wait_idle(number);
  new_work_has_ended();
}

void DeviceImpl::synchronize() {
  const InUse use(made_in_);
  queue_->synchronize();
}

void DeviceImpl::wait_idle(uint64_t submission) noexcept {
  std::string failure;
  ErrorKind kind{};
  try {
    queue_->wait(submission, failure, kind, false);
  } catch (const std::exception& error) {
    log_warning(error.what());
  }
}

void DeviceImpl::wait_for(uint64_t submission) {
  std::string failure;
  ErrorKind kind{};
  if (!queue_->wait(submission, failure, kind, true)) throw Error(kind, failure);
}

void DeviceImpl::retire(tn_executable* executable) noexcept {
  const InUse use(made_in_, std::nothrow);
  if (!use) return;
  {
    const std::lock_guard lock(retired_mutex_);
    executables_.erase(executable);
    unlaunched_.erase(executable);
    retired_.emplace_back(queue_->submitted(), executable);
  }
  destroy_retired(false);
}

void DeviceImpl::destroy_retired(bool all) noexcept {
  const std::lock_guard lock(retired_mutex_);
  if (retired_.empty() && retired_slabs_.empty()) return;
  const uint64_t ended = all ? UINT64_MAX : queue_->ended();
  std::erase_if(retired_, [&](const auto& item) {
    if (item.first > ended) return false;
    plugin().executable_destroy(item.second);
    return true;
  });
  std::erase_if(retired_slabs_, [&](const auto& item) {
    if (item.first > ended) return false;
    free_slab(item.second);
    return true;
  });
}

std::string DeviceImpl::check_guards() {
  if (!guarded()) return "";
  const InUse use(made_in_);
  queue_->synchronize();
  const std::lock_guard lock(order_mutex_);
  return guards_.check([this](tn_memory* memory, uint64_t at, void* data, uint64_t size) {
    transfer(Access::kRead, memory, at, data, size);
  });
}

}  // namespace tenon
