// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the recipes share: a kernel that is transformed as steps are chosen, and questions about it.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <utility>

#include "core/kernel/templates/templates.hpp"

namespace tenon {

class ScheduleBuilder {
 public:
  ScheduleBuilder(Kernel tree, const Capabilities& capabilities, const Decide& decide)
      : kernel(std::move(tree)), caps(capabilities), decide_(decide) {}

  Kernel kernel;
  const Capabilities& caps;
  TransformList list;

  /// Why a step that had to be legal was refused, or what give_up was told. The steps after it do
  /// nothing, so that a recipe need not ask after each.
  const std::optional<Refusal>& refusal() const { return refusal_; }
  void give_up(std::string expected);

  // Steps; each must be legal. One that does nothing gives its axis back.
  std::pair<int, int> split(int axis, int64_t factor);  ///< (outer, inner)
  int fuse(int outer, int inner);
  void reorder(const std::vector<int>& axes);
  void unroll(int axis);
  void vectorize(int axis);
  /// False, and nothing done, where iterations depend on one another through memory.
  bool bind(int axis, Bind place);
  std::pair<int, int> group(int axis, int64_t threads);  ///< (outer, inner)
  /// False, and nothing done, if the tile is too large or the loads do not allow it.
  bool stage(const transforms::Stage<int>& stage);
  bool stage(int buffer, int axis, int64_t pad = 0) {
    return stage({.source = {buffer, {}}, .at = axis, .pad = pad});
  }
  /// As the kernel has the load now: what others read of its buffer inside the axis stays.
  bool stage(const KValueRef& load, int axis, std::optional<int> inner = {}, int64_t pad = 0);
  /// False, and nothing done, if the loop fills no shared tiles.
  bool multi_buffer(int axis, int64_t places);
  void dot(int axis);
  /// `across`: threads of a subgroup on block.x, if not all.
  void tensorize(int m, int n, int k, int64_t threads, int64_t across = 0);
  /// False, and nothing done, where sums cannot leave their registers.
  bool compute_at(int reduce_axis, int at);
  /// False, and nothing done, where the sums inside `at` do not follow the maximum.
  bool online_softmax(const transforms::OnlineSoftmax<int>& softmax);
  /// False, and nothing done, where loops inside fill no tiles for others.
  bool cooperative_load(int axis);
  /// False, and nothing done, where the terms are not those up to each position, or from it on.
  bool scan(int reduce_axis, int axis);
  /// False, and nothing done, where the terms take nothing that can be computed ahead of them.
  bool precompute(int reduce_axis, int64_t block, int at);
  /// False, and nothing done, if nothing expensive is computed twice or it does not fit a cache.
  bool cache_reduction(int reduce_axis, int later_axis);

  /// A decision: what the rule takes, or one of the others in its place.
  int64_t choose(std::string_view point, int64_t rule, std::initializer_list<int64_t> others) const;
  /// Takes the steps of `recipe` if it says that it is done and none of them was refused.
  bool attempt(const std::function<bool(ScheduleBuilder&)>& recipe);

