// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses transforms from what the device says about itself.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "core/ir/capabilities.hpp"
#include "core/kernel/transforms/transform.hpp"

namespace tenon {

/// Asked at each point where a recipe could go on in several ways, as with the rows of a register
/// tile: gives the number of an option. The first is what the rule takes; all are legal.
using Decide = std::function<size_t(std::string_view point, std::span<const int64_t> options)>;

/// For a tree as build_kernel made it: what suits the device, within its limits. Throws only where
/// a recipe asks for a step that is not legal. Without `decide` the rules decide.
Chosen choose_transforms(const Kernel& tree, const Capabilities& capabilities,
                         const Decide& decide = {});

/// The same for a tree whose one nest goes over an axis once for reductions that depend on one
/// another: attention, or its gradient. Nothing for any other, which had better be several kernels.
std::optional<Chosen> choose_fused(const Kernel& tree, const Capabilities& capabilities);

}  // namespace tenon
