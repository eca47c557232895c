// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hashing of attributes; private to core/ir.
#pragma once

#include "core/ir/node.hpp"
#include "core/support/hash.hpp"

namespace tenon {

/// Of op, dtype, shape and attribute.
uint64_t hash_alone(const Node& node);
/// Of these and the sources' hashes.
uint64_t hash_node(const Node& node);
/// Equal in everything, sources by pointer.
bool equal_node(const Node& a, const Node& b);

}  // namespace tenon
