// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A graph made ready to run: its schedule with an executable for each kernel. Immutable but for
// the layouts that it keeps for the symbol values it has met.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/device/device.hpp"
#include "core/ir/build.hpp"
#include "core/lower/index_width.hpp"
#include "core/lower/loop_bound.hpp"
#include "core/reference/reference.hpp"
#include "core/runtime/plan_ref.hpp"
#include "core/schedule/memory_plan.hpp"
#include "core/schedule/schedule.hpp"

namespace tenon {

class Compiler;
class TransformChooser;
using DeviceList = std::vector<std::shared_ptr<Device>>;

/// One tn_argument: a buffer of the schedule, or a scalar computed from the symbols.
struct ArgumentPlan {
  int buffer = -1;  ///< -1: `value`
  Expr value;
  uint32_t bytes = 8;  ///< of the scalar
};

struct KernelPlan {
  std::string name;  ///< of the program
  ExecutableRef executable;
  std::array<Expr, 3> grid{Expr(1), Expr(1), Expr(1)};
  std::array<uint32_t, 3> block{1, 1, 1};
  std::vector<ArgumentPlan> arguments;
  std::vector<IndexBound> index_bounds;
  std::optional<LoopBound> loop_bound;
};

/// What stands beside each step of the schedule.
struct StepPlan {
  KernelPlan kernel;                     ///< KernelCall
  SchedulePlanRef then_plan, else_plan;  ///< IfCall
  SchedulePlanRef body;                  ///< LoopCall
  bool is_command = false;  ///< a launch, or a copy on one device: can be submitted with others
};

struct Layout;

class SchedulePlan {
 public:
  SchedulePlan(Schedule schedule, std::vector<StepPlan> steps, DeviceList devices,
               int programs = 0);

  const Schedule& schedule() const { return schedule_; }
  const std::vector<StepPlan>& steps() const { return steps_; }
  Device& device(int i) const { return *devices_[static_cast<size_t>(i)]; }
  size_t device_count() const { return devices_.size(); }
  /// That the kernels of the whole tree were compiled from.
  int programs() const { return programs_; }
  /// Inputs whose buffers it writes over.
  const std::vector<int>& inputs_written() const { return inputs_written_; }
  /// Sizes, arena offsets, grids for these values; computed once for each.
  std::shared_ptr<Layout> layout(const SymbolValues& symbols) const;

 private:
  Schedule schedule_;
  std::vector<StepPlan> steps_;
  DeviceList devices_;
  int programs_ = 0;
  std::vector<int> inputs_written_;
  int64_t alignment_ = 1;
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<Layout>> layouts_;  ///< the most recent first
};

/// Lowers and compiles every kernel; equal ones once, unless the chooser tells them apart; several
/// at a time.
SchedulePlanRef build_plan(const Schedule& schedule, const DeviceList& devices,
                           const Compiler& compiler, TransformChooser& chooser);

}  // namespace tenon
