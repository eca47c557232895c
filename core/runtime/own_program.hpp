// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that an application wrote for a kernel, in place of the core's own.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "core/compile/chooser.hpp"
#include "core/device/device.hpp"
#include "core/ir/node.hpp"

namespace tenon {

struct OwnProgram {
  sdk::Program program;
  std::array<int64_t, 3> workgroups{1, 1, 1};
};

/// Throws kInvalid, naming line and column, for text that is no legal program, and for numbers of
/// workgroups below 1.
OwnProgram parse_own_program(std::string_view text, const std::array<int64_t, 3>& workgroups);

/// The core's own kernel with that program: `own` is kept beside it (LoweredKernel::model). Throws
/// kInvalid for one whose params are not those of the core's, kUnsupported for what the device
/// lacks, and for a kernel of symbolic sizes.
LoweredKernel with_program(LoweredKernel own, const OwnProgram& program,
                           const UnchosenKernel& kernel);

/// Runs the kernel and the core's own of the same graph on drawn values. Throws kInvalid where an
/// element differs by more than the order of sums and some roundings explain, and where something
/// was written beside a buffer. `alias` as in KernelCall; of equal sizes the graph knows all.
void try_program(Device& device, const Executable& executable, const LoweredKernel& kernel,
                 const Graph& graph, const std::vector<int>& alias);

}  // namespace tenon
