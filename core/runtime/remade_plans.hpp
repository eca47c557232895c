// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Notices plans that are made again and again for one computation on tensors of the same shapes,
// because of a number that shapes code: a slice's begin, a trip count, a padding.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "core/ir/skeleton.hpp"

namespace tenon {

class RemadePlans {
 public:
  /// A plan is about to be made. What to tell the user, once for each computation; or "".
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
