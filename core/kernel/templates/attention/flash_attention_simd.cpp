// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Flash attention on SIMD processors: blocks of queries by blocks of keys. Lanes run along the
// queries for scores and weights, and along the values for the second product. The other operand is
// broadcast, so only the queries are packed.
#include <algorithm>
#include <bit>
#include <span>

#include "core/kernel/templates/attention/attention.hpp"

namespace tenon {
namespace {

/// Queries and keys of a block: blocks of keys, values and scores stay in the nearest cache.
constexpr int64_t kBlockQueries = 64, kBlockKeys = 64;

class SimdAttention {
 public:
  SimdAttention(ScheduleBuilder& builder, int64_t lanes) : builder_(builder), lanes_(lanes) {}

  void run(int tiles) {
    const AttentionParts parts = attention_parts(builder_, tiles);
    for (const int a : parts.ends) schedule_attention_end(builder_, a, lanes_);
    const std::vector<int> inside = nests(builder_.loop(parts.blocks).body);
    scores(inside[0]);
    vectors_of(builder_, inside[1], lanes_, 4);
    vectors_of(builder_, inside[2], lanes_, 4);
    for (const int a : std::span(inside).subspan(3)) sums(a);
    stage_queries(parts.blocks, tiles);
  }

 private:
  /// Stages the query operand: the factor of the score that does not depend on the key block.
  void stage_queries(int blocks, int tiles) {
    const KernelAxis block = builder_.kernel.axes[blocks];
    for (const KValueRef& load : builder_.loads(*reduction_in(builder_.loop(blocks))))
      if (!depends_on(load, block)) builder_.stage(load, tiles);
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
    const std::vector<int> axes = builder_.perfect_nest(builder_.loop(queries));
    const int keys = axes.back();
    vectors_of(builder_, queries, lanes_, 2);
    builder_.unroll(builder_.split(keys, tile(keys, registers() / 4)).second);
  }

  void sums(int queries) {
    const std::vector<int> axes = builder_.perfect_nest(builder_.loop(queries));
    const int values = axes.back(), row = axes[axes.size() - 2];
    const int panels = vectors_of(builder_, values, lanes_, 2);
    const int tiles = builder_.split(row, tile(row, registers() / 4)).first;
    const int copies = static_cast<int>(builder_.kernel.axes.size()) - 1;
    builder_.unroll(copies);
    builder_.reorder({panels, tiles});
  }

  ScheduleBuilder& builder_;
  int64_t lanes_;
};

bool schedule_queries(ScheduleBuilder& builder, const AttentionAxes& found, int queries,
                      int64_t lanes) {
  std::vector<int> order = loops_around(found, queries);
  order.push_back(queries);
  if (order.size() > 1) builder.reorder(order);
  const int64_t block = block_of(builder.extent(queries), kBlockQueries, lanes);
  const int64_t keys = block_of(builder.extent(found.keys), kBlockKeys, 8);
  const int tiles = builder.split(queries, block).first;
  if (!builder.online_softmax({.reduce = found.keys, .factor = keys, .at = tiles})) return false;
  SimdAttention(builder, lanes).run(tiles);
  bind_grid(builder, tiles, 1);
  if (order.size() > 1) bind_grid(builder, order.front(), 1, Bind::kGridZ);
  return true;
}

}  // namespace

int64_t block_of(const Expr& extent, int64_t most, int64_t unit) {
  for (int64_t block = most; block >= std::max(unit, most / 2); block -= unit)
    if (extent.divisible_by(block)) return block;
  if (!extent.is_const() || extent.value() >= most) return most;
  return (extent.value() + unit - 1) / unit * unit;
}

int vectors_of(ScheduleBuilder& builder, int axis, int64_t lanes, int64_t most) {
  const int64_t width = std::min(lanes, ceil_pow2(builder.size(axis)));
  int64_t copies = most;
  while (copies > 1 && !builder.extent(axis).divisible_by(width * copies)) --copies;
  const auto [outer, inner] = builder.split(axis, width * copies);
  if (copies == 1) {
    builder.vectorize(inner);
    return outer;
  }
  const auto [copy, lane] = builder.split(inner, width);
  builder.unroll(copy);
  builder.vectorize(lane);
  return outer;
}

void schedule_attention_end(ScheduleBuilder& builder, int axis, int64_t lanes) {
  const int last = builder.perfect_nest(builder.loop(axis)).back();
  const std::vector<int> own = nests(builder.loop(last).body);
  if (own.empty()) vectors_of(builder, last, lanes, 1);
  for (const int a : own)
    vectors_of(builder, builder.perfect_nest(builder.loop(a)).back(), lanes, 1);
}

bool attention_on_vectors(ScheduleBuilder& builder, const AttentionAxes& found, int axis) {
  const int64_t lanes = builder.lanes(builder.loop(axis));
  if (lanes < 2) return false;
  const int queries = queries_of(builder, found, lanes);
  return queries >= 0 ? schedule_queries(builder, found, queries, lanes)
                      : schedule_few_queries(builder, found, lanes);
}

}  // namespace tenon
