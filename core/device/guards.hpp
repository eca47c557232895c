// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Guard zones: poisoned bytes on both sides of every buffer, which detect writes out of bounds.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "tenon/plugin.h"

namespace tenon {

class Guards {
 public:
  Guards(uint32_t bytes, uint8_t poison) : bytes_(bytes), poison_(poison) {}

  using Read = std::function<void(tn_memory*, uint64_t offset, void* data, uint64_t size)>;

  uint64_t bytes() const { return bytes_; }  ///< on each side
  uint8_t poison() const { return poison_; }
  void set_poison(uint8_t poison) { poison_ = poison; }  ///< for later buffers
  void add(tn_memory* memory, uint64_t offset, uint64_t size, const std::string& purpose);
  /// Checks the zones of a released buffer a last time.
  void remove(tn_memory* memory, uint64_t offset, const Read& read);
  /// The first damage found so far, then that of live buffers. Empty if there is none.
  std::string check(const Read& read);

 private:
  struct Zone {
    uint64_t size = 0;
    std::string purpose;
    uint8_t poison = 0;
  };
  using Key = std::pair<tn_memory*, uint64_t>;
  std::string damage(const Key& key, const Zone& zone, const Read& read) const;

  const uint64_t bytes_;
  std::atomic<uint8_t> poison_;
  std::mutex mutex_;
  std::map<Key, Zone> zones_;
  std::string found_;
};

}  // namespace tenon
