// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans by structure of the graph and places of its inputs; the least recently used go.
//
// The first plan for a structure has its constants inside. For a graph that differs in some of
// them, a plan is made that takes these as inputs, and serves all further values of them.
#pragma once

#include <functional>
#include <future>
#include <list>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "core/ir/skeleton.hpp"
#include "core/runtime/plan.hpp"
#include "core/runtime/plan_use.hpp"
#include "core/runtime/remade_plans.hpp"

namespace tenon {

/// What the cache asks for when it has no plan.
class PlanMaker {
 public:
  virtual ~PlanMaker() = default;
  virtual SchedulePlanRef build(const Graph& graph,
                                const std::vector<InputPlace>& input_places) = 0;
  /// Dtypes of constants that can be inputs.
  virtual DTypeSet varying(const std::vector<InputPlace>& input_places) = 0;
  /// The device that each use of a constant is computed on.
  virtual std::vector<int> devices_of(const Skeleton& skeleton,
                                      const std::vector<InputPlace>& input_places) = 0;
  virtual Builder& builder() = 0;
};

class PlanCache {
 public:
  explicit PlanCache(size_t capacity = 256) : capacity_(capacity) {}

  /// Makes it with `maker` if there is none; another thread that wants the same waits for it.
  /// Throws what build throws, and then keeps nothing. `found`: it was there.
  PlanUse get(const Graph& graph, const std::vector<InputPlace>& input_places, PlanMaker& maker,
              bool& found);
  size_t size() const;
  std::vector<SchedulePlanRef> plans() const;  ///< that are made, the most recent first

 private:
  /// Graphs that differ in constants alone.
  struct Family {
    std::shared_ptr<const Skeleton> skeleton;
    std::vector<InputPlace> input_places;
    // Of each use of a constant:
    std::vector<uint32_t> classes;  ///< equal where the values always were
    std::vector<bool> varied;       ///< was another value than the skeleton's
    int lifted = 0;                 ///< plans made with constants as inputs
    bool fixed = false;             ///< a device has refused such a plan: constants stay
  };
  struct Entry {
    std::shared_ptr<Family> family;
    std::shared_ptr<const Lifting> lifting;  ///< null: all constants are the skeleton's
    bool building = true;                    ///< then it stays
    std::shared_future<SchedulePlanRef> plan;
    // The graph that it last served: found without walking the graph. It keeps its nodes alive.
    Graph recent;
    uint64_t pointers = 0;
    std::shared_ptr<ConstantBuffers> constants;
  };
  using Place = std::list<Entry>::iterator;
  using Index = std::unordered_multimap<uint64_t, Place>;
  /// What a graph gets, or what is to be built for it.
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
              std::promise<SchedulePlanRef>& promise, PlanMaker& maker);
  SchedulePlanRef build(Claim& mine, std::promise<SchedulePlanRef>& promise, PlanMaker& maker);
  void remember(Place entry, const Graph& graph, uint64_t pointers);
  void erase(Place entry);

  const size_t capacity_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;  ///< the most recent first
  Index by_skeleton_, by_pointers_;
  RemadePlans remade_;
};

}  // namespace tenon
