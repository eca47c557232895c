// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cache_reduction: a reduction stores what it computes for each element for a later loop.
#include <algorithm>

#include "core/kernel/transforms/apply.hpp"
#include "core/kernel/transforms/cache_reduction.hpp"

namespace tenon {
namespace {

constexpr int64_t kMaxCached = 1 << 22;  ///< elements

/// The buffer in which the loop caches the value already; -1 if there is none.
int cache_of(const Kernel& kernel, const Statement& loop, const KValueRef& value) {
  for (const Statement& s : loop.body)
    if (s.kind == Statement::Kind::kStore && kernel.buffers[s.buffer].materialised &&
        s.value == value)
      return s.buffer;
  return -1;
}

}  // namespace

Refused apply_cache_reduction(const StepOf<transforms::CacheReduction>& step) {
  Kernel& kernel = step.kernel;
  const int r = step.transform.reduce, a = step.transform.later;
  const CachedValues cached = find_cached(kernel, r, a);
  if (!cached.expected.empty()) return step.refuse(cached.expected, cached.got);
  const int64_t count = std::max<int64_t>(1, kernel.axes[r].extent.max());
  if (count > kMaxCached) return step.refuse("at most 4194304 elements", "more");

  Statement& loop = cached.reduction->body[0];
  std::vector<KValueRef> loads;
  for (const KValueRef& value : cached.values) {
    int buffer = cache_of(kernel, loop, value);
    if (buffer < 0) {
      buffer = static_cast<int>(kernel.buffers.size());
      KernelBuffer b{"kept" + std::to_string(buffer), value->dtype, count, BufferSpace::kScratch};
      b.read = b.written = b.materialised = true;
      kernel.buffers.push_back(std::move(b));
      Statement store;
      store.kind = Statement::Kind::kStore;
      store.buffer = buffer;
      store.index = kernel.axes[r].symbol();
      store.value = value;
      loop.body.push_back(std::move(store));  // after the step, which computes the value
    }
    loads.push_back(
        make_load(buffer, value->dtype, kernel.axes[a].symbol(), 1, zero(value->dtype)));
  }
  // Top down: a cached value is replaced before its operands are rewritten.
  std::unordered_map<const KValue*, KValueRef> done;
  const std::function<KValueRef(const KValueRef&)> rewrite = [&](const KValueRef& v) -> KValueRef {
    if (const auto use = cached.uses.find(v.get()); use != cached.uses.end())
      return loads[use->second];
    if (const auto found = done.find(v.get()); found != done.end()) return found->second;
    KValue copy = *v;
    bool changed = false;
    for (KValueRef& operand : copy.operands) {
      const KValueRef next = rewrite(operand);
      changed |= next != operand;
      operand = next;
    }
    return done[v.get()] = changed ? std::make_shared<const KValue>(std::move(copy)) : v;
  };
  std::vector<KValueRef> before;  // alive, so that addresses in `uses` and `done` stay unique
  walk(path_to(kernel, a).back()->body, [&](Statement& s) {
    const auto one = [&](KValueRef& v) {
      before.push_back(v);
      v = rewrite(v);
    };
    if (s.value) one(s.value);
    for (ReduceState& state : s.states) one(state.value);
  });
  return {};
}

}  // namespace tenon
