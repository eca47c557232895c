// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hashing of attributes; private to core/ir.
#pragma once

#include "core/ir/node.hpp"
#include "core/support/hash.hpp"

namespace tenon {

/// Hash of op, dtype, shape and attribute.
uint64_t hash_alone(const Node& node);
/// Hash of these and of the hashes of the sources.
uint64_t hash_node(const Node& node);
/// Whether nodes are equal in everything, with sources compared by pointer.
bool equal_node(const Node& a, const Node& b);

}  // namespace tenon
