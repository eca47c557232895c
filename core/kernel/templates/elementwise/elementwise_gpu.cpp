// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise on devices with workgroups: neighbouring threads take neighbouring short vectors.
#include <algorithm>

#include "core/kernel/templates/schedule_builder.hpp"

namespace tenon {
namespace {

constexpr int64_t kElementwiseThreads = 256;

/// Workgroups that keep the device busy to the end.
int64_t many_groups(const ScheduleBuilder& builder) {
  return 8 * std::max<int64_t>(1, builder.caps.compute_units);
}

/// Splits off a thread's lanes and the threads. Returns the outer loop.
int spread_over_threads(ScheduleBuilder& builder, int axis, int64_t threads, int64_t lanes,
                        int64_t copies, Bind place) {
  auto [outer, inner] = builder.split(axis, threads * lanes * copies);
  if (lanes > 1) {
    const auto [rest, lane] = builder.split(inner, lanes);
    builder.vectorize(lane);
    inner = rest;
  }
  if (copies > 1) {
    const auto [copy, rest] = builder.split(inner, threads);
    builder.unroll(copy);
    inner = rest;
  }
  builder.bind(inner, place);
  return outer;
}

/// The innermost axis on x, the next one on y.
void schedule_elements(ScheduleBuilder& builder, std::vector<int> axes) {
  // Short rows are fused, as they would waste threads.
  while (axes.size() > 1 && builder.size(axes.back()) < 32) {
    axes[axes.size() - 2] = builder.fuse(axes[axes.size() - 2], axes.back());
    axes.pop_back();
  }
  const int row = axes.back();
  const int64_t lanes = builder.short_vector(builder.loop(row), row);
  const int64_t pieces = (builder.size(row) + lanes - 1) / lanes;
  int64_t total = pieces;
  for (size_t i = 0; i + 1 < axes.size(); ++i) total *= builder.size(axes[i]);
  int64_t x = builder.placed(Bind::kBlockX), y = builder.placed(Bind::kBlockY);
  const int64_t wanted =
      builder.threads_on_x(builder.choose("threads", kElementwiseThreads, {64, 128}));
  if (x == 0) x = std::min(wanted, ceil_pow2(pieces));
  if (y == 0 && axes.size() > 1) y = builder.threads_on_y(x, wanted / x);
  int64_t copies = 1;
  while (copies < 4 && copies * lanes < 8 && pieces >= 2 * copies * x &&
         total >= 2 * copies * many_groups(builder) * x * std::max<int64_t>(1, y))
    copies *= 2;
  const int columns = spread_over_threads(builder, row, x, lanes, copies, Bind::kBlockX);
  bind_grid(builder, columns, 1);
  if (axes.size() < 2) return;
  int rows = axes[axes.size() - 2];
  if (y > 1) rows = spread_over_threads(builder, rows, y, 1, 1, Bind::kBlockY);
  bind_grid(builder, rows, 1, Bind::kGridY);
  if (axes.size() > 2) bind_grid(builder, axes[axes.size() - 3], 1, Bind::kGridZ);
}

/// Unrolls sums of few terms, such as those of a small window: their indices become constants.
void unroll_short_sums(ScheduleBuilder& builder, int axis) {
  constexpr int64_t kMost = 32;
  std::vector<int> sums;
  for (const Statement* r : builder.reductions(builder.loop(axis)))
    if (r->body.size() == 1 && r->body[0].kind == Statement::Kind::kLoop) {
      const std::vector<int> axes = builder.perfect_nest(r->body[0]);
      int64_t terms = 1;
      bool known = true;
      for (const int a : axes) known &= builder.extent(a).is_const(), terms *= builder.size(a);
      if (known && terms <= kMost) sums.insert(sums.end(), axes.begin(), axes.end());
    }
  for (const int a : sums)
    if (builder.size(a) > 1) builder.unroll(a);
}

/// One element a thread, with all axes fused.
void spread_over_grid(ScheduleBuilder& builder, std::vector<int> axes, int64_t most_threads) {
  axes = {builder.fuse_all(axes)};
  int64_t threads = builder.placed(Bind::kBlockX);
  if (threads == 0)
    threads = std::min(builder.threads_on_x(most_threads), ceil_pow2(builder.size(axes[0])));
  const auto [outer, inner] = builder.split(axes[0], threads);
  builder.bind(inner, Bind::kBlockX);
  bind_grid(builder, outer, 1);
}

}  // namespace

void schedule_threads_nest(ScheduleBuilder& builder, int axis) {
  if (builder.kind() == DeviceKind::kSpmd && schedule_register_tiles(builder, axis)) return;
  if (schedule_shared_tiles(builder, axis)) return;
  std::vector<int> axes = builder.fuse_contiguous(builder.perfect_nest(builder.loop(axis)));
  const auto is_parallel = [&](int a) {
    return builder.kernel.axes[a].kind == AxisKind::kParallel;
  };
  // A scatter: each thread loops over the ordered axis at its position of the others.
  const auto ordered = std::stable_partition(axes.begin(), axes.end(), is_parallel);
  if (ordered != axes.end()) {
    if (ordered == axes.begin()) return;
    builder.reorder(axes);
    axes.erase(ordered, axes.end());
    // Memory latency dominates: small workgroups, so that many units wait at once.
    return spread_over_grid(builder, std::move(axes), kElementwiseThreads / 8);
  }
  if (builder.reductions(builder.loop(axes.front())).empty() &&
      builder.loop(axes.back()).body.size() > 0 &&
      builder.stores(builder.loop(axes.back())).size() == builder.loop(axes.back()).body.size()) {
    if (builder.kind() == DeviceKind::kSpmd)
      return schedule_elementwise_spmd(builder, std::move(axes));
    if (schedule_transpose_gpu(builder, axes)) return;
    return schedule_elements(builder, std::move(axes));
  }
  if (builder.kind() == DeviceKind::kSpmd && schedule_rows_spmd(builder, axes)) return;
  if (schedule_rows(builder, axes) || schedule_columns(builder, axes)) return;
  if (builder.kind() != DeviceKind::kSpmd) unroll_short_sums(builder, axes.front());
  spread_over_grid(builder, std::move(axes), kElementwiseThreads / 2);
}

}  // namespace tenon
