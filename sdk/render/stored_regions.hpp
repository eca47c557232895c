// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which stores are under a condition that an earlier one to the same memory was not under: some
// compilers make one of the two.
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
  /// What a loop stores is stored, where compilers unroll it.
  void leave() {
    const Region left = std::move(open_.back());
    open_.pop_back();
    if (!left.is_if) open_.back().stored.insert(left.stored.begin(), left.stored.end());
  }
  /// No store passes a barrier.
  void barrier() {
    for (Region& region : open_) region.stored.clear();
  }
  /// A store to a param; `is_masked`: under a condition of its own.
  bool is_again(uint32_t param, bool is_masked) {
    if (!is_masked) open_.back().stored.insert(param);
    bool is_under = is_masked;
    for (size_t k = open_.size(); k-- > 0; is_under = is_under || open_[k].is_if)
      if (is_under && open_[k].stored.contains(param)) return true;
    return false;
  }

 private:
  struct Region {
    bool is_if = false;
    std::set<uint32_t> stored;  ///< params, without a condition of its own
  };
  std::vector<Region> open_{1};
};

}  // namespace tenon::sdk
