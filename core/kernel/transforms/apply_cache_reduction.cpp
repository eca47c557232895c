// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cache_reduction: a reduction leaves what it computed for each element to a later loop.
#include <algorithm>

#include "core/kernel/transforms/apply.hpp"
#include "core/kernel/transforms/cache_reduction.hpp"

namespace tenon {
namespace {

constexpr int64_t kMaxKept = 1 << 22;  ///< elements

/// The buffer that the loop keeps the value in already; -1: none.
int kept_in(const Kernel& kernel, const Statement& loop, const KValueRef& value) {
  for (const Statement& s : loop.body)
    if (s.kind == Statement::Kind::kStore && kernel.buffers[s.buffer].kept && s.value == value)
      return s.buffer;
  return -1;
}

}  // namespace

Refused apply_cache_reduction(const StepOf<transforms::CacheReduction>& step) {
  Kernel& kernel = step.kernel;
  const int r = step.transform.reduce, a = step.transform.later;
  const KeptValues kept = find_kept(kernel, r, a);
  if (!kept.expected.empty()) return step.refuse(kept.expected, kept.got);
  const int64_t count = std::max<int64_t>(1, kernel.axes[r].extent.max());
  if (count > kMaxKept) return step.refuse("at most 4194304 elements", "more");

  Statement& loop = kept.reduction->body[0];
  std::vector<KValueRef> loads;
  for (const KValueRef& value : kept.values) {
    int buffer = kept_in(kernel, loop, value);
    if (buffer < 0) {
      buffer = static_cast<int>(kernel.buffers.size());
      KernelBuffer b{"kept" + std::to_string(buffer), value->dtype, count, BufferSpace::kScratch};
      b.read = b.written = b.kept = true;
      kernel.buffers.push_back(std::move(b));
      Statement store;
      store.kind = Statement::Kind::kStore;
      store.buffer = buffer;
      store.index = kernel.axes[r].symbol();
      store.value = value;
      loop.body.push_back(std::move(store));  // after the step: it takes the value from there
    }
    loads.push_back(
        make_load(buffer, value->dtype, kernel.axes[a].symbol(), 1, zero(value->dtype)));
  }
  // A value that is kept is replaced as a whole, so its operands must still be what they were.
  std::unordered_map<const KValue*, KValueRef> done;
  const std::function<KValueRef(const KValueRef&)> rewrite = [&](const KValueRef& v) -> KValueRef {
    if (const auto use = kept.uses.find(v.get()); use != kept.uses.end()) return loads[use->second];
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
  std::vector<KValueRef> before;  // no address in `uses` and `done` is used again
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
