// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a failure to its entry in the report: confirmed in fresh processes, shrunk, written down.
#pragma once

#include "conformance/campaign/campaign.hpp"
#include "conformance/cases/case.hpp"
#include "core/ir/build.hpp"

namespace tenon::conformance {

class FailureReducer {
 public:
  explicit FailureReducer(const CampaignOptions& options) : options_(options) {}

  /// Named by its case only.
  Failure describe(const Finished& finished) const;
  /// Confirmed three times, shrunk, confirmed again; FLAKY if it does not come every time.
  Failure reduce(const Finished& finished);

 private:
  bool confirm(const Case& test, const Outcome& wanted, Outcome& seen);
  Case shrunk(const Case& test, const Outcome& wanted);

  const CampaignOptions& options_;
  Builder builder_;
};

/// What follows the case on the replay command line: "--backend cpu".
std::string target_arguments(const Target& target);

}  // namespace tenon::conformance
