// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one way from a kernel's graph to an executable, for plans and for sizes that a launch tells:
// legalise, build, choose, lower, compile, and once more with smaller tiles where registers spill.
#pragma once

#include <memory>

#include "core/compile/compiler.hpp"
#include "core/runtime/kernel_plan.hpp"

namespace tenon {

class KernelCompilation {
 public:
  /// `graph` is a canonical kernel. `prepared`: what passes made of it already, or null. All
  /// outlive this. Throws what legalising throws.
  KernelCompilation(const Graph& graph, const LowerOptions& options,
                    std::shared_ptr<const PreparedKernel> prepared, Device& device,
                    const Compiler& compiler, TransformChooser& chooser);

  const std::string& name() const { return kernel_->name; }

  /// Throws what Compiler::lower throws.
  LoweredKernel lower(size_t number = 0) const;

  /// Where the report says that more than a few values did not stay in registers, kernels of
  /// smaller tiles are compiled too, and the one that spills least is kept. Throws what compiling
  /// throws; not for the smaller ones, which are left out then.
  CompiledKernel compile(LoweredKernel lowered) const;

 private:
  const CapabilitiesRef capabilities_;  ///< as the chooser sees them
  Device& device_;
  const Compiler& compiler_;
  TransformChooser& chooser_;
  std::shared_ptr<const PreparedKernel> kernel_;
};

/// Those of the device, which they keep open.
CapabilitiesRef capabilities_of(Device& device);

}  // namespace tenon
