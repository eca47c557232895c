// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Flash attention on devices with matrix atoms. A workgroup has a tile of queries and loops over
// blocks of keys. Atoms compute the scores of a block, threads turn them into weights in shared
// memory or in fragments, and atoms multiply these by the values. The totals stay in fragments.
#include <algorithm>
#include <iterator>

#include "core/kernel/templates/attention/attention.hpp"
#include "core/kernel/templates/cooperative_loads.hpp"
#include "core/kernel/tree/matrix.hpp"
#include "core/kernel/tree/register_tiles.hpp"
#include "core/kernel/tree/shared_tiles.hpp"

namespace tenon {
namespace {

constexpr int64_t kMostQueries = 128, kLeastQueries = 32;  ///< of a workgroup
constexpr int64_t kKeysOfBlock = 64;
constexpr int64_t kScoresPad =
    4;  ///< f32 elements after each row of scores, against bank conflicts
constexpr int64_t kPartials = 2048;  ///< bytes for partial sums of the threads of a row
constexpr int64_t kMostStages = 2;   ///< of multi-buffered keys and values
constexpr int64_t kMostSums = 144;   ///< accumulators of a thread
constexpr int64_t kStepsAtOnce = 8;  ///< unrolled, of a row's maximum and sum

/// The device's atoms for the product of a reduction.
std::vector<MatrixAtom> atoms_for_scores(const ScheduleBuilder& builder,
                                         const Statement& reduction) {
  const ReduceState& sum = reduction.states[0];
  std::vector<MatrixAtom> out;
  if (sum.value->kind != KValueKind::kOp || sum.value->op != Op::MUL) return out;
  std::vector<DType> factors;
  visit(sum.value, [&](const KValueRef& v) {
    if (v->kind == KValueKind::kLoad) factors.push_back(v->dtype);
  });
  const auto fits = [&](const MatrixAtom& atom) {
    return !atom.tiles && factors.size() == 2 && atom.a == factors[0] && atom.b == factors[1] &&
           atom.accumulator == sum.dtype && builder.caps.keeps_promises(atom, sum.precision) &&
           atom.subgroup % atom.m == 0;
  };
  std::ranges::copy_if(builder.caps.atoms, std::back_inserter(out), fits);
  return out;
}

/// The rows of a workgroup: each subgroup has `copies` atoms down.
struct Rows {
  int64_t subgroups, copies;
  bool in_fragments;  ///< scores and weights stay in fragments, whose layout the atom gives
};

class MatrixUnitAttention {
 public:
  MatrixUnitAttention(ScheduleBuilder& builder, const MatrixAtom& atom, const Rows& rows)
      : builder_(builder), atom_(atom), rows_(rows) {
    if (rows.in_fragments)
      threads_ = {atom.subgroup, 1, rows.subgroups, atom.layouts[2]->columns.threads};
    else
      threads_ = {atom.subgroup, atom.subgroup / atom.m, rows.subgroups * atom.m / atom.subgroup};
  }

  bool run(int tiles) {
    const AttentionParts parts = attention_parts(builder_, tiles);
    if (parts.block_parts.size() != 4) return false;
    const Statement *scores = reduction_in(*parts.block_parts[0]),
                    *sums = reduction_in(*parts.block_parts[3]);
    if (!std::ranges::count(atoms_for_scores(builder_, *sums), atom_.id, &MatrixAtom::id))
      return false;
    const int score = scores->id, total = sums->id;
    std::vector<int> nests;
    for (const Statement* s : parts.block_parts) nests.push_back(s->axis);

    const Product product = tile(builder_.perfect_nest(builder_.loop(nests[0])));
    const Product sum = tile(builder_.perfect_nest(builder_.loop(nests[3])));
    if (builder_.refusal()) return false;
    for (const int a : parts.ends) rows_.in_fragments ? end_in_fragments(a) : end(a);
    for (const int a : {nests[1], nests[2]}) rows_.in_fragments ? rows_of_lanes(a) : row_pass(a);
    const KernelAxis row = builder_.kernel.axes[product.m];
    stage(score, tiles, [&](const KValueRef& v) { return depends_on(v, row); });
    stage(score, parts.blocks, [&](const KValueRef& v) { return !depends_on(v, row); });
    stage(total, parts.blocks, [](const KValueRef&) { return true; });
    tensorize(product);
    tensorize(sum);
    multi_buffer_tiles(parts.blocks);
    if (builder_.refusal() || !fits_shared(builder_)) return false;
    if (!rows_.in_fragments) return true;
    const std::optional<Kernel> placed = with_register_tiles(builder_.kernel, builder_.caps);
    return placed && !has_shared_tiles(*placed);
  }

 private:
  struct Product {
    int m = -1, n = -1, k = -1, steps = -1;
  };

