// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The graph passes, each a set of rules (rules/*.cpp) run by one driver.
#pragma once

#include <span>

#include "core/ir/build.hpp"
#include "core/ir/capabilities.hpp"
#include "core/ir/node.hpp"

namespace tenon {

/// Simplifies algebra, movement ops, casts and constants. Values stay the same by the rules of
/// ops.def.
Graph simplify(const Graph& graph, Builder& builder);

/// Simplifies, and sums products of 16-bit floats as they are. If a device lacks 64-bit integers,
/// also narrows i64 and u64 values that fit 32 bits, as positions, to i32 and u32. Inputs and
/// outputs keep their dtypes. Runs before scheduling, so that buffers between kernels are narrowed
/// too.
Graph simplify_for(const Graph& graph, std::span<const Capabilities* const> devices,
                   Builder& builder);

/// Sets the precision of every f32 contraction (a REDUCE.ADD of a MUL, perhaps with views between)
/// that has none, so that kernels, their text and the judge see it.
Graph allow_precision(const Graph& graph, Precision precision, Builder& builder);

/// Legalises for one device: decomposes optional ops that it does not claim, and computes dtypes
/// without arithmetic in a wider one. Throws kUnsupported with op, dtype and the missing claim.
Graph legalise(const Graph& graph, const Capabilities& capabilities, Builder& builder);

}  // namespace tenon
