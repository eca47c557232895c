// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cooperative_load: moves materialised tiles to shared memory.
#include <algorithm>

#include "core/kernel/transforms/apply.hpp"
#include "core/kernel/tree/shared_tiles.hpp"

namespace tenon {
namespace {

using UseCounts = std::vector<int64_t>;  ///< loads from and stores to each buffer

void count(const KValueRef& value, UseCounts& uses) {
  visit(value, [&](const KValueRef& v) {
    if (v->kind == KValueKind::kLoad) ++uses[v->buffer];
  });
}

UseCounts count(const Kernel& kernel, const std::vector<Statement>& body) {
  UseCounts uses(kernel.buffers.size());
  walk(body, [&](const Statement& s) {
    if (s.value) count(s.value, uses);
    for (const ReduceState& state : s.states) count(state.value, uses);
    if (s.kind == Statement::Kind::kStore) ++uses[s.buffer];
  });
  return uses;
}

}  // namespace

Refused apply_cooperative_load(const StepOf<transforms::CooperativeLoad>& step) {
  Kernel& kernel = step.kernel;
  const std::vector<Statement*> path = path_to(kernel, step.transform.axis);
  for (const Statement* s : path) {
    if (s->kind != Statement::Kind::kLoop)
      return step.refuse("loops alone around " + step.kernel.axes[step.transform.axis].name,
                         "another statement");
    const KernelAxis& axis = kernel.axes[s->axis];
    if (is_jam(axis.bind) || is_block(axis.bind))
      return step.refuse(
          "loops of whole workgroups around " + step.kernel.axes[step.transform.axis].name,
          axis.name);
  }
  Refused no;
  walk(std::as_const(*path.back()).body, [&](const Statement& s) {
    if (no) return;
    if (s.kind == Statement::Kind::kStage || s.kind == Statement::Kind::kMatrix)
      no = step.refuse("cooperative_load before stage and tensorize", "another order");
    if (s.kind == Statement::Kind::kLoop && kernel.axes[s.axis].bind != Bind::kLoop)
      no = step.refuse(
          "loops that are not bound inside " + step.kernel.axes[step.transform.axis].name,
          kernel.axes[s.axis].name);
  });
  if (no) return no;
  const UseCounts all = count(kernel, kernel.body), inside = count(kernel, path.back()->body);
  UseCounts defining(kernel.buffers.size());
  for (const Let& let : kernel.lets) count(let.value, defining);
  bool found = false;
  for (size_t b = 0; b < kernel.buffers.size(); ++b) {
    KernelBuffer& tile = kernel.buffers[b];
    if (!tile.materialised || tile.space != BufferSpace::kScratch || inside[b] == 0) continue;
    if (inside[b] != all[b] || defining[b] != 0 || !tile.count.is_const())
      return step.refuse(
          "tiles that are used inside " + step.kernel.axes[step.transform.axis].name + " alone",
          tile.name);
    tile.space = BufferSpace::kShared;
    found = true;
  }
  if (found) return {};
  return step.refuse(
      "tiles that loops inside " + step.kernel.axes[step.transform.axis].name + " fill and load",
      "none");
}

}  // namespace tenon
