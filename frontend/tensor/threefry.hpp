// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threefry-2x32 with 20 rounds, as a composition of integer ops: counter-based random bits.
// Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
#pragma once

#include <utility>

#include "core/ir/build.hpp"

namespace tenon {

/// Two u32 tensors of random bits for counters (c0, c1), u32 tensors of one shape, under a key.
std::pair<NodeRef, NodeRef> threefry2x32(Builder& builder, NodeRef c0, NodeRef c1, uint32_t k0,
                                         uint32_t k1);

/// The key as two u32 tensors of the counters' shape.
std::pair<NodeRef, NodeRef> threefry2x32(Builder& builder, NodeRef c0, NodeRef c1,
                                         const NodeRef& k0, const NodeRef& k1);

/// The same of numbers.
std::pair<uint32_t, uint32_t> threefry2x32(uint32_t c0, uint32_t c1, uint32_t k0, uint32_t k1);

}  // namespace tenon
