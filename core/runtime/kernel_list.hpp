// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of schedules as text, for users who write transforms and programs.
#pragma once

#include <vector>

#include "core/compile/compiler.hpp"
#include "core/runtime/custom_kernels.hpp"
#include "core/runtime/plan.hpp"
#include "tenon/context_options.hpp"

namespace tenon {

class KernelList {
 public:
  KernelList(const Compiler& compiler, DeviceList devices, const CustomKernels& custom)
      : compiler_(compiler), devices_(std::move(devices)), custom_(custom) {}

  /// Lowers the kernels of a schedule again, each once for a name and device.
  void add(const Schedule& schedule);
  std::vector<KernelInfo> take() { return std::move(kernels_); }

 private:
  const Compiler& compiler_;
  const DeviceList devices_;
  const CustomKernels& custom_;
  std::vector<KernelInfo> kernels_;
};

}  // namespace tenon
