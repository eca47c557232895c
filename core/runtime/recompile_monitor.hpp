// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Detects repeated compilation of one computation on tensors of the same shapes. The cause is a
// number that is compiled in: the begin of a slice, a trip count, a padding.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "core/ir/skeleton.hpp"

namespace tenon {

class RecompileMonitor {
 public:
  /// Counts a plan that is about to be compiled. Returns a warning for the user, once for each
  /// computation, or "".
  std::string note(const std::shared_ptr<const Skeleton>& skeleton);

 private:
  static constexpr int kMany = 16;  ///< plans
  static constexpr size_t kMostKnown = 256;
  struct Entry {
    int plans = 0;
    std::shared_ptr<const Skeleton> last;
  };
  std::map<uint64_t, Entry> known_;
};

}  // namespace tenon
