// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Does a failure come again, and how: in a fresh process every time, now and then, or only after
// other cases in the same process.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "conformance/cases/reproducer.hpp"
#include "conformance/worker/worker_client.hpp"

namespace tenon::conformance::campaign {

/// Of one kind, whatever the values: what shrinking must keep.
bool same_failure(const Outcome& a, const Outcome& b);

/// No single process sees it: it is in the difference of two.
bool shows_apart(const Outcome& failure);

/// Runs reproducers apart from the run that found them.
class Rerun {
 public:
  Rerun(worker::WorkerOptions worker, Outcome wanted);

  /// In a new process.
  Outcome fresh(const Reproducer& reproducer, bool patient = false);
  /// In a process that has run others, which is quicker.
  Outcome warm(const Reproducer& reproducer);
  /// How many of so many fresh runs fail as wanted; `seen` is the last failure, or else the last
  /// outcome. `patient`: one that hangs has the whole limit in the last run.
  int count(const Reproducer& reproducer, int runs, Outcome& seen, bool patient = false);
  bool fails_as_wanted(const Outcome& outcome) const { return same_failure(outcome, wanted_); }
  const Outcome& wanted() const { return wanted_; }

  /// Runs the generator's cases in one fresh process. Empty if it did not last until the last one.
  std::vector<Finished> in_order(uint64_t seed, const std::vector<uint64_t>& indices,
                                 double seconds);
  /// Of a deterministic device, bits differ and not only verdicts.
  bool differs(const Outcome& a, const Outcome& b) const;

  /// Enough devices were lost: another one costs more than a smaller case is worth.
  bool exhausted() const { return gone_ || losses_ >= kMostLosses; }
  /// The device did not start any more.
  bool gone() const { return gone_; }

 private:
  static constexpr int kMostLosses = 40;
  Outcome note(Outcome outcome);

  worker::WorkerOptions patient_, quick_;
  Outcome wanted_;
  std::unique_ptr<worker::WorkerClient> warm_;
  int losses_ = 0;
  bool gone_ = false, deterministic_ = false;
};

/// The fewest earlier cases of its process after which the case fails as wanted; nullopt if it
/// never does. `found` says what its process had run. Leaving out takes so many seconds.
std::optional<std::vector<Case>> find_history(Rerun& rerun, const Reproducer& reproducer,
                                              const Finished& found, double seconds,
                                              Builder& builder);

}  // namespace tenon::conformance::campaign
