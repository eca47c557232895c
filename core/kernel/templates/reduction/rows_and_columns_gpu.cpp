// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions on devices with workgroups: a subgroup or workgroup for each row; threads along the
// columns for column reductions.
#include <algorithm>

#include "core/kernel/templates/schedule_builder.hpp"

namespace tenon {
namespace {

constexpr int64_t kGroupThreads = 128;    ///< of a workgroup with several rows
constexpr int64_t kMostInRegisters = 32;  ///< elements of a row that a thread holds

/// Spreads a pass over x: lanes innermost, then threads. A short rest is unrolled, so that common
/// elements of several passes are computed once.
void schedule_pass(ScheduleBuilder& builder, const RowPass& pass, int64_t threads, int64_t lanes) {
  int axis = pass.axis;
  if (lanes > 1) {
    const auto [rest, lane] = builder.split(axis, lanes);
    builder.vectorize(lane);
    axis = rest;
  }
  int outer = -1;
  if (pass.reduces) {
    outer = builder.group(axis, threads).first;
  } else {
    const auto [rest, inner] = builder.split(axis, threads);
    builder.bind(inner, Bind::kBlockX);
    outer = rest;
  }
  const Expr& count = builder.extent(outer);
  if (count.is_const() && count.value() * lanes <= kMostInRegisters) {
    builder.unroll(outer);
  } else if (builder.size(outer) >= 8 && pass.reduces) {
    builder.unroll(builder.split(outer, std::max<int64_t>(1, 4 / lanes * 2)).second);
  }
}

}  // namespace

std::vector<RowPass> row_passes(ScheduleBuilder& builder, int rows) {
  std::vector<RowPass> out;
  for (const Statement& s : builder.loop(rows).body) {
    const bool reduces = s.kind == Statement::Kind::kReduce;
    if (s.kind == Statement::Kind::kStore) continue;
    const Statement* loop = reduces ? &s.body[0] : &s;
    if (loop->kind != Statement::Kind::kLoop || (reduces && s.body.size() != 1)) return {};
    const std::vector<int> axes = builder.perfect_nest(*loop);
    const Statement& last = builder.loop(axes.back());
    for (const Statement& inner : last.body)
      if (inner.kind != Statement::Kind::kStep && inner.kind != Statement::Kind::kStore) return {};
    out.push_back({axes.back(), reduces});
  }
  return out;
}

bool schedule_rows(ScheduleBuilder& builder, const std::vector<int>& outer_axes) {
  for (const KernelBuffer& b : builder.kernel.buffers)
    if (b.space == BufferSpace::kGlobal && b.read && b.written) return false;
  const int64_t subgroup = builder.subgroup_threads();
  if (!builder.has_barriers()) return false;
  std::vector<int> axes = outer_axes;
  const std::vector<RowPass> all = row_passes(builder, axes.back());
  int64_t longest = 0, rows = 1, lanes = 16;
  for (const RowPass& p : all) {
    if (p.reduces) longest = std::max(longest, builder.size(p.axis));
    lanes = std::min(lanes, builder.short_vector(builder.loop(p.axis), p.axis));
    // Threads of a row must read contiguous elements.
    for (const KValueRef& v : builder.loads_of_pass(p.axis))
      if (builder.stride(v->index, p.axis).value_or(2) > 1) return false;
  }
  for (const int a : axes) rows *= builder.size(a);
  const int64_t units = std::max<int64_t>(1, builder.caps.compute_units);
  if (longest < std::max<int64_t>(subgroup, 32)) return false;
  if (subgroup == 1 && (longest < 64 || rows >= units * 256)) return false;
  for (const RowPass& p : all)
    lanes = std::min(lanes, builder.short_vector_of(builder.loads_of_pass(p.axis), p.axis));

  // A few vectors for each thread; one subgroup if rows fill the device; no idle threads in short
  // rows.
  int64_t threads = builder.placed(Bind::kBlockX);
  if (threads == 0) {
    const int64_t least = std::min(subgroup, ceil_pow2((longest + lanes - 1) / lanes));
    threads = std::clamp(ceil_pow2(longest / (4 * lanes)), least, builder.threads_on_x(1024));
    if (subgroup > 1 && rows * subgroup >= units * 1024 && longest <= 64 * subgroup)
      threads = least;
    threads = std::min(threads, builder.threads_on_x(1024));
    if (builder.kind() == DeviceKind::kSpmd) threads = std::max<int64_t>(subgroup, 8);
  }
  axes = {builder.fuse_all(axes)};
  int row = axes[0];
  int64_t rows_at_once = builder.placed(Bind::kBlockY);
  if (rows_at_once == 0)
    rows_at_once =
        builder.kind() == DeviceKind::kSpmd
            ? 1
            : builder.threads_on_y(threads,
                                   builder.choose("threads", kGroupThreads, {32, 256}) / threads);
  for (const RowPass& p : all) schedule_pass(builder, p, threads, lanes);
  if (rows_at_once > 1) {
    const auto [rest, inner] = builder.split(row, rows_at_once);
    builder.bind(inner, Bind::kBlockY);
    row = rest;
  }
  bind_grid(builder, row, 1);
  return true;
}

bool schedule_columns(ScheduleBuilder& builder, const std::vector<int>& axes) {
  const int column = axes.back();
  const std::vector<RowPass> all = row_passes(builder, column);
  if (!builder.has_barriers() || all.empty() || builder.placed(Bind::kBlockX) != 0) return false;
  int64_t columns = 1;
  for (const int a : axes) columns *= builder.size(a);
  int64_t longest = 0;
  for (const RowPass& p : all) {
    if (!p.reduces) return false;
    longest = std::max(longest, builder.size(p.axis));
    for (const KValueRef& v : builder.loads_of_pass(p.axis))
      if (builder.stride(v->index, column).value_or(2) > 1) return false;
  }
  for (const KernelBuffer& b : builder.kernel.buffers)
    if (b.space == BufferSpace::kGlobal && b.read && b.written) return false;
  const int64_t units = std::max<int64_t>(1, builder.caps.compute_units);
  if (longest < 64 || columns >= units * 1024) return false;
  int64_t x = builder.threads_on_x(32), threads = x * 8;
  if (builder.kind() !=
      DeviceKind::kSpmd) {  // narrower blocks rather than idle units, then more rows at once
    while (x > 8 && columns / x < units) x /= 2;
    if (columns / x < 4 * units) threads *= 2;
  }
  const int64_t y = builder.threads_on_y(x, threads / x);
  if (y < 2) return false;
  const auto [outer, inner] = builder.split(column, x);
  builder.bind(inner, Bind::kBlockX);
  for (const RowPass& p : all) {
    const int rest = builder.group(p.axis, y).first;
    if (builder.size(rest) >= 8) builder.unroll(builder.split(rest, 4).second);
  }
  bind_grid(builder, outer, 1);
  if (axes.size() > 1) bind_grid(builder, axes[axes.size() - 2], 1, Bind::kGridY);
  return true;
}

void schedule_total(ScheduleBuilder& builder, int reduction) {
  const Statement* found = nullptr;
  for (const Statement& s : builder.kernel.body)
    if (s.kind == Statement::Kind::kReduce && s.id == reduction) found = &s;
  if (!found || !builder.has_barriers() || found->body.size() != 1) return;
  if (found->body[0].kind != Statement::Kind::kLoop) return;
  std::vector<int> axes = builder.perfect_nest(found->body[0]);
  for (const Statement* inner : builder.reductions(*found))
    if (inner != found) return;
  axes = {builder.fuse_all(axes)};
  if (builder.size(axes[0]) < 64) return;
  int64_t threads = builder.placed(Bind::kBlockX);
  if (threads == 0)
    threads = std::min(builder.threads_on_x(1024), ceil_pow2(builder.size(axes[0]) / 4));
  schedule_pass(builder, {axes[0], true}, threads,
                builder.short_vector_of(builder.loads_of_pass(axes[0]), axes[0]));
}

}  // namespace tenon
