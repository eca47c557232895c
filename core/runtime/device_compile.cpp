// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From programs to executables: asked of memory, of the disk, then of the plugin.
#include "core/runtime/abi_struct.hpp"
#include "core/runtime/device_impl.hpp"
#include "core/runtime/status.hpp"
#include "core/runtime/target_compiler.hpp"
#include "core/support/log.hpp"

namespace tenon {
namespace {

constexpr int kCacheSchema = 1;  ///< of what the key is made of and of what is stored

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
  CompiledProgram compiled = TargetCompiler(*this).compile(program);
  TN_LOG("plan", "{}: compiled {} in {} us", id_,
         reinterpret_cast<const char*>(&program) + program.name,
         compiled.report().compile_ns / 1000);
  save(compiled, key);
  const tn_compile_report report = compiled.report();
  return wrap(compiled.release(), report, false);
}

void DeviceImpl::save(const CompiledProgram& compiled, const std::string& key) {
  if (!cache_ || !(facts_.flags & TN_DEVICE_SAVE)) return;
  try {
    const std::vector<uint8_t> bytes = compiled.saved();
    if (!bytes.empty()) cache_->put(key, bytes);
  } catch (const std::bad_alloc&) {  // no memory for it: nothing is cached
  } catch (const Error& error) {
    TN_LOG("cache", "{}: not saved: {}", id_, error.what());
  }
}

}  // namespace tenon
