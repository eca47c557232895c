// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks a loop tree once and emits its statements. Leaves are emitted once for each instance, so a
// jam needs no copy of the tree.
//
// Each part of the work is a class that keeps its own state and uses those before it:
// positions, launch_places, program_params: where the walk stands, and what the launch provides;
// index_exprs, guards, accesses, leaves: values there;
// matrix_sums, group_totals, reductions, stores: what statements do with them.
#pragma once

#include "core/ir/capabilities.hpp"
#include "core/lower/reductions.hpp"
#include "core/lower/stores.hpp"
#include "core/lower/tile_barriers.hpp"

namespace tenon {

class Emitter {
 public:
  using Value = OpTree::Value;

  Emitter(const Kernel& kernel, const Capabilities& capabilities);
  Emitter(const Emitter&) = delete;
  Emitter& operator=(const Emitter&) = delete;

  void run();

  const OpTree& tree() const { return tree_; }
  const ProgramParams& params() const { return params_; }
  const LaunchPlaces& places() const { return places_; }

 private:
  void body(std::span<const Statement> statements);
  void loop(const Statement& s);
  void serial_loop(const Statement& s);
  /// A loop whose copies run ahead of it.
  void pipelined(const Statement& s);
  /// The copies of the iteration at `position`, where the loop has one before `end`.
  void multi_buffer_tiles(const Statement& loop, Value position, const Expr& end);
  void barrier() { tree_.effect(TN_OP_BARRIER, {}, TN_SCOPE_BLOCK); }
  /// One after which tiles in shared memory have what all threads have put there.
  void tile_barrier();
  /// `bare`: of points that are real, without their masks.
  void counted(const Statement& s, const Expr& begin, const Expr& end, bool bare);
  void counted(const Statement& s, const Expr& begin, const Expr& end, bool bare,
               const std::function<void()>& inside);
  /// Of the fragments that a loop carries, in order.
  void set_carried(const Statement& loop, const std::function<Value(size_t)>& value);
  void end_carried(const Statement& loop);
  /// How many statements of a loop the guards of its peel may concern: what follows them is the
  /// same code in all iterations.
  size_t concerned(const Statement& s, const Guards::Peel& p) const;
  /// One iteration: of what the guards concern a version without them and one with them.
  void peeled(const Statement& s, const Guards::Peel& p, Value at);
  void launch_axis(const Statement& s);
  void launched(const Statement& s, Value at);
  void branch(Value condition, const std::function<void()>& then,
              const std::function<void()>& other = nullptr);
  void reduce(const Statement& s);
  void stage(const Statement& s);
  void matrix(const Statement& s);
  /// Values from before may be out of date if some buffer is read and written.
  void fresh_if_in_place(const std::function<void()>& emit);

  const Kernel& kernel_;
  OpTree tree_;
  KernelOps ops_;
  Positions positions_;
  LaunchPlaces places_;
  ProgramParams params_;
  IndexExprs exprs_;
  Guards guards_;
  Accesses accesses_;
  Leaves leaves_;
  MatrixSums matrix_sums_;
  DotSums dot_sums_;
  GroupTotals group_totals_;
  Reductions reductions_;
  Stores stores_;
  const TileBarriers tile_barriers_;
  const bool has_async_, in_place_;
  const Statement* reduction_ = nullptr;  ///< the innermost that is open
  bool ahead_ = false;                    ///< in a copy that runs ahead
};

}  // namespace tenon
