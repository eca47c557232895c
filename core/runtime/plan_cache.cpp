// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/runtime/plan_cache.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/support/error.hpp"
#include "core/support/hash.hpp"
#include "core/support/log.hpp"

namespace tenon {
namespace {

/// Plans with lifted constants for one structure. The last one lifts every constant.
constexpr int kMostLifted = 3;

uint64_t hash_places(uint64_t hash, const std::vector<InputPlace>& places) {
  for (const auto& [device, donated] : places) {
    hash = hash_mix(hash, static_cast<uint64_t>(device));
    hash = hash_mix(hash, static_cast<uint64_t>(donated));
  }
  return hash;
}

uint64_t pointer_hash(const Graph& graph, const std::vector<InputPlace>& input_places) {
  uint64_t hash = graph.outputs.size();
  for (const NodeRef& node : graph.outputs)
    hash = hash_mix(hash, reinterpret_cast<uintptr_t>(node.get()));
  for (const NodeRef& node : graph.params)
    hash = hash_mix(hash, reinterpret_cast<uintptr_t>(node.get()));
  return hash_places(hash, input_places);
}

template <class Index, class Place>
void drop(Index& index, uint64_t hash, Place entry) {
  const auto [begin, end] = index.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    if (at->second != entry) continue;
    index.erase(at);
    return;
  }
}

/// Splits classes of uses: two uses stay in one class while they have equal values in every graph.
void refine(std::vector<uint32_t>& classes, const std::vector<Scalar>& values) {
  std::map<std::tuple<uint32_t, DType, uint64_t>, uint32_t> numbers;
  for (size_t u = 0; u < classes.size(); ++u) {
    const std::tuple key(classes[u], values[u].dtype, values[u].bits);
    classes[u] = numbers.try_emplace(key, static_cast<uint32_t>(numbers.size())).first->second;
  }
}

/// Lifts the constants that varied: one input for each device and dtype, one element for each
/// class.
std::shared_ptr<const Lifting> make_lifting(const Skeleton& skeleton,
                                            const std::vector<uint32_t>& classes,
                                            const std::vector<bool>& varied,
                                            const std::vector<int>& devices) {
  auto lifting = std::make_shared<Lifting>();
  lifting->places.resize(classes.size());
  std::map<std::pair<int, DType>, int> inputs;
  std::map<std::pair<int, uint32_t>, LiftedPlace> places;
  for (size_t u = 0; u < classes.size(); ++u) {
    if (!varied[u]) continue;
    const DType dtype = skeleton.values()[u].dtype;
    const auto [input, is_new] =
        inputs.try_emplace({devices[u], dtype}, static_cast<int>(lifting->inputs.size()));
    if (is_new) {
      lifting->inputs.push_back({dtype, 0});
      lifting->devices.push_back(devices[u]);
    }
    int64_t& count = lifting->inputs[static_cast<size_t>(input->second)].count;
    const auto [place, is_first] =
        places.try_emplace({devices[u], classes[u]}, LiftedPlace{input->second, count});
    if (is_first) ++count;
    lifting->places[u] = place->second;
  }
  // At least two elements: an output equal to a whole input would share the buffer of the input.
  for (LiftedInput& input : lifting->inputs) input.count = std::max<int64_t>(input.count, 2);
  return lifting;
}

/// Whether a plan with this lifting (null: none) computes the graph of the skeleton with these
/// values.
bool accepts(const Lifting* lifting, const std::vector<Scalar>& own,
             const std::vector<Scalar>& values) {
  if (!lifting) return values == own;
  std::map<std::pair<int, int64_t>, Scalar> elements;
  for (size_t u = 0; u < values.size(); ++u) {
    const LiftedPlace& place = lifting->places[u];
    const Scalar& expected =
        place.input < 0
            ? own[u]
            : elements.try_emplace({place.input, place.element}, values[u]).first->second;
    if (!(values[u] == expected)) return false;
  }
  return true;
}

}  // namespace

void PlanCache::erase(Place entry) {
  drop(by_skeleton_, hash_places(entry->family->skeleton->hash(), entry->family->input_places),
       entry);
  drop(by_pointers_, entry->pointers, entry);
  entries_.erase(entry);
}

void PlanCache::remember(Place entry, const Graph& graph, uint64_t pointers) {
  drop(by_pointers_, entry->pointers, entry);
  entry->recent = graph;
  entry->pointers = pointers;
  by_pointers_.emplace(pointers, entry);
}

bool PlanCache::find_recent(const Graph& graph, const std::vector<InputPlace>& input_places,
                            uint64_t pointers, Claim& claim) {
  const std::lock_guard lock(mutex_);
  const auto [begin, end] = by_pointers_.equal_range(pointers);
  const auto at = std::find_if(begin, end, [&](const auto& item) {
    const Entry& e = *item.second;
    return e.recent.outputs == graph.outputs && e.recent.params == graph.params &&
           e.recent.symbols == graph.symbols && e.family->input_places == input_places;
  });
  if (at == end) return false;
  const Place entry = at->second;
  entries_.splice(entries_.begin(), entries_, entry);
  claim = {entry, entry->plan, entry->constants, true, entry->lifting != nullptr};
  return true;
}

