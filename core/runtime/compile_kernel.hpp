// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles a kernel's graph to an executable, for plans and for sizes known at launch: legalise,
// build, choose, lower, compile, and compile again with smaller tiles where registers spill.
#pragma once

#include <memory>

#include "core/compile/compiler.hpp"
#include "core/runtime/kernel_plan.hpp"

namespace tenon {

class KernelCompilation {
 public:
  /// `graph` is a canonical kernel. `prepared` is what passes made of it already, or null. All must
  /// outlive this object. Throws what legalising throws.
  KernelCompilation(const Graph& graph, const LowerOptions& options,
                    std::shared_ptr<const PreparedKernel> prepared, Device& device,
                    const Compiler& compiler, TransformChooser& chooser);

  const std::string& name() const { return kernel_->name; }

  /// Throws what Compiler::lower throws.
  LoweredKernel lower(size_t number = 0) const;

  /// If the compiler reports more than a few spills, kernels with smaller tiles are compiled too,
  /// and the one that spills least is returned. Throws what compiling `lowered` throws; smaller
  /// kernels that fail are skipped.
  CompiledKernel compile(LoweredKernel lowered) const;

 private:
  const CapabilitiesRef capabilities_;  ///< as the chooser sees them
  Device& device_;
  const Compiler& compiler_;
  TransformChooser& chooser_;
  std::shared_ptr<const PreparedKernel> kernel_;
};

/// The capabilities of the device. The reference keeps the device open.
CapabilitiesRef capabilities_of(Device& device);

}  // namespace tenon
