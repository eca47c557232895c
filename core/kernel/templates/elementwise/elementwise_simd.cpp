// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SIMD processors: elementwise nests, row and column reductions.
#include <algorithm>
#include <bit>

#include "core/kernel/templates/contraction/contraction.hpp"
#include "core/kernel/templates/elementwise/elementwise_simd.hpp"
#include "core/kernel/transforms/cache_reduction.hpp"

namespace tenon {
namespace {

/// Bytes that one workgroup moves: enough to hide its launch, and small enough for a private cache.
constexpr int64_t kItemBytes = 64 << 10;

/// Bytes that one iteration of a loop moves, with the loops inside.
int64_t bytes_inside(const ScheduleBuilder& builder, const Statement& loop) {
  int64_t total = 0;
  bool leaf = true;
  for (const Statement& s : loop.body) {
    if (s.kind == Statement::Kind::kLoop) {
      total += std::min<int64_t>(builder.size(s.axis) * bytes_inside(builder, s), int64_t{1} << 40);
      leaf = false;
    }
    if (s.kind == Statement::Kind::kReduce) total += bytes_inside(builder, s);
  }
  return leaf ? std::max(total, builder.bytes_moved(loop)) : total;
}

/// The loops around the step of a reduction, outermost first.
std::vector<int> reduce_axes(const ScheduleBuilder& builder, const Statement& reduction) {
  std::vector<int> axes;
  for (const Statement& s : reduction.body)
    if (s.kind == Statement::Kind::kLoop) axes = builder.perfect_nest(s);
  return axes;
}

const Statement* find_reduction(const ScheduleBuilder& builder, int id) {
  const Statement* found = nullptr;
  walk(builder.kernel.body, [&](const Statement& s) {
    if (s.kind == Statement::Kind::kReduce && s.id == id) found = &s;
  });
  return found;
}

/// The loops that directly hold stores: candidates for vectors.
void store_loops(const Statement& s, std::vector<int>& out) {
  bool holds_store = false;
  for (const Statement& t : s.body) holds_store |= t.kind == Statement::Kind::kStore;
  if (s.kind == Statement::Kind::kLoop && holds_store) out.push_back(s.axis);
  for (const Statement& t : s.body)
    if (t.kind == Statement::Kind::kLoop) store_loops(t, out);
}

int64_t copies_for(const ScheduleBuilder& builder, const Statement& s) {
  // Kernels with sections have many loops to compile: no unrolling.
  if (!builder.kernel.sections.empty()) return 1;
  // Divisions in indices count too: reshapes and permutes may have hundreds.
  auto values = static_cast<size_t>(divisions(builder.kernel));
  for (const Statement* t : builder.stores(s)) visit(t->value, [&](const KValueRef&) { ++values; });
  return values <= 24 ? 4 : values <= 60 ? 2 : 1;
}

bool is_laned(const ScheduleBuilder& builder, const Statement& s) {
  bool found = false;
  walk(s.body, [&](const Statement& t) {
    found |= t.kind == Statement::Kind::kLoop && builder.kernel.axes[t.axis].bind == Bind::kVector;
  });
  return found;
}

/// Caches what a reduction computes for each element of a row for the passes after it.
void cache_rows(ScheduleBuilder& builder, int outermost) {
  std::vector<int> passes;
  for (const Statement* r : builder.reductions(builder.loop(outermost)))
    if (const std::vector<int> own = reduce_axes(builder, *r); own.size() == 1)
      passes.push_back(own[0]);
  const std::vector<int> reduced = passes;
  store_loops(builder.loop(outermost), passes);
  for (const int r : reduced)
    for (const int later : passes)
      if (later != r) builder.cache_reduction(r, later);
}

/// Row sums whose indices divide the reduce axis, as products with quantised weights. Splits the
/// axis by the divisors, vectorises the innermost part, and takes a few rows at a time, which share
/// the other factor. Returns false if the nest does not match.
bool schedule_divided(ScheduleBuilder& builder, int axis) {
  constexpr int64_t kRows = 4, kCopies = 4;
  const Statement& nest = builder.loop(axis);
  const std::vector<int> axes = builder.perfect_nest(nest);
  const std::vector<const Statement*> reductions = builder.reductions(nest);
  if (reductions.size() != 1 || !builder.kernel.sections.empty()) return false;
  const int id = reductions[0]->id;
  const std::vector<int> own = reduce_axes(builder, *reductions[0]);
  if (own.empty() || builder.kernel.axes[axes.back()].kind != AxisKind::kParallel) return false;
  int k = own.back();
  std::vector<int> around;  // loops over blocks, outermost first
  for (;;) {
    const int64_t divisor = divisor_of(builder, builder.loads(*find_reduction(builder, id)), k);
    if (divisor == 1 || builder.size(k) % divisor != 0) break;
    const auto [blocks, inside] = builder.split(k, divisor);
    around.push_back(blocks);
    k = inside;
  }
  const Statement& r = *find_reduction(builder, id);
  const int64_t lanes = builder.lanes(r);
  if (k == own.back() || lanes < 2 || builder.size(k) % lanes != 0) return false;
  for (const KValueRef& v : builder.loads(r)) {
    const int64_t step = builder.stride(v->index, k).value_or(-1);
    if (step != 0 && step != 1) return false;
  }
  int lane = k;
  if (builder.size(k) > lanes) {
    const auto [copy, inside] = builder.split(k, lanes);
    around.push_back(copy);
    lane = inside;
  }
  builder.vectorize(lane);
  // Unrolls the parts of a block, such as the halves of its bytes, whose code differs.
  for (int64_t copies = 1; around.size() > 1; around.pop_back()) {
    copies *= builder.size(around.back());
    if (copies > kCopies) break;
    builder.unroll(around.back());
  }
  const int64_t rows = builder.choose("rows", kRows, {1, 2, 8});
  const auto [tiles, row] = builder.split(axes.back(), rows);
  if (row != tiles) builder.unroll(row);
  spread(builder, widen(builder, axes.size() > 1 ? axes.front() : tiles));
  return true;
}

/// Reductions of columns and loops down them, as a softmax along the first axis: all of them read
/// along the loop around, of which each lane takes a column. Returns false if the nest is another.
bool schedule_columns(ScheduleBuilder& builder, int axis) {
  const std::vector<int> axes = builder.fuse_contiguous(builder.perfect_nest(builder.loop(axis)));
  const int column = axes.back();
  const Statement& nest = builder.loop(column);
  const std::vector<const Statement*> reductions = builder.reductions(nest);
  std::vector<int> stores;
  store_loops(nest, stores);
  const auto reads_along = [&](const Statement& s, int down) {
    return vector_score(builder, s, column) > std::max(0, vector_score(builder, s, down));
  };
  const bool is_column =
      builder.kernel.axes[column].kind == AxisKind::kParallel && !reductions.empty() &&
      !stores.empty() && !std::ranges::count(stores, column) &&
      std::ranges::all_of(reductions,
                          [&](const Statement* r) {
                            const std::vector<int> own = reduce_axes(builder, *r);
                            return !own.empty() && reads_along(*r, own.back());
                          }) &&
      std::ranges::all_of(stores, [&](int s) { return reads_along(builder.loop(s), s); });
  const int64_t lanes = is_column ? lanes_for(builder, nest, column) : 1;
  if (lanes == 1) return false;
  const int rest = vector_split(builder, column, lanes, builder.choose("copies", 4, {1, 2}));
  spread(builder, widen(builder, axes.size() > 1 ? axes.front() : rest));
  return true;
}

}  // namespace

int64_t lanes_for(const ScheduleBuilder& builder, const Statement& s, int axis) {
  const int64_t full = builder.lanes(s);
  const Expr& extent = builder.extent(axis);
  if (!extent.is_const() || extent.value() >= full) return full;
  if (extent.value() < 4) return 1;
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(extent.value())));
}

