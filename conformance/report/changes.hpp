// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What changed between two reports: two versions of a plugin, or two of a device's drivers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conformance/report/report.hpp"

namespace tenon::conformance::report {

enum class Turn : uint8_t { kWorse, kBetter, kNote };
std::string_view turn_name(Turn turn);  ///< "worse"

struct Change {
  Turn turn;
  std::string_view kind;  ///< "failure", "support", "vacuous", "accuracy", "tried", "rate",
                          ///< "declaration", "coverage", "run"
  std::string where;      ///< "sin f32"; "" for the whole
  std::string text;
};

/// Failures first, then in the order of the rows; what concerns the whole comes last. Worst errors
/// and the rate count if they changed by more than the factor.
std::vector<Change> changes_between(const Report& before, const Report& after, double factor);

/// One half each, appended to `out`.
void compare_cells(const Report& before, const Report& after, double factor,
                   std::vector<Change>& out);
void compare_runs(const Report& before, const Report& after, double factor,
                  std::vector<Change>& out);

bool got_worse(const std::vector<Change>& changes);
std::string changes_text(const Report& before, const Report& after,
                         const std::vector<Change>& changes);
std::string changes_json(const Report& before, const Report& after,
                         const std::vector<Change>& changes);

}  // namespace tenon::conformance::report
