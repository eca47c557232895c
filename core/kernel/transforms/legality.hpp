// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks a transformed kernel against a device's limits.
#pragma once

#include "core/ir/capabilities.hpp"
#include "core/kernel/tree/kernel.hpp"

namespace tenon {

/// Most unrolled copies of one statement.
inline constexpr int64_t kMaxCopies = 1024;

/// Throws kUnsupported with the limit and the kernel's value.
void check_limits(const Kernel& kernel, const Capabilities& capabilities);
/// False if check_limits would throw.
bool fits_limits(const Kernel& kernel, const Capabilities& capabilities);

}  // namespace tenon
