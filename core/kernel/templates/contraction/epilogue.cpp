// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Epilogues of register tiles: unrolled for each accumulator, or a loop.
#include <algorithm>

#include "core/kernel/templates/schedule_builder.hpp"

namespace tenon {
namespace {

/// The outermost reduce loop; -1 if there is none.
int whole_sum(const Statement& reduction) {
  return reduction.body[0].kind == Statement::Kind::kLoop ? reduction.body[0].axis : -1;
}

bool is_expensive_epilogue(const ScheduleBuilder& builder, const Statement& nest) {
  bool slow = false;
  for (const Statement* s : builder.stores(nest))
    visit(s->value, [&](const KValueRef& v) { slow |= is_expensive(*v); });
  return slow;
}

}  // namespace

void loop_over_epilogue(ScheduleBuilder& builder, int tiles, int copy) {
  const Statement& nest = builder.loop(tiles);
  const std::vector<const Statement*> reductions = builder.reductions(nest);
  if (reductions.size() != 1 || builder.kernel.axes[copy].bind != Bind::kUnroll) return;
  // A loop over a tile in the nearest cache costs less than unrolled code that is expensive to
  // compile and fetch. A cheap epilogue does not pay for the tile.
  if (!is_expensive_epilogue(builder, nest)) return;
  const int sum = whole_sum(*reductions[0]);
  if (sum < 0) return;
  builder.reorder({tiles, copy});
  builder.compute_at(sum, tiles);
}

}  // namespace tenon
