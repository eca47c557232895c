// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/runtime/run_inputs.hpp"

#include <algorithm>
#include <limits>

#include "core/support/error.hpp"

namespace tenon {
namespace {

std::string describe_input(const Graph& graph, size_t i) {
  const std::string& name = graph.params[i]->as<ParamAttr>().name;
  return name.empty() ? fmt::format("input {}", i) : fmt::format("input {} ({})", i, name);
}

void check_count(const Graph& graph, size_t count) {
  TN_REQUIRE(count == graph.params.size(), "[run] expected {} inputs, got {}", graph.params.size(),
             count);
}

uint64_t bytes_of_input(const Node& node, const SymbolValues& symbols) {
  uint64_t bytes = dtype_size(node.dtype);
  for (const Dim& dim : node.shape) {
    const int64_t size = dim.evaluate(symbols);
    TN_REQUIRE(size >= 0, "[run] expected dimensions of at least 0, got {} = {}", to_string(dim),
               size);
    if (size != 0 && bytes > static_cast<uint64_t>(std::numeric_limits<int64_t>::max() / size))
      fail(ErrorKind::kInvalid, "[run] expected a tensor below 2^63 bytes, got {}",
           to_string(node.shape));
    bytes *= static_cast<uint64_t>(size);
  }
  return bytes;
}

}  // namespace

void check_symbols(const Graph& graph, const SymbolValues& symbols) {
  for (const Expr& symbol : graph.symbols) {
    const auto at = symbols.find(symbol.name());
    TN_REQUIRE(at != symbols.end(), "[run] expected a value of symbol {}, got none", symbol.name());
    TN_REQUIRE(at->second >= symbol.min() && at->second <= symbol.max(),
               "[run] expected {} <= {} <= {}, got {}", symbol.min(), symbol.name(), symbol.max(),
               at->second);
  }
  if (symbols.size() == graph.symbols.size()) return;
  for (const auto& [name, value] : symbols) {
    const bool known = std::ranges::any_of(
        graph.symbols, [&, &name = name](const Expr& symbol) { return symbol.name() == name; });
    TN_REQUIRE(known, "[run] expected only symbols of graph {}, got {} = {}", graph.name, name,
               value);
  }
}

void check_buffers(const Graph& graph, const std::vector<BufferRef>& inputs,
                   const SymbolValues& symbols) {
  check_count(graph, inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    TN_REQUIRE(inputs[i] != nullptr, "[run] {}: expected a buffer, got null",
               describe_input(graph, i));
    TN_REQUIRE(!inputs[i]->is_spent(),
               "[run] {}: expected a buffer with a value, got one that an earlier run was given to "
               "write over",
               describe_input(graph, i));
    const uint64_t bytes = bytes_of_input(*graph.params[i], symbols);
    TN_REQUIRE(inputs[i]->size() == bytes, "[run] {}: expected {} bytes for {}{}, got {}",
               describe_input(graph, i), bytes, dtype_name(graph.params[i]->dtype),
               to_string(graph.params[i]->shape), inputs[i]->size());
  }
}

void check_types(const Graph& graph, const std::vector<ArrayType>& inputs,
                 const SymbolValues& symbols) {
  check_symbols(graph, symbols);
  check_count(graph, inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Node& param = *graph.params[i];
    std::vector<int64_t> shape;
    for (const Dim& dim : param.shape) shape.push_back(dim.evaluate(symbols));
    TN_REQUIRE(inputs[i].dtype == param.dtype, "[run] {}: expected {}, got {}",
               describe_input(graph, i), dtype_name(param.dtype), dtype_name(inputs[i].dtype));
    TN_REQUIRE(inputs[i].shape == shape, "[run] {}: expected shape [{}], got [{}]",
               describe_input(graph, i), fmt::join(shape, ", "), fmt::join(inputs[i].shape, ", "));
  }
}

void check_arrays(const Graph& graph, const std::vector<Array>& inputs,
                  const SymbolValues& symbols) {
  check_types(graph, types_of(inputs), symbols);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Node& param = *graph.params[i];
    TN_REQUIRE(inputs[i].bytes.size() == bytes_of_input(param, symbols),
               "[run] {}: expected {} bytes, got {}", describe_input(graph, i),
               bytes_of_input(param, symbols), inputs[i].bytes.size());
  }
}

std::vector<ArrayType> types_of(const std::vector<Array>& inputs) {
  std::vector<ArrayType> out;
  for (const Array& input : inputs) out.push_back({input.dtype, input.shape});
  return out;
}

SymbolValues infer_symbols(const Graph& graph, const std::vector<ArrayType>& inputs,
                           SymbolValues symbols) {
  for (size_t i = 0; i < std::min(inputs.size(), graph.params.size()); ++i) {
    const Shape& shape = graph.params[i]->shape;
    for (size_t axis = 0; axis < std::min(shape.size(), inputs[i].shape.size()); ++axis)
      if (shape[axis].kind() == ExprKind::kSymbol)
        symbols.emplace(shape[axis].name(), inputs[i].shape[axis]);
  }
  return symbols;
}

SymbolValues renamed_symbols(const Graph& graph, const std::vector<Expr>& plan_symbols,
                             const SymbolValues& symbols) {
  if (plan_symbols == graph.symbols) return symbols;
  TN_ASSERT(plan_symbols.size() == graph.symbols.size());
  SymbolValues renamed;
  for (size_t i = 0; i < plan_symbols.size(); ++i)
    renamed[plan_symbols[i].name()] = symbols.at(graph.symbols[i].name());
  return renamed;
}

Array empty_array(const Node& node, const SymbolValues& symbols) {
  Array array;
  array.dtype = node.dtype;
  for (const Dim& dim : node.shape) array.shape.push_back(dim.evaluate(symbols));
  array.bytes.resize(bytes_of_input(node, symbols));
  return array;
}

}  // namespace tenon
