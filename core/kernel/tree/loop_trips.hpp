// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Upper bound of the loop iterations of one thread: some drivers end a thread's loops after a
// limit.
#pragma once

#include "core/kernel/tree/kernel.hpp"

namespace tenon {

/// Most iterations of all loops of one thread, including the final test of each loop. A result
/// above `limit` is not exact.
Expr loop_trips(const Kernel& kernel, uint32_t limit);

}  // namespace tenon
