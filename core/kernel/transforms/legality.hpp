// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether a transformed kernel fits a device.
#pragma once

#include "core/ir/capabilities.hpp"
#include "core/kernel/tree/kernel.hpp"

namespace tenon {

/// Copies of one statement that a jam may make.
inline constexpr int64_t kMaxCopies = 1024;

/// Throws kUnsupported, naming the limit and what the kernel asks for.
void check_limits(const Kernel& kernel, const Capabilities& capabilities);
/// Whether check_limits has nothing to say.
bool fits_limits(const Kernel& kernel, const Capabilities& capabilities);

}  // namespace tenon
