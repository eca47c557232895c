// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel whose sizes are known at launch. It is compiled once for each range of its symbols that
// occurs, since one row needs another schedule than a thousand.
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
  /// `graph` is a canonical kernel. The compiler must outlive all calls.
  SizedKernel(Graph graph, LowerOptions options, std::shared_ptr<Device> device,
              const Compiler& compiler, std::shared_ptr<TransformChooser> chooser);

  /// Whether its symbols have more than one range.
  static bool has_several_ranges(const Graph& graph);

  /// The kernel for these values of the graph's symbols. Throws what lowering and compiling throw.
  /// Thread-safe: one thread compiles a range, others wait for it.
  const CompiledKernel& get(const SymbolValues& values);
  size_t count();  ///< of ranges compiled so far

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
