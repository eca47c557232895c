// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Caches plans by the structure of the graph and the placement of its inputs. Evicts the least
// recently used.
//
// The first plan for a structure has its constants compiled in. When a graph differs in some of
// them, a plan is made that takes these constants as inputs and serves all their values.
#pragma once

#include <future>
#include <list>
#include <mutex>
#include <vector>

#include "core/ir/skeleton.hpp"
#include "core/runtime/plan.hpp"
#include "core/runtime/plan_use.hpp"
#include "core/runtime/recompile_monitor.hpp"

namespace tenon {

/// Compiles the plans that the cache lacks.
class PlanCompiler {
 public:
  virtual ~PlanCompiler() = default;
  virtual SchedulePlanRef build(const Graph& graph,
                                const std::vector<InputPlace>& input_places) = 0;
  /// Dtypes of constants that can become inputs.
  virtual DTypeSet varying(const std::vector<InputPlace>& input_places) = 0;
  /// The device of each use of a constant.
  virtual std::vector<int> devices_of(const Skeleton& skeleton,
                                      const std::vector<InputPlace>& input_places) = 0;
  virtual Builder& builder() = 0;
};

class PlanCache {
 public:
  explicit PlanCache(size_t capacity = 256) : capacity_(capacity) {}

  /// Returns the plan, and compiles it if there is none. Threads that want the same plan wait for
  /// it. Throws what build throws; then nothing is cached. `found`: the plan was in the cache.
  PlanUse get(const Graph& graph, const std::vector<InputPlace>& input_places,
              PlanCompiler& compiler, bool& found);
  size_t size() const;
  std::vector<SchedulePlanRef> plans() const;  ///< finished ones, the most recent first

 private:
  /// Graphs that differ only in constants.
  struct Family {
    std::shared_ptr<const Skeleton> skeleton;
    std::vector<InputPlace> input_places;
    // For each use of a constant:
    std::vector<uint32_t> classes;  ///< equal for uses whose values were always equal
    std::vector<bool> varied;       ///< had a value other than the skeleton's
    int lifted = 0;                 ///< number of plans with constants as inputs
    bool fixed = false;             ///< a device refused such a plan: constants are compiled in
  };
  struct Entry {
    std::shared_ptr<Family> family;
    std::shared_ptr<const Lifting> lifting;  ///< null: all constants are the skeleton's
    bool building = true;                    ///< not evicted while true
    std::shared_future<SchedulePlanRef> plan;
    // The graph that it served last, found by pointer without a walk. Keeps the nodes alive.
    Graph recent;
    uint64_t pointers = 0;
    std::shared_ptr<ConstantBuffers> constants;
  };
  using Place = std::list<Entry>::iterator;
  using Index = std::unordered_multimap<uint64_t, Place>;
  /// The cached plan of a graph, or the entry to build for it.
  struct Claim {
    Place entry;
    std::shared_future<SchedulePlanRef> plan;
    std::shared_ptr<ConstantBuffers> constants;
    bool found = true, lifted = false;
  };

  bool find_recent(const Graph& graph, const std::vector<InputPlace>& input_places,
                   uint64_t pointers, Claim& claim);
  Claim claim(const std::shared_ptr<const Skeleton>& skeleton,
              const std::vector<InputPlace>& input_places, uint64_t pointers,
              std::promise<SchedulePlanRef>& promise, PlanCompiler& compiler);
  SchedulePlanRef build(Claim& mine, std::promise<SchedulePlanRef>& promise,
                        PlanCompiler& compiler);
  void remember(Place entry, const Graph& graph, uint64_t pointers);
  void erase(Place entry);

  const size_t capacity_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;  ///< the most recent first
  Index by_skeleton_, by_pointers_;
  RecompileMonitor recompiles_;
};

}  // namespace tenon