  /// Tiles the nest of a product: rows for each subgroup, columns in atoms.
  Product tile(const std::vector<int>& axes) {
    if (axes.size() != 2 || !builder_.extent(axes[1]).divisible_by(atom_.n)) {
      builder_.give_up("rows and columns of whole atoms");
      return {};
    }
    const auto [group, m] = builder_.split(axes[0], atom_.m);
    const auto [copy, n] = builder_.split(axes[1], atom_.n);
    // A loop of one iteration is not unrolled, so it must not be between the atom's axes.
    if (builder_.size(copy) == 1) builder_.reorder({group, copy, m, n});
    sums_ += rows_.copies * atom_.c_lanes * builder_.size(copy);
    if (rows_.in_fragments && sums_ > kMostSums) builder_.give_up("sums that registers hold");
    if (rows_.in_fragments) {
      const auto [z, below] = builder_.split(group, rows_.copies);
      builder_.bind(z, Bind::kBlockZ);
      builder_.unroll(below);
    } else {
      const auto [z, y] = builder_.split(group, threads_.y);
      builder_.bind(z, Bind::kBlockZ);
      builder_.bind(y, Bind::kBlockY);
    }
    for (const int a : {m, copy, n}) builder_.unroll(a);
    const Statement* reduction = reduction_in(builder_.loop(n));
    const auto [steps, k] =
        builder_.split(builder_.perfect_nest(reduction->body[0]).back(), atom_.k);
    return {m, n, k, steps};
  }

  void tensorize(const Product& product) {
    builder_.tensorize(product.m, product.n, product.k, atom_.subgroup, threads_.across);
    if (rows_.in_fragments) builder_.unroll(product.steps);
  }

  /// Splits an axis by the layout of a fragment. Unrolls the lanes and returns the threads' part.
  int thread_digit(int axis, const FragmentDigits& digits, bool in_vectors = false) {
    const auto [more, low] = builder_.split(axis, int64_t{digits.lanes} * digits.threads);
    const auto [thread, lane] = builder_.split(low, digits.lanes);
    builder_.unroll(more);
    if (in_vectors && digits.lanes > 1)
      builder_.vectorize(lane);
    else
      builder_.unroll(lane);
    return thread;
  }
  void bind_rows(int rows) {
    const auto [z, group] = builder_.split(rows, rows_.copies * atom_.m);
    builder_.bind(z, Bind::kBlockZ);
    builder_.bind(thread_digit(group, atom_.layouts[2]->rows), Bind::kBlockY);
  }

  /// The loop along each row, and whether it is a reduction's.
  struct Along {
    int axis;
    bool is_sum;
  };
  Along along_rows(int rows) {
    const Statement* reduction = reduction_in(builder_.loop(rows));
    if (reduction) return {reduction->body[0].axis, true};
    return {builder_.perfect_nest(builder_.loop(rows)).back(), false};
  }

  /// A pass over each row by the threads whose fragments hold the row.
  void rows_of_lanes(int rows) {
    if (builder_.refusal()) return;
    const auto [along, is_sum] = along_rows(rows);
    bind_rows(rows);
    const int thread = thread_digit(along, atom_.layouts[2]->columns);
    if (is_sum)
      builder_.group(thread, threads_.across);
    else
      builder_.bind(thread, Bind::kBlockX);
  }

  void end_in_fragments(int rows) {
    if (builder_.refusal()) return;
    const std::vector<int> axes = builder_.perfect_nest(builder_.loop(rows));
    bind_rows(axes[0]);
    if (axes.size() > 1)
      builder_.bind(thread_digit(axes.back(), atom_.layouts[2]->columns, true), Bind::kBlockX);
  }

  /// A pass over each row in shared memory, with several threads a row.
  void row_pass(int rows) {
    if (builder_.refusal()) return;
    const auto [along, is_sum] = along_rows(rows);
    const auto [z, x] = builder_.split(rows, threads_.x);
    builder_.bind(z, Bind::kBlockZ);
    builder_.bind(x, Bind::kBlockX);
    int steps = along;
    if (is_sum) {
      steps = builder_.group(along, threads_.y).first;
    } else {
      const auto [rest, y] = builder_.split(along, threads_.y);
      builder_.bind(y, Bind::kBlockY);
      steps = rest;
    }
    builder_.unroll(builder_.split(steps, kStepsAtOnce).second);
  }

  /// Parts before and after the blocks.
  void end(int rows) {
    if (builder_.refusal()) return;
    const std::vector<int> axes = builder_.perfect_nest(builder_.loop(rows));
    if (axes.size() == 1) {
      const auto [z, x] = builder_.split(rows, threads_.x);
      builder_.bind(z, Bind::kBlockZ);
      builder_.bind(x, Bind::kBlockX);
      return;
    }
    spread_over_block(builder_, axes, threads_,
                      builder_.short_vector(builder_.loop(axes.front()), axes.back()), true);
  }

