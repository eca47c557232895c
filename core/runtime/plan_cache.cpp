// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/runtime/plan_cache.hpp"

namespace tenon {
namespace {

uint64_t mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdu;
}

uint64_t pointer_hash(const Graph& graph, const std::vector<int>& input_devices) {
  uint64_t hash = graph.outputs.size();
  for (const NodeRef& node : graph.outputs)
    hash = mix(hash, reinterpret_cast<uintptr_t>(node.get()));
  for (const NodeRef& node : graph.params)
    hash = mix(hash, reinterpret_cast<uintptr_t>(node.get()));
  for (const int device : input_devices) hash = mix(hash, static_cast<uint64_t>(device));
  return hash;
}

}  // namespace

PlanCache::Place PlanCache::find(const std::unordered_multimap<uint64_t, Place>& index,
                                 uint64_t hash, const std::function<bool(const Entry&)>& equal) {
  const auto [begin, end] = index.equal_range(hash);
  for (auto at = begin; at != end; ++at)
    if (equal(*at->second)) return at->second;
  return entries_.end();
}

void PlanCache::erase(Place entry) {
  const auto drop = [&](auto& index, uint64_t hash) {
    const auto [begin, end] = index.equal_range(hash);
    for (auto at = begin; at != end; ++at) {
      if (at->second != entry) continue;
      index.erase(at);
      return;
    }
  };
  drop(by_structure_, entry->structure);
  drop(by_pointers_, entry->pointers);
  entries_.erase(entry);
}

std::shared_future<SchedulePlanRef> PlanCache::touch(Place entry) {
  entries_.splice(entries_.begin(), entries_, entry);
  return entry->plan;
}

SchedulePlanRef PlanCache::get(const Graph& graph, const std::vector<int>& input_devices,
                               const std::function<SchedulePlanRef()>& build, bool& found) {
  const uint64_t pointers = pointer_hash(graph, input_devices);
  std::shared_future<SchedulePlanRef> plan;
  found = true;
  {
    const std::lock_guard lock(mutex_);
    const Place entry = find(by_pointers_, pointers, [&](const Entry& e) {
      return e.graph.outputs == graph.outputs && e.graph.params == graph.params &&
             e.graph.symbols == graph.symbols && e.input_devices == input_devices;
    });
    if (entry != entries_.end()) plan = touch(entry);
  }
  if (plan.valid()) return plan.get();

  uint64_t structure = structure_hash(graph);
  for (const int device : input_devices) structure = mix(structure, static_cast<uint64_t>(device));
  std::promise<SchedulePlanRef> promise;
  Place mine;
  {
    const std::lock_guard lock(mutex_);
    const Place entry = find(by_structure_, structure, [&](const Entry& e) {
      return e.input_devices == input_devices && same_structure(e.graph, graph);
    });
    found = entry != entries_.end();
    if (found) {
      plan = touch(entry);
    } else {
      plan = promise.get_future().share();
      entries_.push_front({graph, input_devices, structure, pointers, true, plan});
      mine = entries_.begin();
      by_structure_.emplace(structure, mine);
      by_pointers_.emplace(pointers, mine);
    }
  }
  if (found) return plan.get();
  try {
    promise.set_value(build());
  } catch (...) {
    promise.set_exception(std::current_exception());
  }
  const std::lock_guard lock(mutex_);
  try {
    plan.get();
  } catch (...) {
    erase(mine);
    throw;
  }
  mine->building = false;
  while (entries_.size() > capacity_ && !entries_.back().building) erase(std::prev(entries_.end()));
  return plan.get();
}

size_t PlanCache::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace tenon
