// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks the inputs of a run against its graph. Errors name the input or symbol.
#pragma once

#include <vector>

#include "core/device/device.hpp"
#include "core/ir/node.hpp"
#include "core/reference/reference.hpp"

namespace tenon {

/// Throws unless exactly the symbols of the graph have values, each within its bounds.
void check_symbols(const Graph& graph, const SymbolValues& symbols);
void check_buffers(const Graph& graph, const std::vector<BufferRef>& inputs,
                   const SymbolValues& symbols);
struct ArrayType {
  DType dtype;
  std::vector<int64_t> shape;
};
/// Also checks the symbols.
void check_types(const Graph& graph, const std::vector<ArrayType>& inputs,
                 const SymbolValues& symbols);
void check_arrays(const Graph& graph, const std::vector<Array>& inputs,
                  const SymbolValues& symbols);
/// Adds the values of symbols that are a dimension of an input by themselves.
SymbolValues infer_symbols(const Graph& graph, const std::vector<ArrayType>& inputs,
                           SymbolValues symbols);
std::vector<ArrayType> types_of(const std::vector<Array>& inputs);
/// Renames symbol values to those of the plan, whose graph may use other names. Symbols correspond
/// by position.
SymbolValues renamed_symbols(const Graph& graph, const std::vector<Expr>& plan_symbols,
                             const SymbolValues& symbols);
/// A zeroed array of the dtype and shape of the node.
Array empty_array(const Node& node, const SymbolValues& symbols);

}  // namespace tenon
