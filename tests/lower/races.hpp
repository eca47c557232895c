// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who touched which byte of shared memory since threads last met: two of them, one of which writes,
// between the same barriers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::test {

class Races {
 public:
  Races(uint32_t threads, uint32_t subgroup)
      : subgroup_(subgroup ? subgroup : threads), met_(threads / subgroup_ + 1) {}

  void met_all() {
    ++all_;
    for (uint64_t& count : met_) ++count;
  }
  void met_in_subgroups() {
    for (uint64_t& count : met_) ++count;
  }
  /// False if another thread may touch it at the same time. `same`: it writes what is there, as
  /// subgroups do that compute the same.
  bool touch(uint32_t buffer, size_t byte, uint32_t thread, bool writes, bool same) {
    if (buffer >= bytes_.size()) bytes_.resize(buffer + 1);
    if (byte >= bytes_[buffer].size()) bytes_[buffer].resize(byte + 1);
    Byte& b = bytes_[buffer][byte];
    const Touch now{thread, all_, met_[thread / subgroup_], true};
    if (writes && same && meets(b.write, now)) {
      b.agreed = b.write;
      return true;
    }
    const bool agreed = b.agreed.is_set && b.agreed.all == all_;
    bool apart = agreed || !meets(b.write, now);
    if (writes) {
      apart &= !meets(b.reads[0], now) && !meets(b.reads[1], now);
      b.write = now;
    } else if (!b.reads[0].is_set || b.reads[0].thread == thread || !is_recent(b.reads[0])) {
      b.reads[0] = now;
    } else {
      b.reads[1] = now;
    }
    return apart;
  }

 private:
  struct Touch {
    uint32_t thread = 0;
    uint64_t all = 0, in_subgroup = 0;
    bool is_set = false;
  };
  struct Byte {
    Touch write, agreed;
    Touch reads[2];  ///< two readers: one of them is not who writes next
  };

  bool is_recent(const Touch& t) const { return t.all == all_; }
  bool meets(const Touch& before, const Touch& now) const {
    if (!before.is_set || before.thread == now.thread) return false;
    const bool together = before.thread / subgroup_ == now.thread / subgroup_;
    return together ? before.in_subgroup == now.in_subgroup : before.all == now.all;
  }

  uint32_t subgroup_;
  uint64_t all_ = 0;
  std::vector<uint64_t> met_;             ///< barriers of each subgroup, its workgroup's too
  std::vector<std::vector<Byte>> bytes_;  ///< of each buffer
};

}  // namespace tenon::test
