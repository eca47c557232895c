// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The handlers behind core/support/process.hpp, beside those of drivers.
#pragma once

namespace tenon {

/// Once more, after a driver has registered its own. Of what pthread_atfork was given, the newest
/// prepares first: a driver's would take its lock, and then wait in ours for a thread in a hold,
/// which may wait for that lock. Throws std::bad_alloc.
void register_fork_handlers();

}  // namespace tenon
