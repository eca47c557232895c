// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Caches of compiled kernels that drivers keep on disk, across processes.
#pragma once

namespace tenon::conformance::worker {

/// For main of a worker, before its plugin is loaded. A kernel that an earlier process compiled
/// would be tried without the driver's compiler, and would say nothing of how long the next one
/// takes. What the environment says already stays.
void leave_driver_caches();

}  // namespace tenon::conformance::worker
