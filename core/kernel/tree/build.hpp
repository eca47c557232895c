// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds a kernel's loop tree from its graph: evaluates each output at a symbolic index.
#pragma once

#include "core/ir/node.hpp"
#include "core/kernel/tree/kernel.hpp"

namespace tenon {

/// `alias` and `sections` are as in KernelCall; empty: none. Axes of outputs are named a0, a1, ...,
/// those of reductions r0, r1, ...; axes of size 1 have no loop. Outputs of sections are
/// elementwise and have one shape in a section. Throws kInvalid for COPY, IF, LOOP and a STORE that
/// is not an aliased output.
Kernel build_kernel(const Graph& graph, const std::vector<int>& alias = {},
                    const std::vector<int>& sections = {});

}  // namespace tenon
