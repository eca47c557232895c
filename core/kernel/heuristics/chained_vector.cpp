// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A maximum of products, and the sums that follow it, on processors with vector registers: softmax
// of a product of matrices, and its product with a third. A block of queries is computed at a time,
// its keys block by block. Lanes run along the queries for the scores and all that is done to them,
// and along the values for the second product: the other operand is broadcast, so that of all that
// is read only the queries are packed.
#include <algorithm>
#include <bit>
#include <span>

#include "core/kernel/heuristics/chained.hpp"

namespace tenon {
namespace {

/// Queries of a block, and keys: a block of keys and one of values stay in the nearest cache beside
/// what is computed of them.
constexpr int64_t kQueries = 64, kKeys = 64;

/// The largest block of up to `most` that leaves nothing over, in multiples of `unit`; else `most`.
int64_t block_of(const Expr& extent, int64_t most, int64_t unit) {
  for (int64_t block = most; block >= std::max(unit, most / 2); block -= unit)
    if (extent.divisible_by(block)) return block;
  if (!extent.is_const() || extent.value() >= most) return most;
  return (extent.value() + unit - 1) / unit * unit;
}

class Recipe {
 public:
  Recipe(ScheduleBuilder& builder, int64_t lanes) : builder_(builder), lanes_(lanes) {}

  void run(const Chained& found, int tiles) {
    const std::vector<int> around = nests(builder_.loop(tiles).body);
    const auto blocks = std::ranges::find_if(
        around, [&](int a) { return builder_.kernel.axes[a].kind == AxisKind::kOrdered; });
    for (const int a : around)
      if (a != *blocks) ends(a);
    // Scores, maxima, powers, and then the sums with loops of their own.
    const std::vector<int> inside = nests(builder_.loop(*blocks).body);
    scores(inside[0]);
    lanes(inside[1], 4);
    lanes(inside[2], 4);
    for (const int a : std::span(inside).subspan(3)) sums(a);
    builder_.stage(found.query_buffer, tiles);
  }

 private:
  /// (loop, copy, lane) of an axis; copies are unrolled.
  int lanes(int axis, int64_t copies) {
    const auto size = static_cast<uint64_t>(builder_.size(axis));
    const int64_t lanes = std::min(lanes_, static_cast<int64_t>(std::bit_ceil(size)));
    while (copies > 1 && !builder_.extent(axis).divisible_by(lanes * copies)) copies /= 2;
    const auto [outer, inner] = builder_.split(axis, lanes * copies);
    if (copies == 1) {
      builder_.vectorize(inner);
      return outer;
    }
    const auto [copy, lane] = builder_.split(inner, lanes);
    builder_.unroll(copy);
    builder_.vectorize(lane);
    return outer;
  }

  /// The largest power of two up to `most` that divides the axis.
  int64_t tile(int axis, int64_t most) {
    int64_t rows = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(most)));
    while (rows > 1 && !builder_.extent(axis).divisible_by(rows)) rows /= 2;
    return rows;
  }

  int64_t registers() const {
    return builder_.caps.vector_registers ? builder_.caps.vector_registers : 16;
  }

  void scores(int queries) {
    const std::vector<int> axes = builder_.chain(builder_.loop(queries));
    const int keys = axes.back();
    lanes(queries, 2);
    builder_.unroll(builder_.split(keys, tile(keys, registers() / 4)).second);
  }

  /// Before and after the blocks: stores along the innermost loops.
  void ends(int queries) {
    const int last = builder_.chain(builder_.loop(queries)).back();
    const std::vector<int> own = nests(builder_.loop(last).body);
    if (own.empty()) lanes(last, 1);
    for (const int a : own) lanes(builder_.chain(builder_.loop(a)).back(), 1);
  }

  void sums(int queries) {
    const std::vector<int> axes = builder_.chain(builder_.loop(queries));
    const int values = axes.back(), row = axes[axes.size() - 2];
    const int panels = lanes(values, 2);
    const int tiles = builder_.split(row, tile(row, registers() / 4)).first;
    const int copies = static_cast<int>(builder_.kernel.axes.size()) - 1;
    builder_.unroll(copies);
    builder_.reorder({panels, tiles});
  }

  ScheduleBuilder& builder_;
  int64_t lanes_;
};

}  // namespace

bool chained_on_vectors(ScheduleBuilder& builder, const Chained& found, int axis) {
  const int64_t lanes = builder.lanes(builder.loop(axis));
  if (lanes < 2 || builder.size(found.queries) < lanes) return false;
  std::vector<int> order = found.batch;
  order.push_back(found.queries);
  if (order.size() > 1) builder.reorder(order);
  const int64_t queries = block_of(builder.extent(found.queries), kQueries, lanes);
  const int64_t keys = block_of(builder.extent(found.keys), kKeys, 8);
  const int tiles = builder.split(found.queries, queries).first;
  if (!builder.chain_reductions(found.keys, keys, tiles)) return false;
  Recipe(builder, lanes).run(found, tiles);
  bind_grid(builder, tiles, 1);
  if (!found.batch.empty()) bind_grid(builder, found.batch.front(), 1, Bind::kGridZ);
  return true;
}

}  // namespace tenon
