// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What holds of every loop tree, whatever transforms have made of it.
#pragma once

#include "core/kernel/tree/kernel.hpp"

namespace tenon {

/// Throws kInternal, naming the statement and what was expected.
void verify(const Kernel& kernel);

}  // namespace tenon
