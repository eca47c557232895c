// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A graph made ready to run: its schedule with an executable for each kernel. Immutable; what runs
// of it keep for one another is a RunState.
#pragma once

#include <array>
#include <map>
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

/// A kernel that waits for its sizes, and what it calls them.
struct SizedStep {
  SizedStep(std::shared_ptr<SizedKernel> of, CanonicalKernel under)
      : kernel(std::move(of)), names(std::move(under)) {}
  std::shared_ptr<SizedKernel> kernel;
  CanonicalKernel names;
};

/// What stands beside each step of the schedule.
struct StepPlan {
  KernelPlan kernel;  ///< KernelCall, unless it waits for its sizes
  std::unique_ptr<const SizedStep> sized;
  SchedulePlanRef then_plan, else_plan;  ///< IfCall
  SchedulePlanRef body;                  ///< LoopCall
  bool is_command = false;  ///< a launch, or a copy on one device: can be submitted with others
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
  /// That the kernels of the whole tree were compiled from.
  int programs() const { return programs_; }
  /// Inputs whose buffers it writes over.
  const std::vector<int>& inputs_written() const { return inputs_written_; }
  /// Bytes, of every buffer on every device.
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

/// Lowers and compiles every kernel; equal ones once, unless the chooser tells them apart; several
/// at a time. Those whose sizes a launch tells are compiled for what it tells (SizedKernel).
SchedulePlanRef build_plan(const Schedule& schedule, const DeviceList& devices,
                           const Compiler& compiler, TransformChooser& chooser);

}  // namespace tenon
