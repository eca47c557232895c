// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a kernel's graph to the program that crosses the ABI: the list of passes, in their order.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/ir/build.hpp"
#include "core/ir/capabilities.hpp"
#include "core/ir/node.hpp"
#include "core/kernel/transforms/transform.hpp"
#include "core/lower/index_width.hpp"
#include "sdk/program/builder.hpp"

namespace tenon {

/// What the launch binds to one BUFFER or SCALAR param of the program.
struct LaunchArgument {
  enum class Kind { kInput, kOutput, kSymbol } kind = Kind::kInput;
  int index = 0;  ///< of the graph's params or outputs; an aliased output is bound as its input
  Expr value;     ///< kSymbol
};

struct LoweredKernel {
  sdk::Program program;
  std::array<Expr, 3> grid{Expr(1), Expr(1),
                           Expr(1)};  ///< workgroups, in terms of the graph's symbols
  std::array<uint32_t, 3> block{1, 1, 1};
  std::vector<LaunchArgument> arguments;
  std::vector<IndexBound> index_bounds;  ///< to be checked before a launch
  TransformList transforms;              ///< what was applied
};

struct LowerOptions {
  std::vector<int> alias;       ///< as in KernelCall
  std::string transforms;       ///< text of a transform list; empty: chosen by rules
  bool use_rules = true;        ///< false with empty transforms: none at all
  std::string name = "kernel";  ///< a C identifier
};

/// `graph` is one kernel of a schedule, legalised for the capabilities.
LoweredKernel lower_kernel(const Graph& graph, const Capabilities& capabilities,
                           const LowerOptions& options);

/// The loop tree and the transform list, as `tenon show --stage kernel` prints them.
std::string print_kernel(const Graph& graph, const Capabilities& capabilities,
                         const LowerOptions& options);

}  // namespace tenon
