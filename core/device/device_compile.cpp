// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From programs to executables: asked of memory, of the disk, then of the plugin.
#include "core/device/device_impl.hpp"
#include "core/device/target_compiler.hpp"
#include "core/plugin/abi_struct.hpp"
#include "core/plugin/status.hpp"
#include "core/support/hash.hpp"
#include "core/support/log.hpp"

namespace tenon {
namespace {

constexpr int kCacheSchema = 2;  ///< of what the subject is made of and of what is stored

tn_target target_of(tn_device* device) {
  tn_target target = abi_struct<tn_target>();
  target.device = device;
  return target;
}

}  // namespace

/// All that an executable depends on: the driver, the device and every byte of the program.
std::string DeviceImpl::cache_subject(const tn_program& program) const {
  std::string subject =
      fmt::format("{} | {} | {} | {} | {} | {} | {}", kCacheSchema, TN_PROGRAM_VERSION,
                  library_->backend(), library_->build(), fixed_string(info_.target),
                  fixed_string(info_.driver), facts_.capabilities.hash());
  subject += '\0';
  return subject.append(reinterpret_cast<const char*>(&program), program.total_size);
}

ExecutableRef DeviceImpl::wrap(tn_executable* handle, const tn_compile_report& report,
                               bool from_cache) {
  auto executable = std::make_shared<Executable>();
  executable->device = shared_from_this();
  executable->handle = handle;
  executable->report = report;
  executable->from_cache = from_cache;
  const std::lock_guard lock(retired_mutex_);
  executables_.insert(handle);
  unlaunched_.insert(handle);
  has_unlaunched_ = true;
  return executable;
}

ExecutableRef DeviceImpl::compile(const tn_program& program) {
  if (!facts_.capabilities.compute)
    fail(ErrorKind::kUnsupported, "[compile] {}: expected a device that computes, got memory only",
         id_);
  const InUse use(made_in_);
  const ForkHold hold;
  std::string subject = cache_subject(program);
  const std::string key = hash_digits(subject);
  {
    const std::lock_guard lock(compiled_mutex_);
    if (const auto at = compiled_.find(key); at != compiled_.end())
      if (ExecutableRef executable = at->second.lock(); executable && executable->about == subject)
        return executable;
  }
  ExecutableRef executable = load_cached(subject);
  if (!executable) executable = compile_fresh(program, subject);
  executable->about = std::move(subject);
  const std::lock_guard lock(compiled_mutex_);
  if (compiled_.size() > 4096)
    std::erase_if(compiled_, [](const auto& item) { return item.second.expired(); });
  compiled_[key] = executable;
  return executable;
}

ExecutableRef DeviceImpl::load_cached(const std::string& subject) {
  if (!cache_ || !(facts_.flags & TN_DEVICE_SAVE)) return nullptr;
  const auto bytes = cache_->get(subject);
  if (!bytes) return nullptr;
  const tn_target target = target_of(handle_);
  tn_error error = abi_struct<tn_error>();
  tn_executable* handle = nullptr;
  const int32_t status =
      plugin().executable_load(&target, bytes->data(), bytes->size(), &handle, &error);
  if (status == TN_OK && handle) {
    TN_LOG("cache", "{}: loaded {}", id_, hash_digits(subject));
    return wrap(handle, abi_struct<tn_compile_report>(), true);
  }
  TN_LOG("cache", "{}: {} refused: {}", id_, hash_digits(subject), error_message(status, error));
  cache_->remove(subject);
  return nullptr;
}

ExecutableRef DeviceImpl::compile_fresh(const tn_program& program, const std::string& subject) {
  CompiledProgram compiled = TargetCompiler(*this).compile(program);
  TN_LOG("plan", "{}: compiled {} in {} us", id_,
         reinterpret_cast<const char*>(&program) + program.name,
         compiled.report().compile_ns / 1000);
  save(compiled, subject);
  const tn_compile_report report = compiled.report();
  return wrap(compiled.release(), report, false);
}

void DeviceImpl::save(const CompiledProgram& compiled, const std::string& subject) {
  if (!cache_ || !(facts_.flags & TN_DEVICE_SAVE)) return;
  try {
    const std::vector<uint8_t> bytes = compiled.saved();
    if (!bytes.empty()) cache_->put(subject, bytes);
  } catch (const std::bad_alloc&) {  // no memory for it: nothing is cached
  } catch (const Error& error) {
    TN_LOG("cache", "{}: not saved: {}", id_, error.what());
  }
}

}  // namespace tenon
