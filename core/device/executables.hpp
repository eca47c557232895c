// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The executables of one device: in use, cached on disk, or released but still needed by work in
// flight.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/device/deferred_handles.hpp"
#include "core/device/device.hpp"
#include "core/device/opened_device.hpp"
#include "core/support/disk_cache.hpp"

namespace tenon {

class CompiledProgram;

/// Thread-safe.
class Executables {
 public:
  Executables(const OpenedDevice& opened, std::shared_ptr<DiskCache> cache)
      : opened_(opened), cache_(std::move(cache)), handles_(opened.plugin().executable_destroy) {}

  /// Looks in memory, then on disk, then compiles. `device` is the owner.
  ExecutableRef compile(const tn_program& program, Device& device);

  /// Destroys the executable once submission `submitted` has ended.
  void retire(tn_executable* executable, uint64_t submitted) noexcept;
  DeferredHandles<tn_executable>& handles() { return handles_; }

  /// Whether a command is the first launch of an executable. True once for each.
  bool take_first_launches(const std::vector<tn_command>& commands);

  /// For a child made by fork, which can neither use nor destroy the cache.
  std::shared_ptr<DiskCache> release_cache() { return std::move(cache_); }

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
  DeferredHandles<tn_executable> handles_;
  std::atomic<bool> has_unlaunched_ = false;
  std::mutex unlaunched_mutex_;
  std::unordered_set<tn_executable*> unlaunched_;  ///< not launched so far
};

}  // namespace tenon
