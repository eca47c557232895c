// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts floating-point operations.
#pragma once

#include <functional>

#include "core/ir/node.hpp"

namespace tenon {

/// Operations of a node: one for each element of an elementwise result or a reduction's operand,
/// two for an fma, none for casts and integers. `elements` gives the number of elements of a node.
double flops_of(const Node& node, const std::function<double(const Node&)>& elements);

}  // namespace tenon
