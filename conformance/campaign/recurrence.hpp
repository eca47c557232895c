// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a failure comes again: alone in a fresh process every time, now and then, or only after other
// cases in the same process.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/cases/reproducer.hpp"
#include "conformance/worker/worker_client.hpp"

namespace tenon::conformance {

/// Of one kind, whatever the values: what shrinking must keep.
bool same_failure(const Outcome& a, const Outcome& b);

using CaseNames = std::vector<std::pair<uint64_t, uint64_t>>;

/// Runs reproducers apart from the run that found them.
class Rerun {
 public:
  Rerun(WorkerOptions worker, Outcome wanted);

  /// In a new process.
  Outcome fresh(const Reproducer& reproducer, bool patient = false);
  /// In a process that has run others, which is quicker.
  Outcome warm(const Reproducer& reproducer);
  /// How many of so many fresh runs fail as wanted; `seen` is the last failure, or else the last
  /// outcome. `patient`: one that hangs has the whole limit in the last run.
  int count(const Reproducer& reproducer, int runs, Outcome& seen, bool patient = false);
  bool fails_as_wanted(const Outcome& outcome) const { return same_failure(outcome, wanted_); }
  const Outcome& wanted() const { return wanted_; }

  /// Runs [begin, index] in a fresh process; of the last one, if it was reached in time.
  std::optional<Outcome> range(uint64_t seed, uint64_t begin, uint64_t index, double seconds);

 private:
  WorkerOptions patient_, quick_;
  Outcome wanted_;
  std::unique_ptr<WorkerClient> warm_;
};

/// The fewest earlier cases of its process after which the case fails as wanted; nullopt if it
/// never does. `process_begin` is the first case that the process ran. Leaving out takes so many
/// seconds.
std::optional<CaseNames> find_history(Rerun& rerun, const Reproducer& reproducer,
                                      uint64_t process_begin, double seconds);

}  // namespace tenon::conformance
