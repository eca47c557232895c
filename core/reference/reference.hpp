// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference tensor: what every op means, by the plainest loops. Slow, and obviously right.
//
// Elements are held as the bits of their dtype. Floating-point ops compute in double and round once
// to the dtype (for f64, in long double); integers are exact. REDUCE combines in the accumulator's
// dtype in row-major order of the reduced axes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/ir/node.hpp"

namespace tenon {

using SymbolValues = std::map<std::string, int64_t>;

/// A dense row-major array on the host.
struct Array {
  DType dtype = DType::kVoid;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;  ///< count() * dtype_size(dtype)

  int64_t count() const;
  Scalar at(int64_t i) const;  ///< flat index
  void set(int64_t i, const Scalar& value);
  static Array zeros(DType dtype, std::vector<int64_t> shape);
};

/// One op on values; the switch that defines each elementwise op.
Scalar evaluate_scalar(Op op, DType dtype, const std::vector<Scalar>& operands);

/// One node given its operands. Throws on PARAM (but is_dim).
Array evaluate_node(const Node& node, const std::vector<const Array*>& operands,
                    const SymbolValues& symbols);

/// Runs a whole graph; inputs in the order of graph.params. Checks dtypes and shapes.
std::vector<Array> evaluate(const Graph& graph, const std::vector<Array>& inputs,
                            const SymbolValues& symbols = {});

}  // namespace tenon