  // Questions.
  DeviceKind kind() const { return caps.kind(); }
  const Expr& extent(int axis) const { return kernel.axes[axis].extent; }
  /// For choices: the extent, or for a symbolic one its upper bound, at most 4096.
  int64_t size(int axis) const;
  Statement& loop(int axis) { return *path_to(kernel, axis).back(); }
  /// Axes of the loops from here inwards as long as each holds nothing but the next.
  std::vector<int> chain(const Statement& loop) const;
  /// Loads below a statement, each value once; and stores.
  std::vector<KValueRef> loads(const Statement& s) const;
  std::vector<const Statement*> stores(const Statement& s) const;
  std::vector<const Statement*> reductions(const Statement& s) const;
  /// Loads of what is computed inside a loop: also of the steps of a reduction that runs over it.
  std::vector<KValueRef> loads_of_pass(int axis);
  /// Lanes that a thread moves at once along an axis: as many as the device takes of each element
  /// where all accesses are contiguous or equal and begin at a multiple; else 1.
  int64_t lanes_of(DType dtype) const;  ///< that one access moves; 1 of what shares words
  int64_t short_vector(const Statement& s, int axis) const;
  int64_t short_vector_of(const std::vector<KValueRef>& loads, int axis) const;
  /// Threads on a block axis that the kernel has already; 0 if none.
  int64_t placed(Bind place) const;
  /// Powers of two within the device's limits.
  int64_t threads_on_x(int64_t wanted) const;
  int64_t threads_on_y(int64_t x, int64_t wanted) const;
  /// Threads that exchange values without memory; 1: none.
  int64_t subgroup_threads() const;
  /// Of a workgroup where threads are lanes of the host's registers: one register, or as many as
  /// the kernel has already.
  int64_t register_threads() const;
  bool has_barriers() const { return caps.has(Op::BARRIER) && caps.max_shared_bytes > 0; }
  /// How far an index moves with the axis: a constant, or nothing where that varies.
  std::optional<int64_t> stride(const Expr& index, int axis) const;
  /// Lanes that fill a register with the widest element below a statement.
  int64_t lanes(const Statement& s) const;
  /// Bytes that one innermost iteration of a statement moves.
  int64_t bytes_moved(const Statement& s) const;

  /// Fuses two directly nested loops and gives the new axis; -1, and nothing done, where that is
  /// not legal or `keeps` says no to what came of it.
  int fuse_if(int outer, int inner, const std::function<bool(int fused)>& keeps);
  /// Fuses directly nested loops to one, and gives its axis.
  int fuse_all(const std::vector<int>& axes);
  /// Fuses directly nested parallel loops from the outside in where no index gets harder, and gives
  /// the axes left.
  std::vector<int> fuse_contiguous(std::vector<int> axes);

