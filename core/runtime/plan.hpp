// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A compiled graph: its schedule with an executable for each kernel. Immutable; what its runs cache
// is in RunState.
#pragma once

#include <memory>
#include <vector>

#include "core/device/device.hpp"
#include "core/ir/build.hpp"
#include "core/reference/reference.hpp"
#include "core/runtime/kernel_plan.hpp"
#include "core/runtime/plan_ref.hpp"
#include "core/runtime/sized_kernel.hpp"
#include "core/schedule/memory_plan.hpp"
#include "core/schedule/schedule.hpp"

namespace tenon {

class Compiler;
class TransformChooser;
using DeviceList = std::vector<std::shared_ptr<Device>>;

/// A kernel whose sizes are known at launch, and its names of the symbols.
struct SizedStep {
  SizedStep(std::shared_ptr<SizedKernel> of, CanonicalKernel under)
      : kernel(std::move(of)), names(std::move(under)) {}
  std::shared_ptr<SizedKernel> kernel;
  CanonicalKernel names;
};

/// The plan of one step of the schedule.
struct StepPlan {
  KernelPlan kernel;  ///< KernelCall, unless its sizes are known at launch
  std::unique_ptr<const SizedStep> sized;
  SchedulePlanRef then_plan, else_plan;  ///< IfCall
  SchedulePlanRef body;                  ///< LoopCall
  bool is_command = false;  ///< a launch or a copy on one device, which can share a submission
};

class RunState;

class SchedulePlan {
 public:
  SchedulePlan(Schedule schedule, std::vector<StepPlan> steps, DeviceList devices,
               int programs = 0);
  ~SchedulePlan();

  const Schedule& schedule() const { return schedule_; }
  const std::vector<StepPlan>& steps() const { return steps_; }
  Device& device(int i) const { return *devices_[static_cast<size_t>(i)]; }
  size_t device_count() const { return devices_.size(); }
  /// Number of distinct programs in the plan and its regions.
  int programs() const { return programs_; }
  /// Inputs whose buffers the plan overwrites.
  const std::vector<int>& inputs_written() const { return inputs_written_; }
  /// Alignment of every buffer on every device, in bytes.
  int64_t alignment() const { return alignment_; }
  RunState& run_state() const { return *run_state_; }

 private:
  const Schedule schedule_;
  const std::vector<StepPlan> steps_;
  const DeviceList devices_;
  const int programs_ = 0;
  const std::vector<int> inputs_written_;
  const int64_t alignment_ = 1;
  const std::unique_ptr<RunState> run_state_;
};

/// Lowers and compiles every kernel, in parallel. Equal kernels are compiled once unless the
/// chooser tells them apart. A kernel whose sizes are known at launch is compiled then
/// (SizedKernel).
SchedulePlanRef build_plan(const Schedule& schedule, const DeviceList& devices,
                           const Compiler& compiler, TransformChooser& chooser);

}  // namespace tenon
