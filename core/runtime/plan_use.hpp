// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plan for one graph: where the plan takes constants as inputs, what they are in this graph.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "core/device/device.hpp"
#include "core/ir/skeleton.hpp"
#include "core/runtime/plan_ref.hpp"
#include "core/schedule/schedule.hpp"

namespace tenon {

/// How a plan takes constants as inputs after the graph's own.
struct Lifting {
  std::vector<LiftedInput> inputs;
  std::vector<int> devices;         ///< of each input
  std::vector<LiftedPlace> places;  ///< of each use of a constant
};

/// The constants of one graph in buffers, which are made at first use. Thread-safe.
class ConstantBuffers {
 public:
  /// `values` has one a use of the lifting.
  ConstantBuffers(std::shared_ptr<const Lifting> lifting, const std::vector<Scalar>& values);

  /// One an input of the lifting. Filled in the order of each device's submissions: nothing waits.
  std::vector<BufferRef> get(const SchedulePlan& plan);

 private:
  void fill(const SchedulePlan& plan);

  std::shared_ptr<const Lifting> lifting_;
  std::vector<std::vector<uint32_t>> words_;  ///< of each input
  std::mutex mutex_;
  std::vector<BufferRef> buffers_;
};

/// Dtypes that constants of a graph on these devices may have to be inputs.
DTypeSet storable_dtypes(const std::vector<std::shared_ptr<Device>>& devices,
                         const std::vector<InputPlace>& input_places);
/// The device on which each use of a constant is computed.
std::vector<int> devices_of_uses(const Skeleton& skeleton, const ScheduleOptions& options);

/// What a run writes into inputs before its first kernel, in the same submission where it can.
struct Fills {
  Device* device = nullptr;
  std::vector<tn_command> commands;
};

struct PlanUse {
  SchedulePlanRef plan;
  std::shared_ptr<ConstantBuffers> constants;  ///< null: the plan takes the graph's inputs alone
  uint64_t edition = 0;                        ///< of what the application changed since (Runtime)
};

}  // namespace tenon
