// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Flash attention on devices with workgroups, without matrix atoms. A thread has a few queries,
// loops over the keys and holds its sums. Threads need no barriers, and each skips the blocks that
// are masked for its queries.
#include <algorithm>

#include "core/kernel/templates/attention/attention.hpp"
#include "core/kernel/tree/loop_trips.hpp"

namespace tenon {
namespace {

constexpr int64_t kAttentionThreads = 64;  ///< of a workgroup
constexpr int64_t kCopies = 256;           ///< unrolled, so that sums stay in a GPU's registers

/// Queries of a thread and keys of a block, whose scores are in registers. Longer blocks have fewer
/// loop iterations, for devices that limit them.
struct AttentionTile {
  int64_t queries, keys;
};
constexpr AttentionTile kTiles[] = {{2, 4}, {2, 8}, {2, 16}};

class ThreadAttention {
 public:
  ThreadAttention(ScheduleBuilder& builder, const AttentionTile& tile)
      : builder_(builder), tile_(tile) {}

  void run(int thread) {
    for (const int a : nests(builder_.loop(thread).body)) {
      if (builder_.kernel.axes[a].kind == AxisKind::kOrdered)
        blocks(a);
      else
        ends(a);
    }
  }

 private:
  /// The loop over blocks: scores, maxima, powers, then the sums with own loops.
  void blocks(int axis) {
    const std::vector<int> inside = nests(builder_.loop(axis).body);
    scores(inside[0]);
    for (const int a : {inside[1], inside[2]}) unroll_all(a);
    for (size_t i = 3; i < inside.size(); ++i) sums(inside[i]);
  }

  /// Unrolls a loop nest and the reductions in it.
  void unroll_all(int axis) {
    const std::vector<int> axes = builder_.perfect_nest(builder_.loop(axis));
    for (const Statement& s : std::vector<Statement>(builder_.loop(axes.back()).body))
      if (s.kind == Statement::Kind::kReduce) builder_.unroll(s.body[0].axis);
    for (const int a : axes) builder_.unroll(a);
  }

  void scores(int queries) {
    const std::vector<int> axes = builder_.perfect_nest(builder_.loop(queries));
    for (const Statement& s : std::vector<Statement>(builder_.loop(axes.back()).body)) {
      if (s.kind != Statement::Kind::kReduce) continue;
      const int along = builder_.perfect_nest(s.body[0]).back();
      lanes(along, builder_.short_vector_of(builder_.loads(s), along));
    }
    for (const int a : axes) builder_.unroll(a);
  }

  /// The sums of all queries together, so that values are read once.
  void sums(int queries) {
    const std::vector<int> axes = builder_.perfect_nest(builder_.loop(queries));
    const int values = axes.back();
    builder_.unroll(builder_.loop(values).body[0].body[0].axis);
    const int panel = along_values(values, tile_.queries * tile_.keys);
    if (panel >= 0 && axes.size() == 2) builder_.reorder({panel, queries});
    builder_.unroll(queries);
  }

  /// Parts before and after the blocks.
  void ends(int queries) {
    const std::vector<int> axes = builder_.perfect_nest(builder_.loop(queries));
    if (axes.size() > 1) {
      along_values(axes.back(), tile_.queries);
    } else {
      for (const int a : nests(builder_.loop(queries).body))
        along_values(builder_.perfect_nest(builder_.loop(a)).back(), tile_.queries);
    }
    builder_.unroll(queries);
  }

  /// Vectorises a loop over values. Returns the loop over vectors, or -1 if it is unrolled too.
  int along_values(int values, int64_t copies) {
    const int panel = lanes(values, builder_.short_vector(builder_.loop(values), values));
    if (builder_.kind() == DeviceKind::kSpmd || !builder_.extent(panel).is_const() ||
        builder_.size(panel) * copies > kCopies)
      return panel;
    builder_.unroll(panel);
    return -1;
  }

  int lanes(int axis, int64_t count) {
    if (count == 1) return axis;
    const auto [rest, lane] = builder_.split(axis, count);
    builder_.vectorize(lane);
    return rest;
  }

  ScheduleBuilder& builder_;
  const AttentionTile& tile_;
};

int64_t threads_of(const ScheduleBuilder& builder) {
  if (builder.kind() == DeviceKind::kSpmd) return builder.register_threads();
  if (const int64_t there = builder.placed(Bind::kBlockX)) return there;
  return builder.threads_on_x(builder.choose("threads", kAttentionThreads, {32, 128}));
}

bool with_attention_tile(ScheduleBuilder& builder, const AttentionAxes& found,
                         const AttentionTile& tile) {
  const int queries = queries_of(builder, found, tile.queries);
  if (queries < 0) return false;
  const std::vector<int> batch = loops_around(found, queries);
  std::vector<int> order = batch;
  order.push_back(queries);
  if (order.size() > 1) builder.reorder(order);
  const auto [tiles, own] = builder.split(queries, threads_of(builder) * tile.queries);
  const int thread = builder.split(own, tile.queries).first;
  if (!builder.online_softmax({.reduce = found.keys, .factor = tile.keys, .at = thread}))
    return false;
  ThreadAttention(builder, tile).run(thread);
  builder.bind(thread, Bind::kBlockX);
  bind_workgroups(builder, tiles, batch);
  const uint32_t limit = builder.caps.max_loop_trips;
  return limit == 0 || loop_trips(builder.kernel, limit).max() <= limit;
}

}  // namespace

bool attention_on_threads(ScheduleBuilder& builder, const AttentionAxes& found) {
  // With matrix units three kernels are faster than one without.
  if (builder.kind() != DeviceKind::kSpmd && !builder.caps.atoms.empty()) return false;
  return std::ranges::any_of(kTiles, [&](const AttentionTile& tile) {
    return builder.attempt(
        [&](ScheduleBuilder& trial) { return with_attention_tile(trial, found, tile); });
  });
}

}  // namespace tenon
