// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses transforms from what the device says about itself.
#pragma once

#include "core/ir/capabilities.hpp"
#include "core/kernel/transforms/transform.hpp"

namespace tenon {

/// A list that is legal on the kernel (as build_kernel made it) and within the device's limits.
TransformList choose_transforms(const Kernel& kernel, const Capabilities& capabilities);

}  // namespace tenon
