// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of symbols: from the caller, or read off the shapes of the inputs.
#include <fmt/ranges.h>

#include "core/reference/reference.hpp"
#include "core/support/error.hpp"

namespace tenon {

std::vector<int64_t> concrete_shape(const Shape& shape, const SymbolValues& symbols) {
  std::vector<int64_t> sizes;
  for (const Dim& dim : shape) sizes.push_back(dim.evaluate(symbols));
  return sizes;
}

SymbolValues bind_symbols(const Graph& graph, const std::vector<std::vector<int64_t>>& shapes,
                          SymbolValues given) {
  for (size_t p = 0; p < shapes.size(); ++p) {
    const Node& param = *graph.params[p];
    const std::string& name = param.as<ParamAttr>().name;
    TN_REQUIRE(shapes[p].size() == param.shape.size(), "[{}] expected %{} of shape {}, got [{}]",
               graph.name, name, to_string(param.shape), fmt::join(shapes[p], ", "));
    for (size_t i = 0; i < shapes[p].size(); ++i)
      if (param.shape[i].kind() == ExprKind::kSymbol)
        given.try_emplace(param.shape[i].name(), shapes[p][i]);
  }
  for (const Expr& symbol : graph.symbols) {
    const auto value = given.find(symbol.name());
    TN_REQUIRE(value != given.end(), "[{}] expected a value for the symbol {}, got none",
               graph.name, symbol.name());
    TN_REQUIRE(value->second >= symbol.min() && value->second <= symbol.max(),
               "[{}] expected {} <= {} <= {}, got {}", graph.name, symbol.min(), symbol.name(),
               symbol.max(), value->second);
  }
  for (size_t p = 0; p < shapes.size(); ++p) {
    const std::vector<int64_t> expected = concrete_shape(graph.params[p]->shape, given);
    TN_REQUIRE(shapes[p] == expected, "[{}] expected %{} of shape [{}], got [{}]", graph.name,
               graph.params[p]->as<ParamAttr>().name, fmt::join(expected, ", "),
               fmt::join(shapes[p], ", "));
  }
  return given;
}

}  // namespace tenon