int vector_score(const ScheduleBuilder& builder, const Statement& s, int axis) {
  int score = 0;
  const auto access = [&](const Expr& index, int weight) {
    const auto stride = builder.stride(index, axis);
    if (stride == 1) score += 2 * weight;
    if (stride == 0) score += weight;
    if (!stride || *stride > 1 || *stride < 0) score -= 2 * weight;
  };
  for (const KValueRef& v : builder.loads(s)) access(v->index, 1);
  for (const Statement* t : builder.stores(s)) access(t->index, 3);
  return score;
}

int vector_split(ScheduleBuilder& builder, int axis, int64_t lanes, int64_t copies) {
  const Expr extent = builder.extent(axis);
  if (extent.is_const()) copies = std::min(copies, (extent.value() + lanes - 1) / lanes);
  if (lanes == 1) return axis;
  const auto [outer, inner] = builder.split(axis, lanes * copies);
  if (copies == 1) {
    builder.vectorize(inner);
  } else {
    const auto [copy, lane] = builder.split(inner, lanes);
    builder.unroll(copy);
    builder.vectorize(lane);
  }
  return outer;
}

void spread(ScheduleBuilder& builder, int axis) {
  if (builder.kernel.axes[axis].kind != AxisKind::kParallel) return;
  const int64_t inside = std::max<int64_t>(1, bytes_inside(builder, builder.loop(axis)));
  const int64_t bytes = builder.choose("bytes", kItemBytes, {kItemBytes / 4, 4 * kItemBytes});
  const int64_t per_item = std::max<int64_t>(1, bytes / inside);
  bind_grid(builder, axis, per_item);
}

