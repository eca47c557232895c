// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is counted as an operation on floats.
#pragma once

#include <functional>

#include "core/ir/node.hpp"

namespace tenon {

/// One for each element of an elementwise op's result and of a reduction's operand, two for an fma;
/// casts and integers are none. `elements` says how many a node has.
double flops_of(const Node& node, const std::function<double(const Node&)>& elements);

}  // namespace tenon
