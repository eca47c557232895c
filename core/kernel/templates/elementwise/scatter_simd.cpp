// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scatters on SIMD processors. Updates of one element are in the order of the index, so that sums
// have the same bits in every run. Rows are split into parts; each part loops over the whole index.
#include <algorithm>

#include "core/kernel/templates/elementwise/elementwise_simd.hpp"

namespace tenon {
namespace {

bool is_ordered(const ScheduleBuilder& builder, int axis) {
  return builder.kernel.axes[axis].kind == AxisKind::kOrdered;
}

}  // namespace

bool schedule_scatter(ScheduleBuilder& builder, int axis) {
  std::vector<int> axes = builder.perfect_nest(builder.loop(axis));
  if (std::ranges::none_of(axes, [&](int a) { return is_ordered(builder, a); }) ||
      is_ordered(builder, axes.back()) || !builder.reductions(builder.loop(axis)).empty())
    return false;
  axes = builder.fuse_contiguous(axes);
  const int n = axes.back();
  const auto place = std::ranges::find_if(axes, [&](int a) { return is_ordered(builder, a); });
  const int index = *place;
  axes.erase(place);
  const int64_t lanes = lanes_for(builder, builder.loop(n), n);
  int64_t rows = 1;
  for (const int a : axes)
    if (a != n) rows *= builder.size(a);
  const int64_t cores = std::max<int64_t>(1, builder.caps.compute_units);
  const int64_t parts = std::max<int64_t>(1, builder.choose("parts", cores, {1, 2 * cores}) / rows);
  const int64_t run =
      kPageBytes /
      static_cast<int64_t>(dtype_size(builder.stores(builder.loop(n)).front()->value->dtype));
  const int64_t part = std::min(run, (builder.size(n) + parts - 1) / parts);
  const auto [outer, columns] = builder.split(n, (part + lanes - 1) / lanes * lanes);
  axes.back() = outer;
  axes.push_back(index);
  if (columns != outer) axes.push_back(columns);
  builder.reorder(axes);
  if (vector_score(builder, builder.loop(columns), columns) >= 0)
    vector_split(builder, columns, lanes, builder.choose("copies", 4, {1, 2}));
  spread(builder, widen(builder, axes.front()));
  return true;
}

}  // namespace tenon
