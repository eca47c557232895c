// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices with workgroups: one element a thread, long rows shared by the threads of a workgroup.
#include <algorithm>
#include <bit>

#include "core/kernel/rule_book.hpp"

namespace tenon {
namespace {

/// Threads on x: a power of two within the limits.
int64_t workgroup(const Capabilities& caps, int64_t wanted) {
  int64_t most = caps.max_workgroup_threads;
  if (caps.max_workgroup[0]) most = std::min<int64_t>(most, caps.max_workgroup[0]);
  return static_cast<int64_t>(std::bit_floor(
      static_cast<uint64_t>(std::clamp<int64_t>(wanted, 1, std::max<int64_t>(1, most)))));
}

/// A block axis has one extent in the whole kernel.
int64_t threads_for(const RuleBook& book, int64_t wanted) {
  for (const KernelAxis& a : book.kernel.axes)
    if (a.bind == Bind::kBlockX) return a.extent.value();
  return workgroup(book.caps, wanted);
}

std::vector<int> last_reduce_axes(RuleBook& book, int nest) {
  std::vector<int> out;
  const Statement& loop = book.loop(nest);
  for (const Statement& s : loop.body) {
    if (s.kind != Statement::Kind::kReduce) continue;
    for (const Statement& inner : s.body)
      if (inner.kind == Statement::Kind::kLoop) out.push_back(book.chain(inner).back());
  }
  return out;
}

}  // namespace

void plan_threads_nest(RuleBook& book, int axis) {
  std::vector<int> axes = book.merge_contiguous(book.chain(book.loop(axis)));
  for (const int a : axes)
    if (book.kernel.axes[a].kind != AxisKind::kParallel) {
      if (a != axes.front()) bind_grid(book, axes.front(), 1);
      return;
    }
  while (axes.size() > 1) {
    axes[0] = book.merge(axes[0], axes[1]);
    axes.erase(axes.begin() + 1);
  }
  const int rows = axes[0];
  const std::vector<int> reduce = last_reduce_axes(book, rows);
  int64_t longest = 0;
  for (const int r : reduce) longest = std::max(longest, book.size(r));
  const int64_t cores = 4 * std::max<int64_t>(1, book.caps.compute_units);
  // Few long rows: a workgroup a row. Many or short ones: a thread a row.
  bool in_place = false;
  for (const KernelBuffer& b : book.kernel.buffers) in_place |= b.read && b.written;
  if (!in_place && book.has_barriers() && longest >= 64 && book.size(rows) < cores * 64) {
    const int64_t threads = threads_for(book, std::min<int64_t>(longest, 128));
    std::vector<int> inside;
    for (const Statement& s : book.loop(rows).body)
      if (s.kind == Statement::Kind::kLoop) inside.push_back(s.axis);
    for (const int r : reduce) book.group(r, threads);
    for (const int a : inside) book.bind(book.split(a, threads).second, Bind::kBlockX);
    bind_grid(book, rows, 1);
    return;
  }
  const int64_t threads = threads_for(book, std::min<int64_t>(128, book.size(rows)));
  const auto [outer, inner] = book.split(rows, threads);
  book.bind(inner, Bind::kBlockX);
  bind_grid(book, outer, 1);
}

}  // namespace tenon