int widen(ScheduleBuilder& builder, int axis) {
  const int64_t wanted = 8 * std::max<int64_t>(1, builder.caps.compute_units);
  for (;;) {
    const Statement& loop = builder.loop(axis);
    const bool parallel = builder.kernel.axes[axis].kind == AxisKind::kParallel;
    if (!parallel || builder.size(axis) >= wanted || loop.body.size() != 1) return axis;
    const Statement& inner = loop.body[0];
    if (inner.kind != Statement::Kind::kLoop || is_jam(builder.kernel.axes[inner.axis].bind) ||
        builder.kernel.axes[inner.axis].kind != AxisKind::kParallel)
      return axis;
    const int fused = builder.fuse(axis, inner.axis);
    if (fused == axis) return axis;
    axis = fused;
  }
}

void schedule_reduction(ScheduleBuilder& builder, int id) {
  const Statement* reduction = find_reduction(builder, id);
  const std::vector<int> axes = reduce_axes(builder, *reduction);
  if (axes.empty() || is_laned(builder, *reduction)) return;
  const int last = axes.back();
  if (vector_score(builder, *reduction, last) < 0) return;
  // Nested reductions have their own lanes.
  for (const Statement* inner : builder.reductions(*reduction))
    if (inner != reduction) return;
  vector_split(builder, last, lanes_for(builder, *reduction, last), 4);
}

void schedule_vector_nest(ScheduleBuilder& builder, int axis) {
  if (builder.attempt([&](ScheduleBuilder& b) { return schedule_divided(b, axis); })) return;
  if (builder.attempt([&](ScheduleBuilder& b) { return schedule_columns(b, axis); })) return;
  std::vector<int> axes = builder.fuse_contiguous(builder.perfect_nest(builder.loop(axis)));
  if (const int outermost = schedule_transpose_simd(builder, axes); outermost >= 0)
    return spread(builder, widen(builder, outermost));
  int outermost = axes.front();
  cache_rows(builder, outermost);
  std::vector<int> stores;
  store_loops(builder.loop(outermost), stores);
  std::vector<int> reductions;
  for (const Statement* r : builder.reductions(builder.loop(outermost)))
    reductions.push_back(r->id);

  for (const int id : reductions) {
    const Statement* r = find_reduction(builder, id);
    const std::vector<int> own = reduce_axes(builder, *r);
    if (own.empty()) continue;
    // Lanes of a column sum run along the columns: the store's loop is vectorised below.
    const int along = vector_score(builder, *r, own.back());
    bool across = false;
    for (const int s : stores)
      across |= builder.loop(s).body.size() > 1 && vector_score(builder, *r, s) > along;
    if (!across) schedule_reduction(builder, id);
  }
  for (const int s : stores) {
    const Statement& loop = builder.loop(s);
    if (builder.kernel.axes[s].kind != AxisKind::kParallel || is_laned(builder, loop)) continue;
    if (stores_dependent_value(builder.kernel, s)) continue;
    if (vector_score(builder, loop, s) < 0) continue;
    const int64_t copies = builder.choose("copies", copies_for(builder, loop), {1, 2, 4});
    const int64_t lanes = lanes_for(builder, loop, s);
    const int rest = vector_split(builder, s, lanes, copies);
    if (s == outermost) outermost = rest;
  }
  spread(builder, widen(builder, outermost));
}

void schedule_plain_nest(ScheduleBuilder& builder, int axis) {
  const std::vector<int> axes = builder.fuse_contiguous(builder.perfect_nest(builder.loop(axis)));
  spread(builder, widen(builder, axes.front()));
}

}  // namespace tenon
