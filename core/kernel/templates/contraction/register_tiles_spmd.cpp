// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contractions on SPMD devices: each thread has a register tile of the result and loads a few
// elements of both operands at a time. Threads share no memory.
#include <algorithm>

#include "core/kernel/templates/contraction/contraction.hpp"

namespace tenon {
namespace {

constexpr double kLarge = 1 << 20;  ///< multiply-adds that are worth a longer compilation

double iterations(const ScheduleBuilder& builder,
                  std::initializer_list<const std::vector<int>*> axes) {
  double out = 1;
  for (const std::vector<int>* part : axes)
    for (const int a : *part) out *= static_cast<double>(builder.size(a));
  return out;
}

/// Rows of a tile, and half its columns. Larger tiles have fewer loads for each product but take
/// longer to compile, as they are unrolled.
int64_t side_of_tile(const ScheduleBuilder& builder, const Contraction& c) {
  const double results = iterations(builder, {&c.batch, &c.rows, &c.columns});
  int64_t side = results * iterations(builder, {&c.sum}) >= kLarge ? 8 : 4;
  const auto threads = static_cast<double>(builder.register_threads() *
                                           std::max<int64_t>(1, builder.caps.compute_units));
  while (side > 2 && results < threads * static_cast<double>(2 * side * side)) side /= 2;
  return builder.choose("tile", side, {8, 4, 2});
}

bool with_register_tile(ScheduleBuilder& builder, size_t place, int64_t side) {
  split_divided(builder, place, Divided::kSum);
  split_divided(builder, place, Divided::kColumns);
  const Statement& nest = builder.kernel.body[place];
  const std::optional<Contraction> found = find_contraction(builder, nest);
  if (!found || found->rows.empty() || found->columns.empty()) return false;
  const int m = found->rows.back(), n = found->columns.back();
  const int64_t lanes = builder.short_vector(nest, n);
  const int64_t vectors = (builder.size(n) + lanes - 1) / lanes;
  std::vector<int> order = builder.perfect_nest(nest);
  const auto [m_tile, row] = builder.split(m, tile_rows(side, builder.extent(m)));
  const auto [n_tile, column] =
      builder.split(n, lanes * tile_rows(std::max<int64_t>(1, 2 * side / lanes), vectors));
  std::ranges::replace(order, m, m_tile);
  std::ranges::replace(order, n, n_tile);
  std::vector<int> inside = order;
  inside.insert(inside.end(), {row, column});
  builder.reorder(inside);
  builder.unroll(row);
  if (lanes > 1) {
    const auto [vector, lane] = builder.split(column, lanes);
    builder.unroll(vector);
    builder.vectorize(lane);
  } else {
    builder.unroll(column);
  }
  const auto [grid, thread] = builder.split(builder.fuse_all(order), builder.register_threads());
  if (!builder.bind(thread, Bind::kBlockX)) return false;
  bind_grid(builder, grid, 1);
  return true;
}

}  // namespace

bool schedule_register_tiles(ScheduleBuilder& builder, int axis) {
  const auto nest = std::ranges::find(builder.kernel.body, axis, &Statement::axis);
  const auto place = static_cast<size_t>(nest - builder.kernel.body.begin());
  const std::optional<Contraction> found = find_contraction(builder, *nest);
  if (!found || builder.placed(Bind::kBlockX) != 0) return false;
  const int64_t side = side_of_tile(builder, *found);
  return builder.attempt(
      [&](ScheduleBuilder& trial) { return with_register_tile(trial, place, side); });
}

}  // namespace tenon
