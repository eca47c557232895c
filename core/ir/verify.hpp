// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verifies a graph from outside or after a pass, and reports which node violates which rule.
#pragma once

#include "core/ir/node.hpp"

namespace tenon {

/// Throws ErrorKind::kInvalid, "[reduce] node 7: expected ..., got ...".
void verify(const Graph& graph);

}  // namespace tenon
