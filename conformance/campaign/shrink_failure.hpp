// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes a confirmed failure small through workers: its case, and the cases that run before it.
#pragma once

#include <string>

#include "conformance/campaign/recurrence.hpp"
#include "core/ir/build.hpp"

namespace tenon::conformance::campaign {

inline constexpr int kConfirmations = 3;
/// Runs in which a failure that comes rarely has to come once.
inline constexpr int kPatience = 4;

struct ShrunkFailure {
  Reproducer reproducer;  ///< confirmed in fresh processes, or as it was
  std::string transform;  ///< layer 3: the first step that changes the result
};

/// `rarely`: it does not come in every run.
ShrunkFailure shrink_failure(Rerun& rerun, const Reproducer& failing, bool rarely, double seconds,
                             Builder& builder);

}  // namespace tenon::conformance::campaign
