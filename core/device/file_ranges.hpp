// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ranges of the file behind a storage device: slabs of their own.
#pragma once

#include <atomic>
#include <mutex>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/device/opened_device.hpp"

namespace tenon {

/// Thread-safe.
class FileRanges {
 public:
  explicit FileRanges(const OpenedDevice& opened) : opened_(opened) {}

  /// Throws what the plugin says.
  tn_memory* open(uint64_t offset, uint64_t size, bool write);
  /// Nobody holds it any more; work up to `last_use` may use it.
  void retire(tn_memory* range, uint64_t last_use) noexcept;
  bool has_retired() const { return has_retired_; }
  /// Frees what was retired and whose work has ended.
  void free_retired(uint64_t ended) noexcept;
  /// At the end of the device: also what someone holds.
  void free_all() noexcept;

 private:
  const OpenedDevice& opened_;
  std::atomic<bool> has_retired_ = false;
  std::mutex mutex_;                     ///< of these two
  std::unordered_set<tn_memory*> held_;  ///< by someone
  std::vector<std::pair<uint64_t, tn_memory*>> retired_;
};

}  // namespace tenon
