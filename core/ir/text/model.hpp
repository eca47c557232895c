// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models as text: modules with parameters, a main graph that uses them, and a loss.
//
//   module linear[i, o](%x: f32[n, i]) where 1 <= n <= 4096 {
//     parameters %weight: f32[o, i] = uniform(1 / sqrt(i)), %bias: f32[o] = zeros
//     ...
//     return %y
//   }
//   main digits(%x: f32[n, 64]) where 1 <= n <= 4096 {
//     %h = use linear[64, 10] %x, name=fc1
//     return logits=%h
//   }
//   loss(%logits: f32[n, 10], %label: i64[n]) where 0 <= %label <= 9 {
//     ...
//     return %loss
//   }
//
// docs/ir.md has the grammar. The result is ordinary graphs: each use of a module is a CALL, and
// its parameters are params of the graph, "fc1.weight".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ir/build.hpp"
#include "core/ir/node.hpp"
#include "tenon/array.hpp"

namespace tenon {

/// Initialiser of a parameter.
struct Initialiser {
  enum class Kind : uint8_t { kConstant, kUniform, kNormal };
  Kind kind = Kind::kConstant;
  double number =
      0;  ///< the constant, the bound of uniform in [-number, number), or the standard deviation
};

struct ModelParameter {
  std::string name;  ///< "fc1.weight"
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  Initialiser initial;
};

/// Bounds of the elements of an input.
struct InputBounds {
  std::string name;
  int64_t low = 0, high = 0;
};

struct Model {
  Graph graph;  ///< main: its inputs, then the parameters
  std::vector<ModelParameter> parameters;
  /// Params: the inputs of main, further inputs of the loss, and the parameters. The first output
  /// is the loss, others are metrics; each is a float of one element.
  std::optional<Graph> loss;
  std::vector<InputBounds> bounds;
};

inline constexpr size_t kMaxParameters = 4096;

/// Whether the text begins like a model, with `module` or `main`.
bool is_model(std::string_view text);
/// Parses and verifies a model. Symbols of main with a value in `sizes` become that number. Throws
/// kInvalid with file, line and column.
Model parse_model(std::string_view text, Builder& builder, std::string_view origin = "<text>",
                  const SymbolValues& sizes = {});

}  // namespace tenon
