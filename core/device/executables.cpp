// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/device/executables.hpp"

#include <cstring>

#include "core/device/target_compiler.hpp"
#include "core/plugin/abi_struct.hpp"
#include "core/plugin/status.hpp"
#include "core/support/exit_delay.hpp"
#include "core/support/hash.hpp"
#include "core/support/log.hpp"

namespace tenon {
namespace {

constexpr int kCacheSchema = 3;  ///< version of the cache key and of the stored bytes

/// The compiler report, stored before the plugin's bytes, so that a cached kernel leads to the same
/// choice of tiles.
struct SavedReport {
  uint32_t registers, spills;
};

tn_target target_of(tn_device* device) {
  tn_target target = abi_struct<tn_target>();
  target.device = device;
  return target;
}

}  // namespace

/// The cache key: driver, device and every byte of the program.
std::string Executables::subject_of(const tn_program& program) const {
  std::string subject = fmt::format(
      "{} | {} | {} | {} | {} | {} | {}", kCacheSchema, TN_PROGRAM_VERSION,
      opened_.library->backend(), opened_.library->build(), fixed_string(opened_.info.target),
      fixed_string(opened_.info.driver), opened_.facts.capabilities.hash());
  subject += '\0';
  return subject.append(reinterpret_cast<const char*>(&program), program.total_size);
}

ExecutableRef Executables::wrap(tn_executable* handle, const tn_compile_report& report,
                                bool from_cache, Device& device) {
  auto executable = std::make_shared<Executable>();
  executable->device = device.shared_from_this();
  executable->handle = handle;
  executable->report = report;
  executable->from_cache = from_cache;
  handles_.add(handle);
  const std::lock_guard lock(unlaunched_mutex_);
  unlaunched_.insert(handle);
  has_unlaunched_ = true;
  return executable;
}

ExecutableRef Executables::compile(const tn_program& program, Device& device) {
  if (!opened_.facts.capabilities.compute)
    fail(ErrorKind::kUnsupported, "[compile] {}: expected a device that computes, got memory only",
         opened_.id);
  std::string subject = subject_of(program);
  const std::string key = hash_digits(subject);
  {
    const std::lock_guard lock(compiled_mutex_);
    if (const auto at = compiled_.find(key); at != compiled_.end())
      if (ExecutableRef executable = at->second.lock(); executable && executable->about == subject)
        return executable;
  }
  const ExitDelay delay;
  ExecutableRef executable = load(subject, device);
  if (!executable) executable = compile_fresh(program, subject, device);
  executable->about = std::move(subject);
  const std::lock_guard lock(compiled_mutex_);
  if (compiled_.size() > 4096)
    std::erase_if(compiled_, [](const auto& item) { return item.second.expired(); });
  compiled_[key] = executable;
  return executable;
}

ExecutableRef Executables::load(const std::string& subject, Device& device) {
  if (!cache_ || !(opened_.facts.flags & TN_DEVICE_SAVE)) return nullptr;
  const auto bytes = cache_->get(subject);
  SavedReport saved;
  if (!bytes || bytes->size() < sizeof saved) return nullptr;
  std::memcpy(&saved, bytes->data(), sizeof saved);
  const tn_target target = target_of(opened_.handle);
  tn_error error = abi_struct<tn_error>();
  tn_executable* handle = nullptr;
  const int32_t status = opened_.plugin().executable_load(
      &target, bytes->data() + sizeof saved, bytes->size() - sizeof saved, &handle, &error);
  if (status == TN_OK && handle) {
    TN_LOG("cache", "{}: loaded {}", opened_.id, hash_digits(subject));
    tn_compile_report report = abi_struct<tn_compile_report>();
    report.registers = saved.registers;
    report.spills = saved.spills;
    return wrap(handle, report, true, device);
  }
  TN_LOG("cache", "{}: {} refused: {}", opened_.id, hash_digits(subject),
         error_message(status, error));
  cache_->remove(subject);
  return nullptr;
}

ExecutableRef Executables::compile_fresh(const tn_program& program, const std::string& subject,
                                         Device& device) {
  CompiledProgram compiled = TargetCompiler(device).compile(program);
  TN_LOG("plan", "{}: compiled {} in {} us", opened_.id,
         reinterpret_cast<const char*>(&program) + program.name,
         compiled.report().compile_ns / 1000);
  save(compiled, subject);
  const tn_compile_report report = compiled.report();
  return wrap(compiled.release(), report, false, device);
}

void Executables::save(const CompiledProgram& compiled, const std::string& subject) {
  if (!cache_ || !(opened_.facts.flags & TN_DEVICE_SAVE)) return;
  try {
    std::vector<uint8_t> bytes = compiled.saved();
    if (bytes.empty()) return;
    const SavedReport report{compiled.report().registers, compiled.report().spills};
    const auto* before = reinterpret_cast<const uint8_t*>(&report);
    bytes.insert(bytes.begin(), before, before + sizeof report);
    cache_->put(subject, bytes);
  } catch (const std::bad_alloc&) {  // out of memory: not cached
  } catch (const Error& error) {
    TN_LOG("cache", "{}: not saved: {}", opened_.id, error.what());
  }
}

void Executables::retire(tn_executable* executable, uint64_t submitted) noexcept {
  {
    const std::lock_guard lock(unlaunched_mutex_);
    unlaunched_.erase(executable);
  }
  handles_.retire(executable, submitted);
}

bool Executables::take_first_launches(const std::vector<tn_command>& commands) {
  if (!has_unlaunched_) return false;
  const std::lock_guard lock(unlaunched_mutex_);
  bool any = false;
  for (const tn_command& command : commands)
    any |= command.kind == TN_COMMAND_LAUNCH && unlaunched_.erase(command.executable) > 0;
  has_unlaunched_ = !unlaunched_.empty();
  return any;
}

}  // namespace tenon
