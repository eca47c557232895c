// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/runtime/kernel_list.hpp"

#include <algorithm>

#include "core/ir/text/text.hpp"
#include "sdk/program/text.hpp"

namespace tenon {
namespace {

/// Records the kernel and the transforms that another chooser chooses.
class Recorder : public TransformChooser {
 public:
  Recorder(const CustomKernels& custom, KernelInfo& out) : custom_(custom), out_(out) {}
  LoweredKernel choose(const UnchosenKernel& kernel) override {
    out_.name = kernel.name;
    out_.loops = print(kernel.tree);
    return custom_.choose(kernel);
  }

 private:
  CustomChooser custom_;
  KernelInfo& out_;
};

}  // namespace

void KernelList::add(const Schedule& schedule) {
  each_kernel(schedule, [&](const KernelCall& call, int d) {
    const Device& device = *devices_.at(static_cast<size_t>(d));
    KernelInfo info;
    Recorder recorder(custom_, info);
    const LoweredKernel kernel = compiler_.lower(call, device.capabilities(), recorder);
    info.device = device.id();
    if (std::ranges::any_of(kernels_, [&](const KernelInfo& known) {
          return known.name == info.name && known.device == info.device;
        }))
      return;
    info.graph = print(call.graph);
    info.transforms = kernel.model ? "" : list_text(kernel.chosen);
    info.program = sdk::print_program(kernel.program.view());
    for (size_t axis = 0; axis < 3; ++axis)
      info.workgroups[axis] = kernel.grid[axis].is_const() ? kernel.grid[axis].value() : 0;
    kernels_.push_back(std::move(info));
  });
}

}  // namespace tenon
