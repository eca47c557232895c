// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fork handlers of core/support/process.hpp.
#pragma once

namespace tenon {

/// Registers the handlers again, after a driver has registered its own. The newest prepare handler
/// of pthread_atfork runs first. If that were the driver's, it would take the driver's lock, and
/// ours would then wait for a thread in a hold, which may need that lock. Throws std::bad_alloc.
void register_fork_handlers();

}  // namespace tenon
