// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks what a run is given against its graph; each error names the input or symbol.
#pragma once

#include <vector>

#include "core/device/device.hpp"
#include "core/ir/node.hpp"
#include "core/reference/reference.hpp"

namespace tenon {

/// Every symbol has a value within its bounds, and there are no others.
void check_symbols(const Graph& graph, const SymbolValues& symbols);
void check_buffers(const Graph& graph, const std::vector<BufferRef>& inputs,
                   const SymbolValues& symbols);
void check_arrays(const Graph& graph, const std::vector<Array>& inputs,
                  const SymbolValues& symbols);
/// Adds the values that shapes of inputs tell: of dimensions that are just a symbol.
SymbolValues infer_symbols(const Graph& graph, const std::vector<Array>& inputs,
                           SymbolValues symbols);
/// By the names of a plan that was made for a graph with other names: symbols count by their place.
SymbolValues renamed_symbols(const Graph& graph, const std::vector<Expr>& plan_symbols,
                             const SymbolValues& symbols);
/// Of the node's dtype and shape, with zeroed bytes.
Array empty_array(const Node& node, const SymbolValues& symbols);

}  // namespace tenon
