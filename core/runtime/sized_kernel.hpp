// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel of sizes that a launch tells: one row is not computed as a thousand are, so it is made
// anew for each range of its symbols that is met.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "core/compile/compiler.hpp"
#include "core/runtime/kernel_plan.hpp"
#include "tenon/array.hpp"

namespace tenon {

class SizedKernel {
 public:
  /// `graph` is a canonical kernel; the compiler outlives all calls.
  SizedKernel(Graph graph, LowerOptions options, std::shared_ptr<Device> device,
              const Compiler& compiler, std::shared_ptr<TransformChooser> chooser);

  /// Whether its symbols have more than one range.
  static bool is_one(const Graph& graph);

  /// For these values of the graph's symbols. Throws what lowering and compiling throw.
  /// Thread-safe; of several that want one range, one makes it.
  const CompiledKernel& get(const SymbolValues& values);
  size_t count();  ///< of the ranges that were met

 private:
  const Graph graph_;
  const LowerOptions options_;
  const std::shared_ptr<Device> device_;
  const Compiler& compiler_;
  const std::shared_ptr<TransformChooser> chooser_;
  std::mutex mutex_;
  std::map<SymbolRanges, CompiledKernel> made_;
};

}  // namespace tenon
