// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise nests on processors with vector registers, where an operand lies across the result:
// squares of it go through registers, so that memory is read and written in whole vectors.
#include <algorithm>

#include "core/kernel/templates/schedule_builder.hpp"

namespace tenon {
namespace {

/// A square of more lanes does not stay in registers.
constexpr int64_t kMostLanes = 16;
/// Of the copies of all lanes together: more takes longer to compile than it saves.
constexpr int64_t kMostValues = 640;
/// Squares side by side in the result, so that lines written follow one another. None are in what
/// is read: its lines are taken in order, as a processor reads ahead.
constexpr int64_t kWriteAlong = 4;

/// As many squares as divide those there are: each edge would be code of its own.
int64_t squares(const ScheduleBuilder& builder, int axis, int64_t most) {
  const Expr& extent = builder.extent(axis);
  while (most > 1 && !extent.divisible_by(most)) most /= 2;
  return most;
}

}  // namespace

int schedule_across(ScheduleBuilder& builder, const std::vector<int>& axes) {
  const Statement& nest = builder.loop(axes.front());
  const int n = axes.back();
  // Of many short loops, each is compiled for itself.
  if (axes.size() < 2 || !builder.kernel.sections.empty()) return -1;
  for (const int a : axes)
    if (builder.kernel.axes[a].kind != AxisKind::kParallel) return -1;
  for (const Statement& s : builder.loop(n).body)
    if (s.kind != Statement::Kind::kStore || builder.stride(s.index, n) != 1) return -1;
  int m = -1;
  for (const KValueRef& v : builder.loads(nest))
    if (m < 0) m = axis_across(builder, axes, *v, kMostLanes);
  const int64_t lanes = std::min(builder.lanes(nest), kMostLanes);
  if (m < 0 || lanes < 4 || builder.size(m) < lanes || builder.size(n) < lanes) return -1;
  int64_t values = 0;
  for (const Statement* s : builder.stores(nest))
    visit(s->value, [&](const KValueRef&) { ++values; });
  if (values * lanes > kMostValues) return -1;

  const auto [m_squares, m_copy] = builder.split(m, lanes);
  const auto [n_squares, n_lane] = builder.split(n, lanes);
  builder.unroll(m_copy);
  builder.vectorize(n_lane);
  const int64_t along = builder.choose("squares written", kWriteAlong, {1, 2});
  const auto [n_outer, n_inner] = builder.split(n_squares, squares(builder, n_squares, along));
  std::vector<int> order;
  for (const int a : axes)
    if (a != m && a != n) order.push_back(a);
  for (const int a : {n_outer, m_squares, n_inner, m_copy, n_lane}) order.push_back(a);
  builder.reorder(order);
  return order.front();
}

}  // namespace tenon
