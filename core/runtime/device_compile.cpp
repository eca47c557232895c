// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From programs to executables: asked of memory, of the disk, then of the plugin.
#include "core/runtime/abi_struct.hpp"
#include "core/runtime/device_impl.hpp"
#include "core/runtime/status.hpp"
#include "core/support/log.hpp"

namespace tenon {
namespace {

constexpr int kCacheSchema = 1;  ///< of what the key is made of and of what is stored

void append(void* user, const void* bytes, size_t size) {
  auto& out = *static_cast<std::vector<uint8_t>*>(user);
  const auto* begin = static_cast<const uint8_t*>(bytes);
  try {
    out.insert(out.end(), begin, begin + size);
  } catch (const std::exception&) {
    out.clear();  // no memory for it: nothing is cached
  }
}

tn_target target_of(tn_device* device) {
  tn_target target = abi_struct<tn_target>();
  target.device = device;
  return target;
}

}  // namespace

std::string DeviceImpl::cache_key(const tn_program& program) const {
  const std::string device =
      fmt::format("{} | {} | {} | {} | {} | {} | {}", kCacheSchema, TN_PROGRAM_VERSION,
                  library_->backend(), library_->build(), fixed_string(info_.target),
                  fixed_string(info_.driver), facts_.capabilities.hash());
  const std::string_view bytes(reinterpret_cast<const char*>(&program), program.total_size);
  return hash_text(bytes) + hash_text(device);
}

ExecutableRef DeviceImpl::wrap(tn_executable* handle, const tn_compile_report& report,
                               bool from_cache) {
  auto executable = std::make_shared<Executable>();
  executable->device = shared_from_this();
  executable->handle = handle;
  executable->report = report;
  executable->from_cache = from_cache;
  return executable;
}

ExecutableRef DeviceImpl::compile(const tn_program& program) {
  if (!facts_.capabilities.compute)
    fail(ErrorKind::kUnsupported, "[compile] {}: expected a device that computes, got memory only",
         id_);
  const std::string key = cache_key(program);
  {
    const std::lock_guard lock(compiled_mutex_);
    if (const auto at = compiled_.find(key); at != compiled_.end())
      if (ExecutableRef executable = at->second.lock()) return executable;
  }
  ExecutableRef executable = load_cached(key);
  if (!executable) executable = compile_fresh(program, key);
  const std::lock_guard lock(compiled_mutex_);
  if (compiled_.size() > 4096)
    std::erase_if(compiled_, [](const auto& item) { return item.second.expired(); });
  compiled_[key] = executable;
  return executable;
}

ExecutableRef DeviceImpl::load_cached(const std::string& key) {
  if (!cache_ || !(facts_.flags & TN_DEVICE_SAVE)) return nullptr;
  const auto bytes = cache_->get(key);
  if (!bytes) return nullptr;
  const tn_target target = target_of(handle_);
  tn_error error = abi_struct<tn_error>();
  tn_executable* handle = nullptr;
  const int32_t status =
      plugin().executable_load(&target, bytes->data(), bytes->size(), &handle, &error);
  if (status == TN_OK && handle) {
    TN_LOG("cache", "{}: loaded {}", id_, key);
    return wrap(handle, abi_struct<tn_compile_report>(), true);
  }
  TN_LOG("cache", "{}: {} refused: {}", id_, key, error_message(status, error));
  cache_->remove(key);
  return nullptr;
}

ExecutableRef DeviceImpl::compile_fresh(const tn_program& program, const std::string& key) {
  const char* name = reinterpret_cast<const char*>(&program) + program.name;
  const tn_target target = target_of(handle_);
  char reason[512] = {};
  if (plugin().supports(&target, &program, sizeof reason, reason) == TN_SUPPORT_NO)
    fail(ErrorKind::kUnsupported, "[compile] {}: kernel {} is refused: {}", id_, name,
         reason[0] ? fixed_string(reason) : "no reason was given");
  tn_compile_report report = abi_struct<tn_compile_report>();
  tn_error error = abi_struct<tn_error>();
  tn_executable* handle = nullptr;
  check_status(plugin().compile(&target, &program, &report, &handle, &error), error, "compile",
               fmt::format("{}: kernel {}", id_, name));
  TN_LOG("plan", "{}: compiled {} in {} us", id_, name, report.compile_ns / 1000);
  ExecutableRef executable = wrap(handle, report, false);
  save(*executable, key);
  return executable;
}

void DeviceImpl::save(const Executable& executable, const std::string& key) {
  if (!cache_ || !(facts_.flags & TN_DEVICE_SAVE)) return;
  std::vector<uint8_t> bytes;
  tn_error error = abi_struct<tn_error>();
  const int32_t status = plugin().executable_save(executable.handle, append, &bytes, &error);
  if (status != TN_OK) {
    TN_LOG("cache", "{}: not saved: {}", id_, error_message(status, error));
  } else if (!bytes.empty()) {
    cache_->put(key, bytes);
  }
}

}  // namespace tenon
