// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scans on SIMD processors.
#include <algorithm>
#include <cstdlib>

#include "core/kernel/templates/elementwise/elementwise_simd.hpp"

namespace tenon {
namespace {

/// The axis of the masked reduction in the innermost loop; -1 if there is none.
int reduce_axis(ScheduleBuilder& builder, const std::vector<int>& axes) {
  const std::vector<Statement>& body = builder.loop(axes.back()).body;
  const Statement& r = body.front();
  const bool alone = r.kind == Statement::Kind::kReduce && r.body.size() == 1 &&
                     r.body[0].kind == Statement::Kind::kLoop &&
                     std::ranges::all_of(r.states, [](const ReduceState& state) {
                       return state.value->kind == KValueKind::kOp && state.value->op == Op::WHERE;
                     });
  return alone ? r.body[0].axis : -1;
}

/// Applies scan to the reduction over r, along axis j or the inner part of j.
bool scan_along(ScheduleBuilder& builder, std::vector<int>& axes, int r, int j) {
  int along = j;
  const auto place = std::ranges::find(axes, j);
  if (builder.extent(j) == builder.extent(r)) {
    axes.erase(place);
  } else {
    if (!builder.extent(r).is_const()) return false;
    const auto [blocks, inside] = builder.split(j, builder.extent(r).value());
    along = inside;
    *place = blocks;
  }
  std::vector<int> order = axes;
  order.push_back(along);
  if (order.size() > 1) builder.reorder(order);
  return builder.scan(r, along);
}

constexpr int64_t kShortRun = 16;  ///< fewest vectors of a run that is worth a loop

/// Scans down the columns of distant rows: long runs along axis n, with the prefix results in a
/// tile. Returns the outermost loop.
int down_columns(ScheduleBuilder& builder, std::vector<int> axes, int r, int n, int64_t lanes) {
  const auto place = std::ranges::find(axes, n);
  const int64_t run = std::min(kPageBytes / (builder.caps.vector_bytes / lanes),
                               (builder.size(n) + lanes - 1) / lanes * lanes);
  const auto [runs, columns] = builder.split(n, run);
  *place = runs;
  std::vector<int> order = axes;
  order.push_back(columns);
  builder.reorder(order);
  if (!builder.compute_at(r, runs)) builder.give_up("a scan that compute_at accepts");
  const int zeros = builder.kernel.axis(builder.kernel.axes[columns].name + ".z");
  vector_split(builder, columns, lanes, builder.choose("copies", 4, {1, 2}));
  vector_split(builder, zeros, lanes, 1);
  return axes.front();
}

/// True if loads are contiguous along axis n and far apart along r.
bool scans_down_columns(const ScheduleBuilder& builder, const Statement& reduction, int r, int n,
                        int64_t lanes) {
  const auto loads = builder.loads(reduction);
  return builder.size(n) >= kShortRun * lanes && builder.extent(n).is_const() &&
         std::ranges::any_of(loads, [&](const KValueRef& v) {
           const auto down = builder.stride(v->index, r);
           return builder.stride(v->index, n) == 1 && down && std::abs(*down) >= builder.size(n);
         });
}

/// Vectorises one of the loops, or the scan itself. Returns the outermost loop.
int vectorise(ScheduleBuilder& builder, const std::vector<int>& axes, int r) {
  const Statement& nest = builder.loop(axes.empty() ? r : axes.front());
  const Statement reduction = *builder.reductions(nest).front();
  const bool moves_lanes = builder.caps.has(Op::COMPOSE) && builder.caps.has(Op::EXTRACT);
  int best = -1, most = -1;
  const auto offer = [&](int a) {
    if (const int score = vector_score(builder, reduction, a); score > most) best = a, most = score;
  };
  for (const int a : axes) offer(a);
  if (moves_lanes) offer(r);
  if (best < 0) return axes.front();
  const int64_t lanes = lanes_for(builder, reduction, best);
  if (best != r && scans_down_columns(builder, reduction, r, best, lanes))
    return down_columns(builder, axes, r, best, lanes);
  const int64_t copies = best == r ? 1 : builder.choose("copies", 4, {1, 2});
  const int rest = vector_split(builder, best, lanes, copies);
  return best == axes.front() ? rest : axes.front();
}

}  // namespace

bool schedule_scan(ScheduleBuilder& builder, int axis) {
  const std::vector<int> nest = builder.perfect_nest(builder.loop(axis));
  const int r = reduce_axis(builder, nest);
  if (r < 0) return false;
  for (const int j : nest) {
    std::vector<int> axes = nest;
    if (!builder.attempt([&](ScheduleBuilder& b) { return scan_along(b, axes, r, j); })) continue;
    if (axes.empty()) return true;
    spread(builder, widen(builder, vectorise(builder, axes, r)));
    return true;
  }
  return false;
}

}  // namespace tenon
