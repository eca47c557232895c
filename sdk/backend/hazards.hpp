// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where commands that may overlap need a barrier between them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tenon::sdk {

class Hazards {
 public:
  struct Access {
    const void* memory;  ///< whatever tells slabs apart
    uint64_t begin, size;
    bool writes;
  };
  /// Whether a barrier must stand before a command that does all of this: since the last one
  /// another touched the same bytes, and either writes. Takes it that the barrier is set.
  bool need_barrier(std::span<const Access> command);
  void clear() { since_barrier_.clear(); }

 private:
  std::vector<Access> since_barrier_;
};

}  // namespace tenon::sdk