 private:
  bool step(Transform transform);
  bool step_if_legal(Transform transform);
  /// The two axes that a step has made of one.
  std::pair<int, int> halves(bool done, int axis) const;
  const Decide& decide_;
  std::optional<Refusal> refusal_;
};

/// Costs more than a pass through the cache.
bool is_slow(const KValue& v);

/// The next power of two not above n, or not below; 1 for less.
int64_t floor_pow2(int64_t n);
int64_t ceil_pow2(int64_t n);

/// Different divisions and remainders that the indices and masks of a kernel ask for.
int divisions(const Kernel& kernel);

/// Two parallel axes, each used by one of two loads under one sum.
struct Matmul {
  std::vector<int> batch;   ///< parallel axes that both operands use, or that lie outside
  int m = -1, n = -1;       ///< n is contiguous in the result
  int k = -1;               ///< innermost reduce axis
  std::vector<int> sum;     ///< all of them, outermost first
  KValueRef rows, columns;  ///< the loads that follow m and n
  DType rows_dtype = DType::kVoid, columns_dtype = DType::kVoid;  ///< of the factors
  bool rows_computed = false, columns_computed = false;           ///< of several loads
};

/// Accumulators: rows by vectors of columns.
struct RegisterTile {
  int64_t rows = 1, vectors = 1;
};
/// Of the tiles that leave registers for what they load, the one that takes the least time for m
/// rows by n vectors: what is left at the ends has tiles of its own, or is as long to compute as a
/// whole panel of columns.
RegisterTile best_tile(const ScheduleBuilder& builder, int64_t m, int64_t n,
                       bool whole_panels = false);

/// Bytes of what one operand may fill of the private cache, beside the other.
int64_t private_cache(const ScheduleBuilder& builder);
/// `with_edges`: also where masks say what of an operand is real.
std::optional<Matmul> find_matmul(const ScheduleBuilder& builder, const Statement& nest,
                                  bool with_edges = false);

/// Recipes. Each works on one outermost statement of the kernel, named by its axis (-1: a statement
/// that is not a loop).
void schedule_vector_nest(ScheduleBuilder& builder, int axis);  ///< elementwise and row reductions
bool schedule_matmul(ScheduleBuilder& builder, int axis);       ///< false if it is not one
/// A maximum of products and the sums that follow it, as attention is; false if it is no such
/// thing.
bool schedule_attention(ScheduleBuilder& builder, int axis);
/// The maximum of a long row and sums that follow it, as a loss over a vocabulary has them; false,
/// and nothing done, if it is no such thing.
bool schedule_softmax_rows(ScheduleBuilder& builder, int axis);
/// What is written, or added, where an index says; false, and nothing done, if it is no such thing.
bool schedule_scatter(ScheduleBuilder& builder, int axis);
/// Running results: of each position the terms up to it, or from it on; false if it is no such
/// thing.
bool schedule_scan(ScheduleBuilder& builder, int axis);
/// Sums over what products of matrices give, as the gradients of attention are; false, and nothing
/// done, if it is no such thing.
bool schedule_attention_gradient(ScheduleBuilder& builder, int axis);
/// Sums down the columns of a matrix that is read once; false if it is no such thing.
bool schedule_columns_once(ScheduleBuilder& builder, int axis);
/// The axis along which a load lies that goes across the innermost of directly nested loops, by
/// more than `least` elements a step; -1 if there is none.
int axis_across(const ScheduleBuilder& builder, const std::vector<int>& axes, const KValue& load,
                int64_t least);
/// The directly nested loops of elementwise work with an operand across them; gives the outermost
/// loop then, or -1, and nothing done, if there is no such operand.
int schedule_across(ScheduleBuilder& builder, const std::vector<int>& axes);
void schedule_threads_nest(ScheduleBuilder& builder, int axis);  ///< devices with workgroups
/// Of the nests with workgroups; false, and nothing done, if the parallel `axes` hold no such
/// thing.
bool schedule_tiles(ScheduleBuilder& builder,
                    int axis);  ///< a contraction, its operands in shared memory
bool schedule_thread_tiles(ScheduleBuilder& builder,
                           int axis);  ///< a contraction, a tile in each thread's registers
bool schedule_transposed(ScheduleBuilder& builder,
                         const std::vector<int>& axes);  ///< an operand across, in shared memory
bool schedule_rows(ScheduleBuilder& builder, const std::vector<int>& axes);
bool schedule_columns(ScheduleBuilder& builder, const std::vector<int>& axes);
/// The innermost loop of each pass over a row: of a reduction, or with stores.
struct RowPass {
  int axis = -1;
  bool reduces = false;
};
/// Empty if the nest is not made of passes side by side.
std::vector<RowPass> row_passes(ScheduleBuilder& builder, int rows);
/// Of devices whose threads are lanes of a register: elements, and rows that a thread takes alone.
void schedule_runs(ScheduleBuilder& builder, std::vector<int> axes);
bool schedule_rows_apart(ScheduleBuilder& builder, std::vector<int> axes);
void schedule_total(ScheduleBuilder& builder,
                    int reduction);  ///< an outermost one: all threads of a workgroup
void schedule_plain_nest(ScheduleBuilder& builder, int axis);  ///< neither vectors nor workgroups
void schedule_reduction(ScheduleBuilder& builder,
                        int reduction);  ///< vector partials along its last axis

/// Inside the loop `tiles` around a register tile whose rows `copy` unrolls: what is dear after the
/// sums becomes a loop over them.
void loop_over_epilogue(ScheduleBuilder& builder, int tiles, int copy);

/// Splits `axis` into workgroups of `per_item` iterations, within the limits of the grid; gives the
/// axis that stays a loop, if any.
void bind_grid(ScheduleBuilder& builder, int axis, int64_t per_item, Bind place = Bind::kGridX);

}  // namespace tenon