PlanCache::Claim PlanCache::claim(const std::shared_ptr<const Skeleton>& skeleton,
                                  const std::vector<InputPlace>& input_places, uint64_t pointers,
                                  std::promise<SchedulePlanRef>& promise, PlanCompiler& compiler) {
  const uint64_t hash = hash_places(skeleton->hash(), input_places);
  const std::lock_guard lock(mutex_);
  // Find the plan with the fewest inputs that computes this graph, and the family for a new plan.
  Place best = entries_.end();
  std::vector<Scalar> best_values, family_values;
  std::shared_ptr<Family> family;
  bool fixed = false;
  std::map<const Family*, std::optional<std::vector<Scalar>>> matched;
  const auto [begin, end] = by_skeleton_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    const Place entry = at->second;
    if (entry->family->input_places != input_places) continue;
    auto [known, is_new] = matched.try_emplace(entry->family.get());
    if (is_new) known->second = entry->family->skeleton->values_in(*skeleton);
    if (!known->second) continue;
    const std::vector<Scalar>& values = *known->second;
    fixed |= entry->family->fixed;
    family = entry->family;
    family_values = values;
    const auto inputs = [](const Entry& e) {
      size_t count = 0;
      if (e.lifting)
        for (const LiftedPlace& place : e.lifting->places) count += place.input >= 0;
      return count;
    };
    if (accepts(entry->lifting.get(), entry->family->skeleton->values(), values) &&
        (best == entries_.end() || inputs(*entry) < inputs(*best))) {
      best = entry;
      best_values = values;
    }
  }
  if (best != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, best);
    remember(best, skeleton->graph(), pointers);
    if (best->lifting)
      best->constants = std::make_shared<ConstantBuffers>(best->lifting, best_values);
    return {best, best->plan, best->constants, true, best->lifting != nullptr};
  }

  Entry entry;
  if (family && !fixed) {
    const size_t uses = family_values.size();
    const std::vector<Scalar>& own = family->skeleton->values();
    refine(family->classes, family_values);
    for (size_t u = 0; u < uses; ++u)
      family->varied[u] = family->varied[u] || !(family_values[u] == own[u]);
    if (++family->lifted >= kMostLifted) {
      family->varied.assign(uses, true);
      for (size_t u = 0; u < uses; ++u) family->classes[u] = static_cast<uint32_t>(u);
    }
    entry.lifting = make_lifting(*family->skeleton, family->classes, family->varied,
                                 compiler.devices_of(*family->skeleton, input_places));
    entry.constants = std::make_shared<ConstantBuffers>(entry.lifting, family_values);
    entry.family = family;
  } else {
    if (const std::string warning = skeleton->varying() ? recompiles_.note(skeleton) : "";
        !warning.empty())
      log_warning(warning);
    entry.family = std::make_shared<Family>(Family{skeleton, input_places, {}, {}, 0, fixed});
    entry.family->classes.resize(skeleton->uses().size());
    entry.family->varied.resize(skeleton->uses().size());
    refine(entry.family->classes, skeleton->values());
  }
  entry.plan = promise.get_future().share();
  entry.recent = skeleton->graph();
  entry.pointers = pointers;
  entries_.push_front(std::move(entry));
  const Place mine = entries_.begin();
  by_skeleton_.emplace(hash, mine);
  by_pointers_.emplace(pointers, mine);
  return {mine, mine->plan, mine->constants, false, mine->lifting != nullptr};
}

SchedulePlanRef PlanCache::build(Claim& mine, std::promise<SchedulePlanRef>& promise,
                                 PlanCompiler& compiler) {
  // Both stay as they are while the entry is being built.
  const std::shared_ptr<Family> family = mine.entry->family;
  const std::shared_ptr<const Lifting> lifting = mine.entry->lifting;
  try {
    SchedulePlanRef plan;
    if (lifting) {
      std::vector<InputPlace> places = family->input_places;
      places.insert(places.end(), lifting->devices.begin(), lifting->devices.end());
      plan = compiler.build(
          lift(*family->skeleton, lifting->inputs, lifting->places, compiler.builder()), places);
    } else {
      plan = compiler.build(family->skeleton->graph(), family->input_places);
    }
    const std::lock_guard lock(mutex_);
    mine.entry->building = false;
    while (entries_.size() > capacity_ && !entries_.back().building)
      erase(std::prev(entries_.end()));
    promise.set_value(plan);
    return plan;
  } catch (const Error& error) {
    const std::lock_guard lock(mutex_);
    erase(mine.entry);
    // Waiting threads retry and find that constants are fixed.
    if (lifting && error.kind() == ErrorKind::kUnsupported) {
      TN_LOG("plan", "constants stay in the plan: {}", error.what());
      family->fixed = true;
    }
    promise.set_exception(std::current_exception());
    throw;
  } catch (...) {
    const std::lock_guard lock(mutex_);
    erase(mine.entry);
    promise.set_exception(std::current_exception());
    throw;
  }
}

PlanUse PlanCache::get(const Graph& graph, const std::vector<InputPlace>& input_places,
                       PlanCompiler& compiler, bool& found) {
  const uint64_t pointers = pointer_hash(graph, input_places);
  std::shared_ptr<const Skeleton> skeleton;
  for (;;) {
    std::promise<SchedulePlanRef> promise;
    Claim mine;
    if (skeleton || !find_recent(graph, input_places, pointers, mine)) {
      if (!skeleton)
        skeleton = std::make_shared<const Skeleton>(graph, compiler.varying(input_places));
      mine = claim(skeleton, input_places, pointers, promise, compiler);
    }
    found = mine.found;
    try {
      const SchedulePlanRef plan = mine.found ? mine.plan.get() : build(mine, promise, compiler);
      return {plan, mine.constants};
    } catch (const Error& error) {
      if (!mine.lifted || error.kind() != ErrorKind::kUnsupported) throw;
      if (!skeleton)
        skeleton = std::make_shared<const Skeleton>(graph, compiler.varying(input_places));
    }
  }
}

std::vector<SchedulePlanRef> PlanCache::plans() const {
  const std::lock_guard lock(mutex_);
  std::vector<SchedulePlanRef> out;
  for (const Entry& entry : entries_)
    if (!entry.building) out.push_back(entry.plan.get());
  return out;
}

size_t PlanCache::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace tenon
