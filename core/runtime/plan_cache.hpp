// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans by structure of the graph and places of its inputs; the least recently used go.
#pragma once

#include <functional>
#include <future>
#include <list>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "core/ir/node.hpp"
#include "core/runtime/plan.hpp"

namespace tenon {

class PlanCache {
 public:
  explicit PlanCache(size_t capacity = 256) : capacity_(capacity) {}

  /// Makes it with `build` if there is none; another thread that wants the same waits for it.
  /// Throws what build throws, and then keeps nothing. `found`: it was there.
  SchedulePlanRef get(const Graph& graph, const std::vector<int>& input_devices,
                      const std::function<SchedulePlanRef()>& build, bool& found);
  size_t size() const;

 private:
  struct Entry {
    Graph graph;
    std::vector<int> input_devices;
    uint64_t structure = 0, pointers = 0;
    bool building = true;  ///< then it stays
    std::shared_future<SchedulePlanRef> plan;
  };
  using Place = std::list<Entry>::iterator;

  Place find(const std::unordered_multimap<uint64_t, Place>& index, uint64_t hash,
             const std::function<bool(const Entry&)>& equal);
  void erase(Place entry);
  std::shared_future<SchedulePlanRef> touch(Place entry);

  const size_t capacity_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;  ///< the most recent first
  std::unordered_multimap<uint64_t, Place> by_structure_;
  /// The same nodes again: found without walking the graph. Entries keep their nodes alive.
  std::unordered_multimap<uint64_t, Place> by_pointers_;
};

}  // namespace tenon
