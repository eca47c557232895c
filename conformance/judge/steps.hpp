// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Training on the device beside the reference: the outputs of one step are the inputs of the next.
#pragma once

#include "conformance/cases/case.hpp"
#include "conformance/judge/progress.hpp"
#include "core/interval/interval.hpp"
#include "core/runtime/runtime.hpp"

namespace tenon::conformance::judge {

/// Runs Case::steps steps. The states stay on the device and are written over, as in a program that
/// learns. Each step is judged from the values that the device itself had before it: an interval of
/// hundreds of steps would hold any number. Then all steps run again on `unwatched`, the same
/// device without guard zones, where the host neither reads nor writes before the last one has
/// ended; where the device is deterministic, or every step has one answer, they end with the same
/// bits. PASS says how the loss went; FAIL names the first step and tensor that left its interval.
/// Throws what the runtime throws.
Outcome run_steps(Runtime& runtime, Runtime& unwatched, const Case& test, const Profile& profile,
                  const Progress& progress);

}  // namespace tenon::conformance::judge
