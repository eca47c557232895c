// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a run is: what a watchdog must know.
#pragma once

#include <functional>

namespace tenon::conformance::judge {

/// Some drivers compile at the first launch of a kernel, so that one has a compiler's time.
enum class RunPhase { kCompile, kFirstLaunch, kLaunch };

using Progress = std::function<void(RunPhase)>;

}  // namespace tenon::conformance::judge
