// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How often the loops of one thread run: some drivers end them all after a number of iterations.
#pragma once

#include "core/kernel/tree/kernel.hpp"

namespace tenon {

/// Iterations of all loops of one thread together, and a look at the end of each, at most. What is
/// above `limit` is somewhere above it.
Expr loop_trips(const Kernel& kernel, uint32_t limit);

}  // namespace tenon
