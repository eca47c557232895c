// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a failure to its entry in the report: confirmed in fresh processes, shrunk, written down.
#pragma once

#include "conformance/campaign/campaign.hpp"
#include "conformance/campaign/recurrence.hpp"
#include "core/ir/build.hpp"

namespace tenon::conformance::campaign {

struct Reduced {
  report::Failure failure;
  /// As small as it came; empty if the failure never came again.
  Reproducer reproducer;
  bool rarely = false;  ///< not in every run
  bool gone = false;    ///< the device does not start any more
};

class FailureReducer {
 public:
  explicit FailureReducer(const CampaignOptions& options) : options_(options) {}

  /// Named by its case only.
  report::Failure describe(const Finished& finished) const;
  /// Confirmed, shrunk, confirmed again three times in fresh processes; FLAKY only if it never
  /// comes again, neither alone nor after the cases that its process had run. As described if the
  /// device is gone, or if it is what several processes have seen together.
  Reduced reduce(const Finished& finished);

  /// The generator's case.
  Case make(const Finished& finished);

 private:
  bool find(Rerun& rerun, Reduced& reduced, Reproducer& whole, const Finished& finished);
  void write(Reduced& reduced) const;

  const CampaignOptions& options_;
  Builder builder_;
};

/// What follows the case on a command line, as words of a shell: "--backend cpu".
std::string target_arguments(const Target& target);

}  // namespace tenon::conformance::campaign
