// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of schedules as texts, for those who write transforms and programs.
#pragma once

#include <vector>

#include "core/compile/compiler.hpp"
#include "core/runtime/own_kernels.hpp"
#include "core/runtime/plan.hpp"
#include "tenon/context_options.hpp"

namespace tenon {

class KernelList {
 public:
  KernelList(const Compiler& compiler, DeviceList devices, const OwnKernels& own)
      : compiler_(compiler), devices_(std::move(devices)), own_(own) {}

  /// Lowers its kernels again, as a plan of it was; those of a name on a device once.
  void add(const Schedule& schedule);
  std::vector<KernelInfo> take() { return std::move(kernels_); }

 private:
  const Compiler& compiler_;
  const DeviceList devices_;
  const OwnKernels& own_;
  std::vector<KernelInfo> kernels_;
};

}  // namespace tenon
