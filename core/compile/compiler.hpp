// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pipeline from a graph to the programs of its kernels. A context, `tenon show`, the
// conformance tool and tests call it; nothing else calls the passes.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "core/compile/chooser.hpp"
#include "core/compile/pass.hpp"
#include "core/compile/prepared_kernel.hpp"
#include "core/ir/build.hpp"
#include "core/rewrite/driver.hpp"
#include "core/schedule/schedule.hpp"

namespace tenon {

#ifdef NDEBUG
inline constexpr bool kVerifyPasses = false;
#else
inline constexpr bool kVerifyPasses = true;
#endif

struct CompilerOptions {
  PassObserver* observer = nullptr;  ///< outlives the compiler
  bool verify = kVerifyPasses;       ///< verify each pass's result; programs always are
};

struct LowerOptions {
  std::vector<int> alias = {};     ///< as in KernelCall
  std::vector<int> sections = {};  ///< as in KernelCall
  std::string name = {};           ///< a C identifier; empty: made from what the kernel does
};

/// Thread-safe. `builder` outlives the compiler; it makes equal nodes the same.
class Compiler {
 public:
  explicit Compiler(Builder& builder, CompilerOptions options = {})
      : builder_(builder), options_(options) {}

  Builder& builder() const { return builder_; }

  /// Inlines calls and simplifies for these devices; for any device if there are none.
  Graph simplify(const Graph& graph, std::span<const Capabilities* const> devices = {}) const;

  /// Verifies, inlines calls, runs the application's rules, allows contractions the precision,
  /// simplifies, partitions into kernels.
  Schedule schedule(const Graph& graph, const ScheduleOptions& options,
                    Precision allowed = Precision::kDefault,
                    const rewrite::Rules& rules = {}) const;

  /// Rewrites a kernel's graph in the ops and dtypes of the device. Throws kUnsupported if it
  /// cannot.
  Graph legalise(const Graph& kernel, const Capabilities& capabilities) const;

  /// Legalises a kernel's graph and builds its loop tree.
  PreparedKernel prepare(const Graph& kernel, const Capabilities& capabilities,
                         const LowerOptions& options) const;

  /// Chooses transforms and emits the program. `number`: index in each_kernel's order. Throws
  /// kUnsupported for what the device cannot run.
  LoweredKernel lower(const PreparedKernel& kernel, const Capabilities& capabilities,
                      TransformChooser& chooser, size_t number = 0) const;
  /// Prepares and lowers a kernel of a schedule.
  LoweredKernel lower(const KernelCall& call, const Capabilities& capabilities,
                      TransformChooser& chooser, size_t number = 0, std::string name = {}) const;
  /// Lowers a graph that is legal already.
  LoweredKernel lower(const Graph& legal, const Capabilities& capabilities,
                      const LowerOptions& options, TransformChooser& chooser,
                      size_t number = 0) const;
  /// The same, with transforms chosen by the templates.
  LoweredKernel lower(const Graph& legal, const Capabilities& capabilities,
                      const LowerOptions& options) const;

 private:
  class Run;
  Graph inlined(Run& run, const Graph& graph) const;
  PreparedKernel built(Graph legal, const LowerOptions& options) const;
  std::shared_ptr<const PreparedKernel> fused(const Graph& kernel,
                                              const Capabilities& capabilities) const;

  Builder& builder_;
  CompilerOptions options_;
  mutable std::mutex observing_;
};

}  // namespace tenon
