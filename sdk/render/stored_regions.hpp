// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds conditional stores after a less conditional store to the same memory, which some compilers
// merge wrongly.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace tenon::sdk {

class StoredRegions {
 public:
  void enter(bool is_if) { open_.push_back({is_if, {}}); }
  void enter_else() { open_.back().stored.clear(); }
  /// Stores of a loop count as unconditional, as compilers may unroll it.
  void leave() {
    const Region left = std::move(open_.back());
    open_.pop_back();
    if (!left.is_if) open_.back().stored.insert(left.stored.begin(), left.stored.end());
  }
  /// Compilers do not move stores across a barrier.
  void barrier() {
    for (Region& region : open_) region.stored.clear();
  }
  /// Adds a store to a param, and tells whether it follows a less conditional one. `is_masked`: it
  /// has its own condition.
  bool follows_store(uint32_t param, bool is_masked) {
    if (!is_masked) open_.back().stored.insert(param);
    bool is_under = is_masked;
    for (size_t k = open_.size(); k-- > 0; is_under = is_under || open_[k].is_if)
      if (is_under && open_[k].stored.contains(param)) return true;
    return false;
  }

 private:
  struct Region {
    bool is_if = false;
    std::set<uint32_t> stored;  ///< params of unmasked stores in this region
  };
  std::vector<Region> open_{1};
};

}  // namespace tenon::sdk
