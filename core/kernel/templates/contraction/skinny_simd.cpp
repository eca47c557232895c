// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Skinny products and column sums of large matrices on SIMD processors. Each element is used a few
// times, so memory bandwidth dominates: a few rows of the matrix at a time are read in long runs,
// which the hardware prefetches, while a tile holds the sums. Packing would read the matrix twice.
#include <algorithm>

#include "core/kernel/templates/elementwise/elementwise_simd.hpp"
#include "core/kernel/templates/schedule_builder.hpp"

namespace tenon {
namespace {

constexpr int64_t kMostSkinnyRows = 64;
/// Most register tiles of rows: with more uses of each element, packing pays.
constexpr int64_t kMostTiles = 8;
/// Rows of the matrix at a time: streams of the hardware prefetcher, and steps of a sum in
/// registers.
constexpr int64_t kSteps = 16;

struct Columns {
  std::vector<int> batch, rows;  ///< axes that the matrix depends on, and other axes
  int n = -1, k = -1;
  int64_t row_count = 1, bytes = 0;  ///< number of rows; bytes of an element of the matrix
  int64_t matrices = 1;
};

/// True for a load that is contiguous along n and strided along k.
bool is_matrix_load(const ScheduleBuilder& builder, const KValue& load, int n, int k,
                    int64_t lanes) {
  const auto down = builder.stride(load.index, k);
  return builder.stride(load.index, n) == 1 && down && *down >= lanes;
}

std::optional<Columns> find_columns(ScheduleBuilder& builder, int axis) {
  const Statement& nest = builder.loop(axis);
  const std::vector<int> axes = builder.perfect_nest(nest);
  const std::vector<const Statement*> reductions = builder.reductions(nest);
  if (reductions.size() != 1) return std::nullopt;
  const Statement& r = *reductions[0];
  const std::vector<Statement>& body = builder.loop(axes.back()).body;
  if (r.body.size() != 1 || &body.front() != &r ||
      !std::all_of(body.begin() + 1, body.end(),
                   [](const Statement& s) { return s.kind == Statement::Kind::kStore; }))
    return std::nullopt;
  const std::vector<int> reduce = builder.perfect_nest(r.body[0]);
  if (reduce.size() != 1) return std::nullopt;
  Columns out;
  out.n = axes.back();
  out.k = reduce[0];
  for (const Statement* s : builder.stores(nest))
    if (builder.stride(s->index, out.n) != 1) return std::nullopt;
  std::vector<KValueRef> matrices;
  for (const KValueRef& v : builder.loads(r)) {
    const bool whole = is_matrix_load(builder, *v, out.n, out.k, builder.lanes(nest));
    if (whole) matrices.push_back(v);
    if (!whole && builder.stride(v->index, out.n) != 0) return std::nullopt;
  }
  if (matrices.empty() || builder.size(out.k) < 4 * kSteps) return std::nullopt;
  out.matrices = static_cast<int64_t>(matrices.size());
  const KValueRef matrix = matrices[0];
  for (const int a : axes) {
    if (builder.kernel.axes[a].kind != AxisKind::kParallel) return std::nullopt;
    const bool is_row = builder.stride(matrix->index, a) == 0;
    for (const KValueRef& other : matrices)
      if ((builder.stride(other->index, a) == 0) != is_row) return std::nullopt;
    if (is_row) out.row_count *= builder.size(a);
    if (out.row_count > kMostSkinnyRows) return std::nullopt;
    if (a != out.n) (is_row ? out.rows : out.batch).push_back(a);
  }
  out.bytes = static_cast<int64_t>(dtype_size(matrix->dtype));
  // A matrix that fits the private cache is packed by another template.
  if (builder.size(out.n) * builder.size(out.k) * out.bytes <= private_cache(builder))
    return std::nullopt;
  return out;
}

}  // namespace

bool schedule_skinny(ScheduleBuilder& builder, int axis) {
  const std::optional<Columns> found = find_columns(builder, axis);
  if (!found) return false;
  const auto& [batch, rows, n, k, row_count, bytes, matrices] = *found;
  const int64_t lanes = builder.lanes(builder.loop(axis));
  const auto [height, vectors] = best_tile(builder, rows.empty() ? 1 : builder.size(rows.back()),
                                           (builder.size(n) + lanes - 1) / lanes);
  if (row_count > kMostTiles * height) return false;
  // Two parts a core, each at least a page unless that would idle cores.
  int64_t nests = 1;
  for (const int a : batch) nests *= builder.size(a);
  const int64_t cores = std::max<int64_t>(1, builder.caps.compute_units);
  const int64_t parts = std::max<int64_t>(1, 2 * cores / nests);
  const int64_t part = (builder.size(n) + parts - 1) / parts;
  const int64_t run = std::min(kPageBytes / bytes, builder.size(n) * nests / cores);
  const int64_t block = (std::max(part, run) + lanes - 1) / lanes * lanes;

  const auto [blocks, columns] = builder.split(n, block);
  const auto [tiles, inside] = builder.split(columns, lanes * vectors);
  const auto [copies, lane] = builder.split(inside, lanes);
  builder.unroll(copies);
  builder.vectorize(lane);
  std::vector<int> order = batch;
  order.insert(order.end(), {blocks, tiles});
  order.insert(order.end(), rows.begin(), rows.end());
  if (!rows.empty()) {
    const auto [row_tiles, row_copies] = builder.split(rows.back(), height);
    builder.unroll(row_copies);
    order.back() = row_tiles;
    if (row_copies != row_tiles) order.push_back(row_copies);
  }
  order.push_back(copies);
  builder.reorder(order);
  const int64_t steps = std::max<int64_t>(1, kSteps / matrices);
  builder.compute_at(builder.split(k, builder.choose("steps", steps, {8, 4})).second, blocks);
  bind_grid(builder, blocks, 1);
  if (!batch.empty()) bind_grid(builder, batch.front(), 1, Bind::kGridZ);
  return true;
}

}  // namespace tenon