  /// Stages the load from global memory in a reduction that `is_it` accepts.
  template <class IsIt>
  void stage(int reduction, int at, IsIt is_it) {
    KValueRef load;
    walk(std::as_const(builder_.kernel).body, [&](const Statement& s) {
      if (s.kind != Statement::Kind::kReduce || s.id != reduction) return;
      for (const KValueRef& v : builder_.loads(s))
        if (builder_.kernel.buffers[v->buffer].space == BufferSpace::kGlobal && is_it(v)) load = v;
    });
    if (builder_.refusal() || !load) return builder_.give_up("operands from global memory");
    const int64_t piece = std::max<int64_t>(1, 16 / static_cast<int64_t>(dtype_size(load->dtype)));
    if (!builder_.stage(load, at, {}, piece))
      return builder_.give_up("operands that can be staged");
    const std::vector<int> axes = copy_loops(builder_);
    spread_over_block(builder_, axes, threads_,
                      builder_.short_vector(builder_.loop(axes.front()), axes.back()), true);
  }

  void multi_buffer_tiles(int blocks) {
    if (builder_.refusal() || !builder_.caps.copies_async()) return;
    builder_.attempt([&](ScheduleBuilder& trial) {
      return trial.multi_buffer(blocks, kMostStages) && fits_shared(trial);
    });
  }

  ScheduleBuilder& builder_;
  const MatrixAtom& atom_;
  const Rows rows_;
  Threads threads_;
  int64_t sums_ = 0;  ///< accumulators of a thread, of both products
};

/// Number of workgroups with `rows` rows each.
int64_t count_workgroups(const ScheduleBuilder& builder, const AttentionAxes& found, int64_t rows) {
  const int queries = queries_of(builder, found, 1);
  int64_t count = 1;
  for (const int a : loops_around(found, queries)) count *= builder.size(a);
  return queries < 0 ? count : count * ((builder.size(queries) + rows - 1) / rows);
}

/// True if consecutive threads hold a row of scores, and the next threads the next row.
bool has_rows_in_threads(const MatrixAtom& atom) {
  if (!atom.layouts[0] || !atom.layouts[2]) return false;
  const AtomLayout& sums = *atom.layouts[2];
  return sums.columns.thread_step == 1 && sums.rows.thread_step == sums.columns.threads &&
         sums.rows.threads * sums.columns.threads == atom.subgroup;
}

bool with_rows(ScheduleBuilder& builder, const AttentionAxes& found, const MatrixAtom& atom,
               const Rows& of) {
  if (of.in_fragments ? !has_rows_in_threads(atom) || of.subgroups < 2 : of.copies > 1)
    return false;
  const int64_t rows = of.subgroups * of.copies * atom.m;
  const int queries = queries_of(builder, found, rows / 2);
  if (queries < 0 || (!of.in_fragments && rows % atom.subgroup != 0)) return false;
  const std::vector<int> batch = loops_around(found, queries);
  std::vector<int> order = batch;
  order.push_back(queries);
  if (order.size() > 1) builder.reorder(order);
  const int tiles = builder.split(queries, rows).first;
  if (!builder.online_softmax({.reduce = found.keys,
                               .factor = kKeysOfBlock,
                               .at = tiles,
                               .pad = kScoresPad,
                               .sums = true}) ||
      !builder.cooperative_load(tiles))
    return false;
  if (!MatrixUnitAttention(builder, atom, of).run(tiles)) return false;
  bind_workgroups(builder, tiles, batch);
  return !builder.refusal();
}

}  // namespace

bool attention_on_matrix_units(ScheduleBuilder& builder, const AttentionAxes& found) {
  if (builder.kind() == DeviceKind::kSpmd || !builder.has_barriers() ||
      !builder.caps.has(Op::MATRIX_MULTIPLY) || builder.size(found.keys) < kKeysOfBlock / 2)
    return false;
  const Statement* scores = reduction_in(builder.loop(found.keys));
  const std::vector<MatrixAtom> atoms = atoms_for_scores(builder, *scores);
  const int64_t units = std::max<int64_t>(1, builder.caps.compute_units);
  int64_t most = kMostQueries;
  while (most > kLeastQueries && count_workgroups(builder, found, most) < units) most /= 2;
  // Two workgroups a unit hide each other's latency, if shared memory holds both.
  for (const bool in_fragments : {true, false})
    for (const int64_t workgroups : {2, 1})
      for (const MatrixAtom& atom : atoms)
        for (int64_t rows = most; rows >= kLeastQueries; rows /= 2)
          for (const int64_t copies : {2, 1})
            if (builder.attempt([&](ScheduleBuilder& trial) {
                  return with_rows(trial, found, atom,
                                   {rows / atom.m / copies, copies, in_fragments}) &&
                         (shared_bytes(trial, false) + kPartials) * workgroups <=
                             builder.caps.max_shared_bytes;
                }))
              return true;
  return false;
}

}  // namespace tenon
