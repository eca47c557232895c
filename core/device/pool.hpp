// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The memory pool of one device: cuts slabs of the plugin into blocks, best fit.
//
// A device runs its submissions in order, so a released block can be reused at once: new work runs
// after the old. Only the host must wait, for submission `ready`.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>

#include "tenon/plugin.h"

namespace tenon {

/// Allocates slabs for a pool: a device, or a test.
class SlabSource {
 public:
  virtual ~SlabSource() = default;
  /// Throws kOutOfMemory if there is no room, another kind for other failures.
  virtual tn_memory* allocate_slab(uint64_t size) = 0;
  virtual void free_slab(tn_memory* memory) = 0;
  /// Waits until a submission has ended, failed or not.
  virtual void wait_idle(uint64_t submission) noexcept = 0;
};

struct PoolOptions {
  std::string owner;          ///< "cpu:0", for messages
  uint64_t alignment = 256;   ///< bytes, a power of two
  uint64_t largest_slab = 0;  ///< bytes; 0: no limit
  uint64_t limit = 0;         ///< bytes of all slabs, from @pool=; 0: no limit
};

class Pool {
 public:
  struct Block {
    tn_memory* memory = nullptr;
    uint64_t offset = 0;
    uint64_t ready = 0;  ///< the last submission that may still use the bytes
  };

  Pool(SlabSource& source, PoolOptions options);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// `size` > 0. Throws kOutOfMemory with the largest holders.
  Block allocate(uint64_t size, const std::string& purpose);
  void release(tn_memory* memory, uint64_t offset, uint64_t last_use) noexcept;
  void trim();

  uint64_t bytes_in_use() const;
  uint64_t bytes_reserved() const;

 private:
  struct Chunk {
    uint64_t size = 0;
    uint64_t ready = 0;
    bool used = false;
    std::string purpose;
  };
  struct Slab {
    tn_memory* memory = nullptr;
    uint64_t size = 0;
    std::map<uint64_t, Chunk> chunks;  ///< by offset; without gaps
  };
  using FreeKey = std::tuple<uint64_t, Slab*, uint64_t>;  ///< size, slab, offset

  bool take(uint64_t size, const std::string& purpose, Block& out);
  bool grow(uint64_t size);
  bool add_slab(uint64_t size);
  bool trim_locked();
  [[noreturn]] void fail_out_of_memory(uint64_t size, const std::string& purpose) const;

  SlabSource& source_;
  const PoolOptions options_;
  mutable std::mutex mutex_;
  std::unordered_map<tn_memory*, std::unique_ptr<Slab>> slabs_;
  std::set<FreeKey> free_;
  uint64_t in_use_ = 0, reserved_ = 0;
  std::string refusal_;  ///< the last error of the source
};

/// "1.5 MiB"
std::string bytes_text(uint64_t bytes);

}  // namespace tenon
