// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise nests with a transposed operand, on SIMD processors: squares of it are transposed in
// registers, so that loads and stores are whole vectors.
#include <algorithm>

#include "core/kernel/templates/schedule_builder.hpp"

namespace tenon {
namespace {

/// A square of more lanes does not fit the registers.
constexpr int64_t kMostLanes = 16;
/// Values of all unrolled copies: more take longer to compile than they save.
constexpr int64_t kMostValues = 640;
/// Adjacent squares in the result, so that written cache lines follow one another. The operand's
/// lines are read in order, for the hardware prefetcher.
constexpr int64_t kWriteAlong = 4;

/// The largest power of two up to `most` that divides the axis: an edge would need its own code.
int64_t squares(const ScheduleBuilder& builder, int axis, int64_t most) {
  const Expr& extent = builder.extent(axis);
  while (most > 1 && !extent.divisible_by(most)) most /= 2;
  return most;
}

}  // namespace

int schedule_transpose_simd(ScheduleBuilder& builder, const std::vector<int>& axes) {
  const Statement& nest = builder.loop(axes.front());
  const int n = axes.back();
  // Kernels with sections have many loops to compile: no squares.
  if (axes.size() < 2 || !builder.kernel.sections.empty()) return -1;
  for (const int a : axes)
    if (builder.kernel.axes[a].kind != AxisKind::kParallel) return -1;
  for (const Statement& s : builder.loop(n).body)
    if (s.kind != Statement::Kind::kStore || builder.stride(s.index, n) != 1) return -1;
  int m = -1;
  for (const KValueRef& v : builder.loads(nest))
    if (m < 0) m = transposed_axis(builder, axes, *v, kMostLanes);
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
