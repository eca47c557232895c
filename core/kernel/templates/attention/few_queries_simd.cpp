// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention with few queries and many keys, on SIMD processors. Keys and values are read once, in
// memory order: a key serves all queries of its group at once. Lanes run along the terms of a
// score, then along the keys of a block for maxima and powers, then along the values for the sums.
#include <algorithm>
#include <span>

#include "core/kernel/templates/attention/attention.hpp"

namespace tenon {
namespace {

/// Scores of a block, which stay in the nearest cache, and bounds of its keys: a block reads each
/// of the two streams for a while.
constexpr int64_t kScores = 2048, kLeastKeys = 64, kMostKeys = 512;
/// Beyond so many queries a matrix product is faster.
constexpr int64_t kMostFewQueries = 64;

class FewQueries {
 public:
  FewQueries(ScheduleBuilder& builder, int64_t lanes)
      : builder_(builder),
        lanes_(lanes),
        sums_(builder.caps.vector_registers ? builder.caps.vector_registers / 2 : 8) {}

  void run(int at) {
    const AttentionParts parts = attention_parts(builder_, at);
    for (const int a : parts.ends) schedule_attention_end(builder_, a, lanes_);
    // A step may move statements, so parts are looked up again.
    for (size_t i = 0; i < parts.block_parts.size(); ++i) {
      const Statement& part = *attention_parts(builder_, at).block_parts[i];
      if (i == 0)
        scores(part);
      else if (i < 3)
        block(part);
      else
        values(part);
    }
  }

 private:
  std::vector<int> loops(const Statement& part) const {
    return part.kind == Statement::Kind::kLoop ? builder_.perfect_nest(part) : std::vector<int>{};
  }

  /// Unrolls up to `most` iterations that divide an axis. Returns the loop around them and their
  /// number.
  std::pair<int, int64_t> copies(int axis, int64_t most) {
    const Expr& extent = builder_.extent(axis);
    int64_t count = std::max<int64_t>(1, std::min(most, builder_.size(axis)));
    while (!extent.divisible_by(count)) --count;
    if (count == 1) return {axis, 1};
    const auto [outer, inner] = builder_.split(axis, count);
    builder_.unroll(inner);
    return {outer, count};
  }

  void scores(const Statement& part) {
    const std::vector<int> axes = loops(part);
    const Statement* product = reduction_in(part);
    const int size = builder_.perfect_nest(product->body[0]).back();
    // Whole rows in sequence, for the hardware prefetcher: a sum for each vector of a row.
    const int64_t vectors = (builder_.size(size) + lanes_ - 1) / lanes_;
    int64_t rows = 1;
    for (const int a : std::span(axes).first(axes.size() - 1)) rows *= builder_.size(a);
    int64_t room = sums_;
    const int around_row =
        vectors_of(builder_, size, lanes_, std::clamp<int64_t>(room / rows, 1, 8));
    room /= std::max<int64_t>(1, vectors / std::max<int64_t>(1, builder_.size(around_row)));
    std::vector<int> order;
    for (size_t i = axes.size() - 1; i-- > 0;) {
      const auto [around, count] = copies(axes[i], std::max<int64_t>(1, room));
      room /= count;
      order.insert(order.begin(), around);
    }
    order.insert(order.begin(), copies(axes.back(), std::clamp<int64_t>(room, 1, 8)).first);
    if (order.size() > 1) builder_.reorder(order);
  }

  /// A pass over the scores of a block.
  void block(const Statement& part) {
    if (const Statement* pass = reduction_in(part))
      vectors_of(builder_, pass->body[0].axis, lanes_, 4);
    else
      vectors_of(builder_, loops(part).back(), lanes_, 4);
  }

  void values(const Statement& part) {
    const std::vector<int> axes = loops(part);
    const int keys = reduction_in(part)->body[0].axis, columns = axes.back();
    const int64_t all = (builder_.size(columns) + lanes_ - 1) / lanes_;
    int64_t room = sums_;
    std::vector<int> order{vectors_of(builder_, columns, lanes_, std::min<int64_t>(8, sums_))};
    room /= std::max<int64_t>(1, all / std::max<int64_t>(1, builder_.size(order[0])));
    for (size_t i = axes.size() - 1; i-- > 0;) {
      const auto [around, count] = copies(axes[i], std::max<int64_t>(1, room));
      room /= count;
      order.insert(order.begin() + 1, around);
    }
    if (order.size() > 1) builder_.reorder(order);
    // Enough sums to hide the latency of multiply-adds.
    if (room > 1) copies(keys, std::min<int64_t>(4, room));
  }

  ScheduleBuilder& builder_;
  int64_t lanes_, sums_;  ///< sums_: in registers
};

}  // namespace

bool schedule_few_queries(ScheduleBuilder& builder, const AttentionAxes& found, int64_t lanes) {
  int64_t rows = 1;
  for (const int a : found.rows) {
    if (!builder.extent(a).is_const()) return false;
    rows *= builder.size(a);
  }
  if (rows > kMostFewQueries) return false;
  std::vector<int> order = found.batch;
  order.insert(order.end(), found.rows.begin(), found.rows.end());
  if (order.size() > 1) builder.reorder(order);
  // Without a batch the loop around the rows has one iteration.
  const int at = found.batch.empty()
                     ? builder.split(found.rows.front(), builder.size(found.rows.front())).first
                     : found.batch.back();
  const int64_t most = std::clamp(floor_pow2(kScores / rows), kLeastKeys, kMostKeys);
  const int64_t keys =
      block_of(builder.extent(found.keys), builder.choose("keys", most, {64, 128}), lanes);
  if (!builder.online_softmax(
          {.reduce = found.keys, .factor = keys, .at = at, .inner = found.keys}))
    return false;
  FewQueries(builder, lanes).run(at);
  bind_grid(builder, at, 1);
  if (found.batch.size() > 1) bind_grid(builder, found.batch.front(), 1, Bind::kGridZ);
  return true;
}

}  // namespace tenon
