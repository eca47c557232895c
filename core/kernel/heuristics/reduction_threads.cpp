// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions on devices with workgroups: a subgroup or a workgroup for each row, threads along the
// columns for sums over rows.
#include <algorithm>
#include <bit>

#include "core/kernel/heuristics/schedule_builder.hpp"

namespace tenon {
namespace {

constexpr int64_t kGroupThreads = 128;  ///< of a workgroup that takes several rows
constexpr int64_t kKept = 32;           ///< elements of a row that a thread keeps in registers

int64_t ceil_pow2(int64_t n) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(1, n))));
}

/// The innermost loop of each pass over a row: of a reduction, or with stores.
struct Pass {
  int axis = -1;
  bool reduces = false;
};

/// Empty if the nest is not made of passes side by side.
std::vector<Pass> passes(ScheduleBuilder& book, int rows) {
  std::vector<Pass> out;
  for (const Statement& s : book.loop(rows).body) {
    const bool reduces = s.kind == Statement::Kind::kReduce;
    if (s.kind == Statement::Kind::kStore) continue;
    const Statement* loop = reduces ? &s.body[0] : &s;
    if (loop->kind != Statement::Kind::kLoop || (reduces && s.body.size() != 1)) return {};
    const std::vector<int> axes = book.chain(*loop);
    const Statement& last = book.loop(axes.back());
    for (const Statement& inner : last.body)
      if (inner.kind != Statement::Kind::kStep && inner.kind != Statement::Kind::kStore) return {};
    out.push_back({axes.back(), reduces});
  }
  return out;
}

/// A pass goes over x: lanes innermost, then threads; few enough copies are unrolled so that equal
/// elements of several passes are computed once.
void schedule_pass(ScheduleBuilder& book, const Pass& pass, int64_t threads, int64_t lanes) {
  int axis = pass.axis;
  if (lanes > 1) {
    const auto [rest, lane] = book.split(axis, lanes);
    book.vectorize(lane);
    axis = rest;
  }
  int outer = -1;
  if (pass.reduces) {
    outer = book.group(axis, threads) - 1;
  } else {
    const auto [rest, inner] = book.split(axis, threads);
    book.bind(inner, Bind::kBlockX);
    outer = rest;
  }
  const Expr& count = book.extent(outer);
  if (count.is_const() && count.value() * lanes <= kKept) {
    book.unroll(outer);
  } else if (book.size(outer) >= 8 && pass.reduces) {
    book.unroll(book.split(outer, std::max<int64_t>(1, 4 / lanes * 2)).second);
  }
}

}  // namespace

bool schedule_rows(ScheduleBuilder& book, const std::vector<int>& outer_axes) {
  for (const KernelBuffer& b : book.kernel.buffers)
    if (b.space == BufferSpace::kGlobal && b.read && b.written) return false;
  const int64_t subgroup = book.subgroup_threads();
  if (!book.has_barriers()) return false;
  std::vector<int> axes = outer_axes;
  const std::vector<Pass> all = passes(book, axes.back());
  int64_t longest = 0, rows = 1, lanes = 16;
  for (const Pass& p : all) {
    if (p.reduces) longest = std::max(longest, book.size(p.axis));
    lanes = std::min(lanes, book.short_vector(book.loop(p.axis), p.axis));
    // Threads of a row read side by side.
    for (const KValueRef& v : book.loads_of_pass(p.axis))
      if (book.stride(v->index, p.axis).value_or(2) > 1) return false;
  }
  for (const int a : axes) rows *= book.size(a);
  const int64_t units = std::max<int64_t>(1, book.caps.compute_units);
  if (longest < std::max<int64_t>(subgroup, 32)) return false;
  if (subgroup == 1 && (longest < 64 || rows >= units * 256)) return false;
  for (const Pass& p : all)
    lanes = std::min(lanes, book.short_vector_of(book.loads_of_pass(p.axis), p.axis));

  // Enough threads that each has a few vectors, a subgroup if that fills the device.
  int64_t threads = book.placed(Bind::kBlockX);
  if (threads == 0) {
    threads = std::clamp(ceil_pow2(longest / (4 * lanes)), subgroup, book.threads_on_x(1024));
    if (subgroup > 1 && rows * subgroup >= units * 1024 && longest <= 64 * subgroup)
      threads = subgroup;
    threads = std::min(threads, book.threads_on_x(1024));
  }
  while (axes.size() > 1) {
    axes[0] = book.merge(axes[0], axes[1]);
    axes.erase(axes.begin() + 1);
  }
  int row = axes[0];
  int64_t beside = book.placed(Bind::kBlockY);
  if (beside == 0) beside = book.threads_on_y(threads, kGroupThreads / threads);
  for (const Pass& p : all) schedule_pass(book, p, threads, lanes);
  if (beside > 1) {
    const auto [rest, inner] = book.split(row, beside);
    book.bind(inner, Bind::kBlockY);
    row = rest;
  }
  bind_grid(book, row, 1);
  return true;
}

bool schedule_columns(ScheduleBuilder& book, const std::vector<int>& axes) {
  const int column = axes.back();
  const std::vector<Pass> all = passes(book, column);
  if (!book.has_barriers() || all.empty() || book.placed(Bind::kBlockX) != 0) return false;
  int64_t columns = 1;
  for (const int a : axes) columns *= book.size(a);
  int64_t longest = 0;
  for (const Pass& p : all) {
    if (!p.reduces) return false;
    longest = std::max(longest, book.size(p.axis));
    for (const KValueRef& v : book.loads_of_pass(p.axis))
      if (book.stride(v->index, column).value_or(2) > 1) return false;
  }
  for (const KernelBuffer& b : book.kernel.buffers)
    if (b.space == BufferSpace::kGlobal && b.read && b.written) return false;
  const int64_t units = std::max<int64_t>(1, book.caps.compute_units);
  if (longest < 64 || columns >= units * 1024) return false;
  const int64_t x = book.threads_on_x(32), y = book.threads_on_y(x, 8);
  if (y < 2) return false;
  const auto [outer, inner] = book.split(column, x);
  book.bind(inner, Bind::kBlockX);
  for (const Pass& p : all) {
    const int rest = book.group(p.axis, y) - 1;
    if (book.size(rest) >= 8) book.unroll(book.split(rest, 4).second);
  }
  bind_grid(book, outer, 1);
  if (axes.size() > 1) bind_grid(book, axes[axes.size() - 2], 1, Bind::kGridY);
  return true;
}

void schedule_total(ScheduleBuilder& book, int reduction) {
  const Statement* found = nullptr;
  for (const Statement& s : book.kernel.body)
    if (s.kind == Statement::Kind::kReduce && s.id == reduction) found = &s;
  if (!found || !book.has_barriers() || found->body.size() != 1) return;
  if (found->body[0].kind != Statement::Kind::kLoop) return;
  std::vector<int> axes = book.chain(found->body[0]);
  for (const Statement* inner : book.reductions(*found))
    if (inner != found) return;
  while (axes.size() > 1) {
    axes[0] = book.merge(axes[0], axes[1]);
    axes.erase(axes.begin() + 1);
  }
  if (book.size(axes[0]) < 64) return;
  int64_t threads = book.placed(Bind::kBlockX);
  if (threads == 0) threads = std::min(book.threads_on_x(1024), ceil_pow2(book.size(axes[0]) / 4));
  schedule_pass(book, {axes[0], true}, threads,
                book.short_vector_of(book.loads_of_pass(axes[0]), axes[0]));
}

}  // namespace tenon
