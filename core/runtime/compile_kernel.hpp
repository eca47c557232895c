// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A lowered kernel becomes an executable; what its compiler spills is answered by smaller tiles.
#pragma once

#include <functional>

#include "core/compile/chooser.hpp"
#include "core/runtime/kernel_plan.hpp"

namespace tenon {

/// `lower` makes the kernel by another chooser. Where the report says that more than a few values
/// did not stay in registers, kernels of smaller tiles are compiled too, and the one that spills
/// least is kept. Throws what compiling throws; not for the smaller ones, which are left out then.
void compile_kernel(CompiledKernel& kernel, Device& device, const TransformChooser& chooser,
                    const std::function<LoweredKernel(TransformChooser&)>& lower);

}  // namespace tenon
