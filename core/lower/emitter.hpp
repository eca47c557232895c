// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks a loop tree once and emits its statements. Values are emitted once for each instance, so
// that unroll and jam needs no copies of the tree.
//
// The work is divided among classes with their own state; each uses those before it:
// positions, launch_dims, program_params: the current position and what the launch provides;
// index_exprs, guards, accesses, leaves: values at that position;
// matrix_sums, group_totals, reductions, stores: statements.
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
  const LaunchDims& launch() const { return launch_; }

 private:
  void body(std::span<const Statement> statements);
  void loop(const Statement& s);
  void serial_loop(const Statement& s);
  /// A multi-buffered loop.
  void multi_buffered_loop(const Statement& s);
  /// Emits the copies of iteration `position`, if that is before `end`.
  void copy_stage(const Statement& loop, Value position, const Expr& end);
  void barrier() { tree_.effect(TN_OP_BARRIER, {}, TN_SCOPE_BLOCK); }
  /// A barrier after which tiles in shared memory are complete.
  void tile_barrier();
  /// A loop over [begin, end). `bare`: all points are in range, so there are no masks.
  void counted(const Statement& s, const Expr& begin, const Expr& end, bool bare);
  void counted(const Statement& s, const Expr& begin, const Expr& end, bool bare,
               const std::function<void()>& inside);
  /// Sets the fragments that a loop carries, in order.
  void set_carried(const Statement& loop, const std::function<Value(size_t)>& value);
  void end_carried(const Statement& loop);
  /// Number of leading statements that the guards of a peel affect. Those after them are the same
  /// code in all iterations.
  size_t concerned(const Statement& s, const Guards::Peel& p) const;
  /// One iteration, with two versions of the affected statements: without and with the guards.
  void peeled(const Statement& s, const Guards::Peel& p, Value at);
  void launch_axis(const Statement& s);
  void launched(const Statement& s, Value at);
  void branch(Value condition, const std::function<void()>& then,
              const std::function<void()>& other = nullptr);
  void reduce(const Statement& s);
  void stage(const Statement& s);
  void matrix(const Statement& s);
  /// Emits with earlier loads forgotten, if some buffer is both read and written.
  void forget_if_in_place(const std::function<void()>& emit);

  const Kernel& kernel_;
  OpTree tree_;
  KernelOps ops_;
  Positions positions_;
  LaunchDims launch_;
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
  const Statement* reduction_ = nullptr;  ///< innermost open one
  bool ahead_ = false;                    ///< inside a copy that runs ahead
};

}  // namespace tenon
