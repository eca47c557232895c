// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a kernel's graph to its loop tree, by asking each output for its value at an index.
#pragma once

#include "core/ir/node.hpp"
#include "core/kernel/tree/kernel.hpp"

namespace tenon {

/// `alias` as in KernelCall (empty: none). The axes of the outputs become a0, a1, ..., those of
/// reductions r0, r1, ...; axes of size 1 have no loop. Throws kInvalid for what a kernel may not
/// hold (COPY, IF, LOOP, a STORE that is not an aliased output). `sections` as in KernelCall; their
/// outputs are elementwise, those of one have one shape.
Kernel build_kernel(const Graph& graph, const std::vector<int>& alias = {},
                    const std::vector<int>& sections = {});

}  // namespace tenon
