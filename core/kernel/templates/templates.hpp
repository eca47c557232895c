// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses a kernel's transforms from the capabilities of the device.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "core/ir/capabilities.hpp"
#include "core/kernel/transforms/transform.hpp"

namespace tenon {

/// Called at each decision point of a template, such as the rows of a register tile. Returns the
/// index of an option. The first option is the default; all are legal.
using Decide = std::function<size_t(std::string_view point, std::span<const int64_t> options)>;

/// Transforms for a tree that build_kernel made, within the device's limits. Throws only if a
/// template asks for a step that is not legal. Without `decide` every decision is the default.
Chosen choose_transforms(const Kernel& tree, const Capabilities& capabilities,
                         const Decide& decide = {});

/// The same for one nest of dependent reductions that a template fuses: attention or its gradient.
/// Nothing for any other, which is faster as several kernels.
std::optional<Chosen> choose_fused(const Kernel& tree, const Capabilities& capabilities);

}  // namespace tenon
