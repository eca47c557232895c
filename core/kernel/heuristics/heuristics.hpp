// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses transforms from what the device says about itself.
#pragma once

#include "core/ir/capabilities.hpp"
#include "core/kernel/transforms/transform.hpp"

namespace tenon {

/// For a tree as build_kernel made it: what suits the device, within its limits. Throws only where
/// a recipe asks for a step that is not legal.
Chosen choose_transforms(Kernel tree, const Capabilities& capabilities);

/// Whether a tree's one nest is a maximum with sums that follow it, all done in one pass.
bool is_chained(Kernel tree, const Capabilities& capabilities);

}  // namespace tenon
