// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The device's memory: blocks that are never given back to the system while it is open, so the
// bytes of a freed slab come back, and with room on both sides of each.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "conformance/selftest/plugin/variants.hpp"
#include "sdk/backend/host_device.hpp"

namespace tenon::planted {

inline constexpr uint32_t kAlignment = 64;  ///< bytes, of bound offsets, but for one variant

class SlabPool : public std::enable_shared_from_this<SlabPool> {
 public:
  explicit SlabPool(Variant variant) : variant_(variant) {}
  ~SlabPool();
  SlabPool(const SlabPool&) = delete;
  SlabPool& operator=(const SlabPool&) = delete;

  /// Throws std::bad_alloc.
  std::unique_ptr<sdk::Memory> allocate(uint64_t size);

 private:
  class Slab;
  struct Block {
    std::byte* data = nullptr;
    uint64_t capacity = 0;
  };
  /// What the device knows a slab by.
  struct Slot {
    Block block;
    bool used = false;
  };
  Block take(uint64_t size);
  void give_back(size_t slot, Block block);

  const Variant variant_;
  std::mutex mutex_;
  std::vector<Slot> slots_;
  std::map<uint64_t, std::deque<Block>> free_;  ///< by capacity
};

}  // namespace tenon::planted
