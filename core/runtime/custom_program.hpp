// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that an application wrote, which replaces the core's program for a kernel.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "core/compile/chooser.hpp"
#include "core/device/device.hpp"
#include "core/ir/node.hpp"

namespace tenon {

struct CustomProgram {
  sdk::Program program;
  std::array<int64_t, 3> workgroups{1, 1, 1};
};

/// Throws kInvalid with line and column for text that is not a legal program, and for workgroup
/// counts below 1.
CustomProgram parse_custom_program(std::string_view text, const std::array<int64_t, 3>& workgroups);

/// Replaces the program of the core's kernel `own`, which stays as LoweredKernel::model. Throws
/// kInvalid if the params differ from those of `own`, and kUnsupported for what the device lacks
/// and for a kernel with symbolic sizes.
LoweredKernel with_program(LoweredKernel own, const CustomProgram& program,
                           const UnchosenKernel& kernel);

/// Runs the custom kernel and the core's kernel of the same graph on random values. Throws kInvalid
/// where an element differs by more than reordered sums and some roundings explain, and where a
/// guard zone was overwritten. `alias` as in KernelCall.
void try_program(Device& device, const Executable& executable, const LoweredKernel& kernel,
                 const Graph& graph, const std::vector<int>& alias);

}  // namespace tenon
