// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plan with the constants of one graph, which the plan takes as inputs.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "core/device/device.hpp"
#include "core/ir/skeleton.hpp"
#include "core/runtime/plan_ref.hpp"
#include "core/schedule/schedule.hpp"

namespace tenon {

/// The inputs of a plan that hold constants. They follow the inputs of the graph.
struct Lifting {
  std::vector<LiftedInput> inputs;
  std::vector<int> devices;         ///< of each input
  std::vector<LiftedPlace> places;  ///< of each use of a constant
};

/// Buffers with the constants of one graph, made at first use. Thread-safe.
class ConstantBuffers {
 public:
  /// `values` has one value for each use of the lifting.
  ConstantBuffers(std::shared_ptr<const Lifting> lifting, const std::vector<Scalar>& values);

  /// One buffer for each input of the lifting. Fills are queued on each device, so nothing waits.
  std::vector<BufferRef> get(const SchedulePlan& plan);

 private:
  void fill(const SchedulePlan& plan);

  std::shared_ptr<const Lifting> lifting_;
  std::vector<std::vector<uint32_t>> words_;  ///< of each input
  std::mutex mutex_;
  std::vector<BufferRef> buffers_;
};

/// Dtypes whose constants can become inputs on these devices.
DTypeSet storable_dtypes(const std::vector<std::shared_ptr<Device>>& devices,
                         const std::vector<InputPlace>& input_places);
/// The device on which each use of a constant is computed.
std::vector<int> devices_of_uses(const Skeleton& skeleton, const ScheduleOptions& options);

/// Fills that run before the first kernel, in the same submission where possible.
struct Fills {
  Device* device = nullptr;
  std::vector<tn_command> commands;
};

struct PlanUse {
  SchedulePlanRef plan;
  std::shared_ptr<ConstantBuffers> constants;  ///< null: the plan has no lifted constants
  uint64_t edition = 0;  ///< of the rules and custom kernels that it was compiled with (Runtime)
};

}  // namespace tenon
