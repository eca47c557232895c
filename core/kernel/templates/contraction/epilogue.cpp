// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What follows the sums of a register tile: once for each accumulator, or once in a loop.
#include <algorithm>

#include "core/kernel/templates/schedule_builder.hpp"

namespace tenon {
namespace {

/// The reduce loop that stands outermost.
int whole_sum(const Statement& reduction) {
  return reduction.body[0].kind == Statement::Kind::kLoop ? reduction.body[0].axis : -1;
}

bool is_slow_epilogue(const ScheduleBuilder& builder, const Statement& nest) {
  bool slow = false;
  for (const Statement* s : builder.stores(nest))
    visit(s->value, [&](const KValueRef& v) { slow |= is_slow(*v); });
  return slow;
}

}  // namespace

void loop_over_epilogue(ScheduleBuilder& builder, int tiles, int copy) {
  const Statement& nest = builder.loop(tiles);
  const std::vector<const Statement*> reductions = builder.reductions(nest);
  if (reductions.size() != 1 || builder.kernel.axes[copy].bind != Bind::kUnroll) return;
  // A tile in the nearest cache costs less than code for each of its sums, which has to be compiled
  // and read; but sums that are only stored or added to would do nothing else.
  if (!is_slow_epilogue(builder, nest)) return;
  const int sum = whole_sum(*reductions[0]);
  if (sum < 0) return;
  builder.reorder({tiles, copy});
  builder.compute_at(sum, tiles);
}

}  // namespace tenon
