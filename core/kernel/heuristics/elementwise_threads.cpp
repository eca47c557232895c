// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices with workgroups: neighbouring threads take neighbouring elements, a short vector each.
#include <algorithm>
#include <bit>

#include "core/kernel/heuristics/schedule_builder.hpp"

namespace tenon {
namespace {

constexpr int64_t kThreads = 256;

int64_t ceil_pow2(int64_t n) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(1, n))));
}

/// Workgroups that keep the device busy to the end.
int64_t many_groups(const ScheduleBuilder& book) {
  return 8 * std::max<int64_t>(1, book.caps.compute_units);
}

/// Splits off a thread's lanes and the threads; gives what stays outside.
int spread_over_threads(ScheduleBuilder& book, int axis, int64_t threads, int64_t lanes,
                        int64_t copies, Bind place) {
  auto [outer, inner] = book.split(axis, threads * lanes * copies);
  if (lanes > 1) {
    const auto [rest, lane] = book.split(inner, lanes);
    book.vectorize(lane);
    inner = rest;
  }
  if (copies > 1) {
    const auto [copy, rest] = book.split(inner, threads);
    book.unroll(copy);
    inner = rest;
  }
  book.bind(inner, place);
  return outer;
}

/// One element after another: the innermost axis on x, the next one on y.
void schedule_elements(ScheduleBuilder& book, std::vector<int> axes) {
  // A short row wastes threads unless rows follow one another on x.
  while (axes.size() > 1 && book.size(axes.back()) < 32) {
    axes[axes.size() - 2] = book.merge(axes[axes.size() - 2], axes.back());
    axes.pop_back();
  }
  const int row = axes.back();
  const int64_t lanes = book.short_vector(book.loop(row), row);
  const int64_t pieces = (book.size(row) + lanes - 1) / lanes;
  int64_t total = pieces;
  for (size_t i = 0; i + 1 < axes.size(); ++i) total *= book.size(axes[i]);
  int64_t x = book.placed(Bind::kBlockX), y = book.placed(Bind::kBlockY);
  const int64_t wanted = book.threads_on_x(kThreads);
  if (x == 0) x = std::min(wanted, ceil_pow2(pieces));
  if (y == 0 && axes.size() > 1) y = book.threads_on_y(x, wanted / x);
  int64_t copies = 1;
  while (copies < 4 && copies * lanes < 8 && pieces >= 2 * copies * x &&
         total >= 2 * copies * many_groups(book) * x * std::max<int64_t>(1, y))
    copies *= 2;
  const int columns = spread_over_threads(book, row, x, lanes, copies, Bind::kBlockX);
  bind_grid(book, columns, 1);
  if (axes.size() < 2) return;
  int rows = axes[axes.size() - 2];
  if (y > 1) rows = spread_over_threads(book, rows, y, 1, 1, Bind::kBlockY);
  bind_grid(book, rows, 1, Bind::kGridY);
  if (axes.size() > 2) bind_grid(book, axes[axes.size() - 3], 1, Bind::kGridZ);
}

}  // namespace

void schedule_threads_nest(ScheduleBuilder& book, int axis) {
  if (schedule_tiles(book, axis)) return;
  std::vector<int> axes = book.merge_contiguous(book.chain(book.loop(axis)));
  for (const int a : axes)
    if (book.kernel.axes[a].kind != AxisKind::kParallel) {
      if (a != axes.front()) bind_grid(book, axes.front(), 1);
      return;
    }
  if (book.reductions(book.loop(axes.front())).empty() && book.loop(axes.back()).body.size() > 0 &&
      book.stores(book.loop(axes.back())).size() == book.loop(axes.back()).body.size()) {
    schedule_elements(book, std::move(axes));
    return;
  }
  if (schedule_rows(book, axes) || schedule_columns(book, axes)) return;
  while (axes.size() > 1) {
    axes[0] = book.merge(axes[0], axes[1]);
    axes.erase(axes.begin() + 1);
  }
  int64_t threads = book.placed(Bind::kBlockX);
  if (threads == 0)
    threads = std::min(book.threads_on_x(kThreads / 2), ceil_pow2(book.size(axes[0])));
  const auto [outer, inner] = book.split(axes[0], threads);
  book.bind(inner, Bind::kBlockX);
  bind_grid(book, outer, 1);
}

}  // namespace tenon
