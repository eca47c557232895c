// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks a graph from outside or after a pass: says which node breaks which rule.
#pragma once

#include "core/ir/node.hpp"

namespace tenon {

/// Throws ErrorKind::kInvalid, "[reduce] node 7: expected ..., got ...".
void verify(const Graph& graph);

}  // namespace tenon
