// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The executables of one device: those in use, those on disk, those that work in flight still
// needs.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/device/device.hpp"
#include "core/device/held_handles.hpp"
#include "core/device/opened_device.hpp"
#include "core/support/disk_cache.hpp"

namespace tenon {

class CompiledProgram;

/// Thread-safe.
class Executables {
 public:
  Executables(const OpenedDevice& opened, std::shared_ptr<DiskCache> cache)
      : opened_(opened), cache_(std::move(cache)), handles_(opened.plugin().executable_destroy) {}

  /// Asked of memory, of the disk, then of the plugin. `device` is what it is an executable of.
  ExecutableRef compile(const tn_program& program, Device& device);

  /// Nobody holds it any more; work up to `submitted` may use it.
  void retire(tn_executable* executable, uint64_t submitted) noexcept;
  HeldHandles<tn_executable>& handles() { return handles_; }

  /// Whether a command launches what was never launched before. Each is told once.
  bool take_first_launches(const std::vector<tn_command>& commands);

  /// In a child made by fork: what can neither be used nor destroyed there.
  std::shared_ptr<DiskCache> give_up_cache() { return std::move(cache_); }

 private:
  std::string subject_of(const tn_program& program) const;
  ExecutableRef load(const std::string& subject, Device& device);
  ExecutableRef compile_fresh(const tn_program& program, const std::string& subject,
                              Device& device);
  void save(const CompiledProgram& compiled, const std::string& subject);
  ExecutableRef wrap(tn_executable* handle, const tn_compile_report& report, bool from_cache,
                     Device& device);

  const OpenedDevice& opened_;
  std::shared_ptr<DiskCache> cache_;
  std::mutex compiled_mutex_;
  std::unordered_map<std::string, std::weak_ptr<Executable>> compiled_;
  HeldHandles<tn_executable> handles_;
  std::atomic<bool> has_unlaunched_ = false;
  std::mutex unlaunched_mutex_;
  std::unordered_set<tn_executable*> unlaunched_;  ///< so far
};

}  // namespace tenon
