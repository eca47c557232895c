// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values for a graph's params and symbols, from .npy files, the command line, or made at random.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ir/node.hpp"
#include "core/reference/reference.hpp"

namespace tenon::cli {

struct InputOptions {
  std::vector<std::string> files;       ///< "x=FILE.npy"
  std::vector<std::string> symbols;     ///< "n=128"
  std::string weights;                  ///< a safetensors file
  std::vector<std::string> parameters;  ///< params that a file of weights has to have
  std::optional<uint64_t> random;       ///< seed for inputs without a file
};

struct GraphInputs {
  std::vector<Array> arrays;  ///< in the order of graph.params
  SymbolValues symbols;
};

/// Params that no file is given for take the tensor of their name from the weights. Symbols take
/// their values from the options, then from the shapes of the files, then (with `random`) the
/// largest allowed value up to 256. Throws kInvalid naming the input: unknown, missing, wrong dtype
/// or shape.
GraphInputs load_inputs(const Graph& graph, const InputOptions& options);

}  // namespace tenon::cli
