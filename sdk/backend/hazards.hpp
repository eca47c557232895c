// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds where concurrent commands need a barrier.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tenon::sdk {

class Hazards {
 public:
  struct Access {
    const void* memory;  ///< identifies the slab
    uint64_t begin, size;
    bool writes;
  };
  /// Whether a command with these accesses needs a barrier: a command since the last barrier
  /// touched the same bytes, and one of them writes. Assumes that the caller then sets the barrier.
  bool need_barrier(std::span<const Access> command);
  void clear() { since_barrier_.clear(); }

 private:
  std::vector<Access> since_barrier_;
};

}  // namespace tenon::sdk
