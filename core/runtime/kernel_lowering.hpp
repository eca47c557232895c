// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a plan's kernels are lowered, where the rules shall not choose.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "core/ir/capabilities.hpp"
#include "core/ir/node.hpp"

namespace tenon {

struct LoweredKernel;
struct LowerOptions;
class SchedulePlan;
using SchedulePlanRef = std::shared_ptr<const SchedulePlan>;

/// Lowers one legalised kernel; `number` counts the kernels of the schedule as each_kernel does.
/// Called from several threads at once.
using KernelLowering =
    std::function<LoweredKernel(const Graph& kernel, const Capabilities& capabilities,
                                const LowerOptions& options, size_t number)>;

}  // namespace tenon
