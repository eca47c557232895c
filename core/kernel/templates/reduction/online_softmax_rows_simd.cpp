// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Online softmax of long rows on SIMD processors, as of logits over a vocabulary. The maximum and
// the sums run together, block by block, so the row is read from memory or an outer cache once.
#include <algorithm>

#include "core/kernel/templates/attention/attention.hpp"
#include "core/kernel/templates/elementwise/elementwise_simd.hpp"

namespace tenon {
namespace {

/// Bytes. A row that fits the nearest cache is faster in two passes.
constexpr int64_t kLeastRow = 32 << 10;
constexpr int64_t kBlock = 1024;  ///< elements of a block, which stays in the nearest cache

/// A reduction over one loop with only the step in it.
bool is_pass(const Statement& s, Op op) {
  return s.kind == Statement::Kind::kReduce && s.body.size() == 1 &&
         s.body[0].kind == Statement::Kind::kLoop && s.body[0].body.size() == 1 &&
         s.body[0].body[0].kind == Statement::Kind::kStep &&
         std::ranges::all_of(s.states, [&](const ReduceState& state) { return state.op == op; });
}

/// The loop of the maximum, if only sums over the row follow; -1 otherwise. Another loop along the
/// row would recompute the powers.
int row_of(ScheduleBuilder& builder, int inner) {
  const std::vector<Statement>& body = builder.loop(inner).body;
  if (body.size() < 2 || !is_pass(body[0], Op::MAX) || !is_pass(body[1], Op::ADD)) return -1;
  for (size_t i = 2; i < body.size(); ++i)
    if (body[i].kind != Statement::Kind::kStore && !is_pass(body[i], Op::ADD)) return -1;
  return body[0].body[0].axis;
}

}  // namespace

bool schedule_softmax_rows(ScheduleBuilder& builder, int axis) {
  const std::vector<int> axes = builder.perfect_nest(builder.loop(axis));
  const int inner = axes.back(), row = row_of(builder, inner);
  if (row < 0 || builder.kernel.axes[inner].kind != AxisKind::kParallel) return false;
  const Statement& maximum = builder.loop(inner).body[0];
  const int64_t lanes = builder.lanes(maximum);
  const int64_t bytes =
      builder.size(row) * static_cast<int64_t>(dtype_size(maximum.states[0].dtype));
  if (lanes < 2 || bytes <= kLeastRow || vector_score(builder, maximum, row) < 0) return false;
  return builder.attempt([&](ScheduleBuilder& b) {
    const int64_t block = b.choose("steps", kBlock, {256, 4 * kBlock});
    if (!b.online_softmax({.reduce = row, .factor = block, .at = inner, .inner = row}))
      return false;
    // A step may move statements, so parts are looked up again.
    for (size_t i = 0; i < attention_parts(b, inner).block_parts.size(); ++i) {
      const Statement& part = *attention_parts(b, inner).block_parts[i];
      const Statement* pass = reduction_in(part);
      vectors_of(b, pass ? pass->body[0].axis : part.axis, lanes, 4);
    }
    spread(b, widen(b, axes.front()));
    return true;
  });
}

}  // namespace tenon
