// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plugin objects whose destruction is deferred until work in flight has ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/device/process_end.hpp"

namespace tenon {

/// Thread-safe. `Handle` is a tn_executable or a tn_memory. An owner is what a handle needs: it is
/// let go of after the handle, outside of every call.
template <class Handle>
class DeferredHandles {
 public:
  using Owner = std::shared_ptr<void>;

  explicit DeferredHandles(void (*destroy)(Handle*)) : destroy_(destroy) {}
  /// What is left is that of a parent of this process.
  ~DeferredHandles() {
    for (Retired& item : retired_)
      if (item.owner) leak(std::move(item.owner));
  }
  DeferredHandles(const DeferredHandles&) = delete;
  DeferredHandles& operator=(const DeferredHandles&) = delete;

  void add(Handle* handle) {
    const std::lock_guard lock(mutex_);
    held_.insert(handle);
  }
  /// Destroys the handle once submission `last_use` has ended.
  void retire(Handle* handle, uint64_t last_use, Owner owner = nullptr) noexcept {
    const std::lock_guard lock(mutex_);
    held_.erase(handle);
    retired_.push_back({last_use, handle, std::move(owner)});
    has_retired_ = true;
  }
  bool has_retired() const { return has_retired_; }
  /// Destroys retired handles whose last use is at most `ended`.
  void destroy_retired(uint64_t ended) noexcept {
    if (!has_retired_) return;
    const std::lock_guard lock(mutex_);
    std::erase_if(retired_, [&](Retired& item) {
      if (item.last_use > ended) return false;
      destroy_(item.handle);
      if (item.owner) release_outside_holds(std::move(item.owner));
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
  struct Retired {
    uint64_t last_use;
    Handle* handle;
    Owner owner;
  };
  void (*destroy_)(Handle*);
  std::atomic<bool> has_retired_ = false;
  std::mutex mutex_;  ///< guards both
  std::unordered_set<Handle*> held_;
  std::vector<Retired> retired_;
};

}  // namespace tenon
