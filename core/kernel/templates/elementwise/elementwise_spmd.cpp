// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPMD devices, whose threads are lanes of a host register: workgroups of one register, and for
// each thread a run of the widest accesses. Accesses of neighbouring lanes are not coalesced, and a
// barrier suspends all threads.
#include <algorithm>

#include "core/kernel/templates/schedule_builder.hpp"

namespace tenon {
namespace {

constexpr int64_t kRun = 64;     ///< accesses a thread, to hide the cost of a workgroup
constexpr int64_t kColumns = 4;  ///< adjacent accesses of a thread that goes down columns

/// Splits off the lanes of one access. Returns the outer loop.
int vectorized(ScheduleBuilder& builder, int axis, int64_t lanes) {
  if (lanes == 1) return axis;
  const auto [rest, lane] = builder.split(axis, lanes);
  builder.vectorize(lane);
  return rest;
}

}  // namespace

void schedule_elementwise_spmd(ScheduleBuilder& builder, std::vector<int> axes) {
  const int64_t threads = builder.register_threads();
  while (axes.size() > 1 && builder.size(axes.back()) < 4 * threads) {
    axes[axes.size() - 2] = builder.fuse(axes[axes.size() - 2], axes.back());
    axes.pop_back();
  }
  const int row = axes.back();
  const int64_t lanes = builder.short_vector(builder.loop(row), row);
  const int64_t pieces = (builder.size(row) + lanes - 1) / lanes;
  int64_t total = pieces;
  for (size_t i = 0; i + 1 < axes.size(); ++i) total *= builder.size(axes[i]);
  const int64_t units = std::max<int64_t>(1, builder.caps.compute_units);
  const int64_t run = std::min(kRun, floor_pow2(total / (8 * units * threads)));
  const int64_t along = std::min(run, floor_pow2(pieces / threads));
  auto [grid, item] = builder.split(row, threads * along * lanes);
  int thread = vectorized(builder, item, lanes);
  if (along > 1) thread = builder.split(thread, along).first;
  builder.bind(thread, Bind::kBlockX);
  bind_grid(builder, grid, 1);
  if (axes.size() > 1) bind_grid(builder, axes[axes.size() - 2], run / along, Bind::kGridY);
  if (axes.size() > 2) bind_grid(builder, axes[axes.size() - 3], 1, Bind::kGridZ);
}

bool schedule_rows_spmd(ScheduleBuilder& builder, std::vector<int> axes) {
  const std::vector<RowPass> all = row_passes(builder, axes.back());
  const int64_t threads = builder.register_threads();
  int64_t rows = 1;
  for (const int a : axes) rows *= builder.size(a);
  const int64_t units = std::max<int64_t>(1, builder.caps.compute_units);
  if (all.empty() || rows < 4 * units * threads) return false;
  bool has_lanes = false;
  for (const RowPass& p : all) {
    int64_t lanes = builder.short_vector(builder.loop(p.axis), p.axis);
    if (p.reduces) lanes = builder.short_vector_of(builder.loads_of_pass(p.axis), p.axis);
    vectorized(builder, p.axis, lanes);
    has_lanes |= lanes > 1;
  }
  int& column = axes.back();
  const int64_t lanes = has_lanes ? 1 : builder.short_vector(builder.loop(column), column);
  if (lanes > 1 && rows >= 4 * units * threads * lanes) {
    const int64_t copies = std::min(kColumns, floor_pow2(rows / (4 * units * threads * lanes)));
    const auto [rest, item] = builder.split(column, copies * lanes);
    const int copy = vectorized(builder, item, lanes);
    if (copies > 1) builder.unroll(copy);
    column = rest;
  }
  axes = {builder.fuse_all(axes)};
  const auto [grid, thread] = builder.split(axes[0], threads);
  builder.bind(thread, Bind::kBlockX);
  bind_grid(builder, grid, 1);
  return true;
}

}  // namespace tenon
