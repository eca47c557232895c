// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs what a reproducer says: a case in a process, or one case in several that have to agree.
#pragma once

#include <string>

#include "conformance/cases/reproducer.hpp"
#include "conformance/worker/worker_client.hpp"

namespace tenon::conformance::worker {

/// Kinds of FAIL that no process can see alone: the case passes in each.
inline constexpr const char* kHistoryKind = "history";        ///< depends on what ran before
inline constexpr const char* kProcessKind = "fresh process";  ///< each process has its own answer

/// `bits`: the device declares that it is deterministic, so the bits count and not only the
/// verdict.
bool agree(const Outcome& a, const Outcome& b, bool bits);
/// "bits 0123456789abcdef", or the verdict if it is not PASS.
std::string answer_text(const Outcome& outcome);

/// Waits for the outcome. Reproducer::apart takes fresh processes: alone and after the history, or
/// several times alone where there is none.
Outcome run_reproducer(WorkerClient& client, const Reproducer& reproducer);

}  // namespace tenon::conformance::worker
