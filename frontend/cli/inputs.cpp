// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/cli/inputs.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <random>

#include "core/support/error.hpp"
#include "sdk/support/scanner.hpp"
#include "tenon/formats/safetensors.hpp"
#include "tenon/npy.hpp"

namespace tenon::cli {
namespace {

std::pair<std::string, std::string> split_assignment(const std::string& text, const char* option) {
  const size_t equals = text.find('=');
  TN_REQUIRE(equals != std::string::npos && equals > 0, "[{}] expected NAME=VALUE, got '{}'",
             option, text);
  return {text.substr(0, equals), text.substr(equals + 1)};
}

void bind_symbol(const Expr& symbol, int64_t value, const std::string& from,
                 SymbolValues& symbols) {
  TN_REQUIRE(symbol.min() <= value && value <= symbol.max(), "[{}] expected {} in [{}, {}], got {}",
             from, symbol.name(), symbol.min(), symbol.max(), value);
  const auto [at, inserted] = symbols.emplace(symbol.name(), value);
  TN_REQUIRE(inserted || at->second == value, "[{}] expected {} = {} as given before, got {}", from,
             symbol.name(), at->second, value);
}

void bind_options(const Graph& graph, const std::vector<std::string>& options,
                  SymbolValues& symbols) {
  for (const std::string& option : options) {
    const auto [name, text] = split_assignment(option, "--symbol");
    const auto symbol =
        std::ranges::find(graph.symbols, name, [](const Expr& e) { return e.name(); });
    TN_REQUIRE(symbol != graph.symbols.end(), "[--symbol] expected a symbol of graph {}, got '{}'",
               graph.name, name);
    const auto value = sdk::number_of<int64_t>(text);
    TN_REQUIRE(value, "[--symbol {}] expected an integer, got '{}'", name, text);
    bind_symbol(*symbol, *value, "--symbol " + name, symbols);
  }
}

void bind_shape(const Node& param, const Array& array, SymbolValues& symbols) {
  const std::string from = "input " + param.as<ParamAttr>().name;
  TN_REQUIRE(param.dtype == array.dtype, "[{}] expected dtype {}, got {}", from,
             dtype_name(param.dtype), dtype_name(array.dtype));
  TN_REQUIRE(param.shape.size() == array.shape.size(), "[{}] expected shape {}, got [{}]", from,
             to_string(param.shape), fmt::join(array.shape, ", "));
  for (size_t axis = 0; axis < array.shape.size(); ++axis) {
    if (param.shape[axis].kind() == ExprKind::kSymbol)
      bind_symbol(param.shape[axis], array.shape[axis], from, symbols);
  }
}

std::vector<int64_t> shape_of(const Node& param, const SymbolValues& symbols) {
  std::vector<int64_t> shape;
  for (const Dim& dim : param.shape) shape.push_back(dim.evaluate(symbols));
  return shape;
}

/// Floats in [-1, 1), integers in [-8, 8) or [0, 8), bools by a coin.
Array random_array(DType dtype, std::vector<int64_t> shape, std::mt19937_64& engine) {
  Array array = Array::zeros(dtype, std::move(shape));
  const int64_t count = array.count();
  for (int64_t i = 0; i < count; ++i) {
    const auto bits = static_cast<int64_t>(engine() >> 40);  // 24 of them: exact in f32
    if (is_float(dtype)) {
      array.set(i, Scalar::of(dtype, static_cast<double>(bits) * 0x1p-23 - 1.0));
    } else if (dtype == DType::kBool) {
      array.set(i, Scalar::of_int(dtype, bits & 1));
    } else {
      array.set(i, Scalar::of_int(dtype, is_signed(dtype) ? (bits & 15) - 8 : bits & 7));
    }
  }
  return array;
}

std::string listed(const char* what, const std::vector<std::string>& names) {
  return names.empty() ? "" : fmt::format("; {}: {}", what, fmt::join(names, ", "));
}

/// Every tensor of the file is the value of a param that no other file is given for.
void take_weights(const Graph& graph, const InputOptions& options,
                  std::map<std::string, Array>& given) {
  const formats::SafetensorsFile file(options.weights);
  std::vector<std::string> missing, others, differ;
  for (const std::string& name : options.parameters)
    if (!given.contains(name) && !file.find(name)) missing.push_back(name);
  for (const formats::TensorInfo& info : file.tensors()) {
    const auto param = std::ranges::find(graph.params, info.name,
                                         [](const NodeRef& p) { return p->as<ParamAttr>().name; });
    const Shape shape(info.shape.begin(), info.shape.end());
    if (param == graph.params.end() || given.contains(info.name))
      others.push_back(info.name);
    else if ((*param)->dtype != info.dtype || (*param)->shape != shape)
      differ.push_back(fmt::format("{} (expected {}, got {})", info.name, type_string(**param),
                                   type_string(info.dtype, shape)));
  }
  TN_REQUIRE(missing.empty() && others.empty() && differ.empty(),
             "[--weights] expected {} to hold params of {}, got another's{}{}{}", options.weights,
             graph.name, listed("missing", missing), listed("not wanted", others),
             listed("of other types", differ));
  for (const formats::TensorInfo& info : file.tensors())
    given.emplace(info.name, file.read(info.name));
}

}  // namespace

GraphInputs load_inputs(const Graph& graph, const InputOptions& options) {
  GraphInputs result;
  std::map<std::string, Array> given;
  bind_options(graph, options.symbols, result.symbols);
  for (const std::string& option : options.files) {
    const auto [name, path] = split_assignment(option, "--input");
    const auto param = std::ranges::find(graph.params, name,
                                         [](const NodeRef& p) { return p->as<ParamAttr>().name; });
    TN_REQUIRE(param != graph.params.end(), "[--input] expected a param of graph {}, got '{}'",
               graph.name, name);
    TN_REQUIRE(!given.contains(name), "[--input] expected each param once, got '{}' twice", name);
    const Array& array = given[name] = read_npy(path, (*param)->dtype);
    bind_shape(**param, array, result.symbols);
  }
  if (!options.weights.empty()) take_weights(graph, options, given);
  for (const Expr& symbol : graph.symbols) {
    if (result.symbols.contains(symbol.name())) continue;
    TN_REQUIRE(options.random,
               "[{}] expected a value by --symbol, an input's shape or --random, got none",
               symbol.name());
    result.symbols[symbol.name()] = std::clamp<int64_t>(256, symbol.min(), symbol.max());
  }
  std::mt19937_64 engine(options.random.value_or(0));
  for (const NodeRef& param : graph.params) {
    const std::string& name = param->as<ParamAttr>().name;
    const std::vector<int64_t> shape = shape_of(*param, result.symbols);
    auto file = given.find(name);
    TN_REQUIRE(file != given.end() || options.random,
               "[input {}] expected --input {}=FILE.npy, --weights or --random SEED, got none",
               name, name);
    Array array =
        file != given.end() ? std::move(file->second) : random_array(param->dtype, shape, engine);
    TN_REQUIRE(array.shape == shape, "[input {}] expected shape [{}], got [{}]", name,
               fmt::join(shape, ", "), fmt::join(array.shape, ", "));
    result.arrays.push_back(std::move(array));
  }
  return result;
}

}  // namespace tenon::cli
