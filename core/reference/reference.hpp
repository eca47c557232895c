// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference: defines every op by plain loops. Slow and simple.
//
// Elements are held as the bits of their dtype. Floating-point ops compute in double and round once
// to the dtype (f64's transcendental functions in long double); integers are exact. REDUCE combines
// in the accumulator's dtype in row-major order of the reduced axes. Single values:
// ir/scalar_op.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ir/node.hpp"
#include "core/ir/scalar_op.hpp"
#include "tenon/array.hpp"

namespace tenon {

/// Sizes of a shape under values of the symbols. Throws kInvalid for a symbol without a value.
std::vector<int64_t> concrete_shape(const Shape& shape, const SymbolValues& symbols);

/// The values of the graph's symbols: those given, and those inferred from shapes of params. Throws
/// kInvalid where a shape does not fit, a value is outside the symbol's bounds, or one is missing.
SymbolValues bind_symbols(const Graph& graph, const std::vector<std::vector<int64_t>>& shapes,
                          SymbolValues given = {});

/// Evaluates one node on its operands. Throws for a PARAM without is_dim.
Array evaluate_node(const Node& node, const std::vector<const Array*>& operands,
                    const SymbolValues& symbols);

/// Evaluates a graph on inputs in the order of graph.params. Checks dtypes and shapes. Symbols that
/// shapes of params determine need not be given.
std::vector<Array> evaluate(const Graph& graph, const std::vector<Array>& inputs,
                            const SymbolValues& symbols = {});

}  // namespace tenon
