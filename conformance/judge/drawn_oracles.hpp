// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Oracles that cost another run: a share of the cases gets each, drawn from Case::oracle_seed. Its
// high half is the same for all cases of one graph and chooses what changes the graph, so that a
// plugin compiles the other graph once; its low half is the case's own. 0 draws nothing.
#pragma once

#include <optional>

#include "conformance/cases/finding.hpp"
#include "conformance/judge/compare.hpp"
#include "conformance/judge/device_run.hpp"
#include "conformance/judge/history.hpp"
#include "core/interval/interval.hpp"

namespace tenon::conformance::judge {

/// One case that has passed so far.
struct Passed {
  const Case& test;
  const Expectation& expectation;
  const std::vector<Array>& outputs;
  SchedulePlanRef plan;  ///< of a layer 3 case
};

class DrawnOracles {
 public:
  DrawnOracles(Runtime& runtime, const Profile& profile);

  /// Does the case give the pool's slabs back between its two runs?
  static bool trims(uint64_t oracle_seed);

  /// Throws DeviceLost, and what is no fault of the case's; remembers the case.
  std::optional<Finding> check(const Passed& passed, const Progress& progress);

 private:
  std::optional<Finding> aliased(const Passed& passed, uint64_t seed, const Progress& progress);
  std::optional<Finding> donated(const Passed& passed, const Progress& progress);
  std::optional<Finding> related(const Passed& passed, uint64_t seed, const Progress& progress);
  std::optional<Finding> scaled_up(const Passed& passed, uint64_t seed, const Progress& progress);
  std::optional<Finding> earlier(uint64_t seed, const Progress& progress);

  Runtime& runtime_;
  Profile profile_;
  bool deterministic_;
  History history_;
};

}  // namespace tenon::conformance::judge
