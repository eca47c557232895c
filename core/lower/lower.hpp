// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers a loop tree to the program that crosses the ABI.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "core/ir/capabilities.hpp"
#include "core/kernel/transforms/transform.hpp"
#include "core/lower/index_width.hpp"
#include "core/lower/loop_bound.hpp"
#include "sdk/program/builder.hpp"

namespace tenon {

/// The launch argument of one BUFFER or SCALAR param of the program.
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
  std::vector<IndexBound> index_bounds;  ///< to check before a launch
  std::optional<LoopBound> loop_bound;   ///< to check before a launch
  Chosen chosen;                         ///< the tree that it was lowered from
  /// For a program from outside: the core's own program, with which it must agree.
  std::shared_ptr<const LoweredKernel> model;
};

/// The program of a tree; `name` is a C identifier. Throws kUnsupported for what the device cannot
/// run; check_memory checks memory limits.
LoweredKernel emit_program(const Chosen& chosen, const Capabilities& capabilities,
                           const std::string& name);

/// Throws kInternal for a program that breaks the rules of tenon/program.h.
void check_program(const sdk::Program& program);

/// True if the device has enough shared and scratch memory.
bool fits_memory(const sdk::Program& program, const Capabilities& capabilities);
/// Throws kUnsupported if it has not.
void check_memory(const sdk::Program& program, const Capabilities& capabilities);

}  // namespace tenon
