// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Invariants of every loop tree.
#pragma once

#include "core/kernel/tree/kernel.hpp"

namespace tenon {

/// Throws kInternal, naming the statement and what was expected.
void verify(const Kernel& kernel);

}  // namespace tenon
