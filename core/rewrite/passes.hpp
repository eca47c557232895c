// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The graph passes, each a set of rules (rules/*.cpp) run by one driver.
#pragma once

#include <span>

#include "core/ir/build.hpp"
#include "core/ir/capabilities.hpp"
#include "core/ir/node.hpp"

namespace tenon {

/// Algebra, movement collapse, casts, constant folding: same values by the rules of ops.def, fewer
/// nodes.
Graph simplify(const Graph& graph, Builder& builder);

/// Simplifies, and for a device without 64-bit integers among them computes positions, and other
/// i64 and u64 values that are never beyond 32 bits, in i32 and u32. Inputs and outputs stay as
/// they are. Done before a graph is scheduled, so that no buffer between kernels holds them.
Graph simplify_for(const Graph& graph, std::span<const Capabilities* const> devices,
                   Builder& builder);

/// Every contraction of f32 (a REDUCE.ADD of a MUL, moved or not) that says nothing of its own gets
/// the precision, so that kernels, their text and what judges them know of it.
Graph allow_precision(const Graph& graph, Precision precision, Builder& builder);

/// For one device: decomposes optional ops that it does not claim and computes dtypes without
/// arithmetic in a wider one. Throws kUnsupported with op, dtype and what is missing for the rest.
Graph legalise(const Graph& graph, const Capabilities& capabilities, Builder& builder);

}  // namespace tenon
