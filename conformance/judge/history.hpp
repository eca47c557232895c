// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The last cases of this process: run again after others they must give the same bits.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "conformance/cases/case.hpp"
#include "core/runtime/plan_ref.hpp"

namespace tenon::conformance::judge {

class History {
 public:
  struct Entry {
    Case test;
    std::vector<Array> outputs;
    SchedulePlanRef plan;  ///< of a layer 3 case
  };

  /// Large ones are left out.
  void remember(const Case& test, const std::vector<Array>& outputs, SchedulePlanRef plan);
  /// As many cases back as the seed says, or the oldest known; null if there is none.
  const Entry* draw(uint64_t seed) const;

 private:
  std::deque<Entry> entries_;  ///< the latest first
};

}  // namespace tenon::conformance::judge
