// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plugin objects whose destruction is deferred until work in flight has ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tenon {

/// Thread-safe. `Handle` is a tn_executable or a tn_memory.
template <class Handle>
class DeferredHandles {
 public:
  explicit DeferredHandles(void (*destroy)(Handle*)) : destroy_(destroy) {}

  void add(Handle* handle) {
    const std::lock_guard lock(mutex_);
    held_.insert(handle);
  }
  /// Destroys the handle once submission `last_use` has ended.
  void retire(Handle* handle, uint64_t last_use) noexcept {
    const std::lock_guard lock(mutex_);
    held_.erase(handle);
    retired_.emplace_back(last_use, handle);
    has_retired_ = true;
  }
  bool has_retired() const { return has_retired_; }
  /// Destroys retired handles whose last use is at most `ended`.
  void destroy_retired(uint64_t ended) noexcept {
    if (!has_retired_) return;
    const std::lock_guard lock(mutex_);
    std::erase_if(retired_, [&](const auto& item) {
      if (item.first > ended) return false;
      destroy_(item.second);
      return true;
    });
    has_retired_ = !retired_.empty();
  }
  /// Destroys all handles when the device closes, also those not retired.
  void destroy_all() noexcept {
    destroy_retired(UINT64_MAX);
    for (Handle* handle : held_) destroy_(handle);
  }

 private:
  void (*destroy_)(Handle*);
  std::atomic<bool> has_retired_ = false;
  std::mutex mutex_;  ///< guards both
  std::unordered_set<Handle*> held_;
  std::vector<std::pair<uint64_t, Handle*>> retired_;
};

}  // namespace tenon
