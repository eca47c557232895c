// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The builder that templates use: applies transforms to a kernel and answers questions about it.
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

  /// The refusal of a step that had to be legal, or of give_up. Later steps do nothing, so a
  /// template need not check each step.
  const std::optional<Refusal>& refusal() const { return refusal_; }
  void give_up(std::string expected);

  /// Any transform, which must be legal: else the refusal is kept, and false returned.
  bool step(Transform transform);
  /// Any transform; false, and nothing done, if it is not legal.
  bool step_if_legal(Transform transform);

  // The same by name. Each must be legal, unless it returns bool. A split, group or fuse after a
  // refusal returns its own axes.
  std::pair<int, int> split(int axis, int64_t factor);  ///< (outer, inner)
  int fuse(int outer, int inner);
  void reorder(const std::vector<int>& axes);
  void unroll(int axis);
  void vectorize(int axis);
  std::pair<int, int> group(int axis, int64_t threads);  ///< (outer, inner)
  // Steps that return false, and do nothing, if they are not legal.
  bool bind(int axis, Bind place);
  bool stage(const transforms::Stage<int>& stage);
  bool stage(int buffer, int axis, int64_t pad = 0) {
    return stage({.source = {buffer, {}}, .at = axis, .pad = pad});
  }
  /// Stages one load as it is in the kernel now; other reads of its buffer stay.
  bool stage(const KValueRef& load, int axis, std::optional<int> inner = {}, int64_t pad = 0);
  bool multi_buffer(int axis, int64_t stages);
  void dot(int axis);
  /// `across`: threads of a subgroup on block.x; 0: all.
  void tensorize(int m, int n, int k, int64_t threads, int64_t across = 0);
  bool compute_at(int reduce_axis, int at);
  bool online_softmax(const transforms::OnlineSoftmax<int>& softmax);
  bool cooperative_load(int axis);
  bool scan(int reduce_axis, int axis);
  bool precompute(int reduce_axis, int64_t block, int at);
  /// False, and does nothing, also if nothing expensive is recomputed or the values exceed the
  /// cache.
  bool cache_reduction(int reduce_axis, int later_axis);

  /// A decision point for search: `rule`, or one of `others` if Decide picks it.
  int64_t choose(std::string_view point, int64_t rule, std::initializer_list<int64_t> others) const;
  /// Runs `schedule` on a copy. Keeps its steps if it returns true and none of them was refused.
  bool attempt(const std::function<bool(ScheduleBuilder&)>& schedule);

  // Questions.
  DeviceKind kind() const { return caps.kind(); }
  const Expr& extent(int axis) const { return kernel.axes[axis].extent; }
  /// The extent, for choices; a symbolic one counts as its upper bound, at most 4096.
  int64_t size(int axis) const;
  Statement& loop(int axis) { return *path_to(kernel, axis).back(); }
  /// Axes of a perfect loop nest: from `loop` inwards while each loop holds only the next.
  std::vector<int> perfect_nest(const Statement& loop) const;
  /// The loads, stores and reductions in a statement; each load once.
  std::vector<KValueRef> loads(const Statement& s) const;
  std::vector<const Statement*> stores(const Statement& s) const;
  std::vector<const Statement*> reductions(const Statement& s) const;
  /// Loads of the reduction that a loop is part of, or of the loop if it is part of none.
  std::vector<KValueRef> loads_of_pass(int axis);
  /// Lanes of one access of the dtype; 1 for elements that share a word.
  int64_t lanes_of(DType dtype) const;
  /// Lanes of a vector access along an axis that all accesses allow: they must be contiguous or
  /// uniform, and aligned; else 1.
  int64_t short_vector(const Statement& s, int axis) const;
  int64_t short_vector_of(const std::vector<KValueRef>& loads, int axis) const;
  /// Threads on a block axis so far; 0 if none.
  int64_t placed(Bind place) const;
  /// The largest powers of two up to `wanted` within the device's limits.
  int64_t threads_on_x(int64_t wanted) const;
  int64_t threads_on_y(int64_t x, int64_t wanted) const;
  /// Threads of a subgroup that can shuffle; 1 if there are none.
  int64_t subgroup_threads() const;
  /// Workgroup size where threads are lanes of a host register: one register, or the size so far.
  int64_t register_threads() const;
  bool has_barriers() const { return caps.has(Op::BARRIER) && caps.max_shared_bytes > 0; }
  /// Stride of an index along an axis, in elements; nothing if it is not constant.
  std::optional<int64_t> stride(const Expr& index, int axis) const;
  /// Lanes of a vector register for the widest element in a statement.
  int64_t lanes(const Statement& s) const;
  /// Bytes that one innermost iteration of a statement loads and stores.
  int64_t bytes_moved(const Statement& s) const;

  /// Fuses two directly nested loops and returns the new axis. Returns -1 and does nothing if that
  /// is not legal or `keeps` rejects the result.
  int fuse_if(int outer, int inner, const std::function<bool(int fused)>& keeps);
  /// Fuses directly nested loops into one and returns its axis.
  int fuse_all(const std::vector<int>& axes);
  /// Fuses directly nested parallel loops if that adds few divisions to indices. Returns the
  /// remaining axes.
  std::vector<int> fuse_contiguous(std::vector<int> axes);

 private:
  /// The two axes that a step made of `axis`.
  std::pair<int, int> halves(bool done, int axis) const;
  const Decide& decide_;
  std::optional<Refusal> refusal_;
};

/// True for an op that costs more than a load and a store in cache.
bool is_expensive(const KValue& v);

/// The nearest power of two <= n, or >= n; 1 for n < 1.
int64_t floor_pow2(int64_t n);
int64_t ceil_pow2(int64_t n);

/// Number of distinct divisions and remainders in a kernel's indices and masks.
int divisions(const Kernel& kernel);

/// A matrix product: two parallel axes, each in one of two operands of a sum of products.
struct Matmul {
  std::vector<int> batch;   ///< the other parallel axes
  int m = -1, n = -1;       ///< n is contiguous in the result
  int k = -1;               ///< innermost reduce axis
  std::vector<int> sum;     ///< all reduce axes, outermost first
  KValueRef rows, columns;  ///< the loads that depend on m and n
  DType rows_dtype = DType::kVoid, columns_dtype = DType::kVoid;  ///< of the factors
  bool rows_computed = false, columns_computed = false;           ///< factors of several loads
};

/// A tile of accumulators: rows by vectors of columns.
struct RegisterTile {
  int64_t rows = 1, vectors = 1;
};
/// The fastest register tile for m rows by n vectors, of those that leave registers for operands.
/// The remainder has smaller tiles, or with `whole_panels` costs as much as a whole panel of
/// columns.
RegisterTile best_tile(const ScheduleBuilder& builder, int64_t m, int64_t n,
                       bool whole_panels = false);

/// Bytes of the private cache that one operand may fill: half of it.
int64_t private_cache(const ScheduleBuilder& builder);
/// The matrix product of a nest, if it is one. `with_edges`: allows masked operands.
std::optional<Matmul> find_matmul(const ScheduleBuilder& builder, const Statement& nest,
                                  bool with_edges = false);

/// Templates. Each schedules one outermost loop, given by its axis. Those that return bool return
/// false and do nothing if the nest does not match.
void schedule_vector_nest(ScheduleBuilder& builder, int axis);  ///< elementwise and row reductions
bool schedule_matmul(ScheduleBuilder& builder, int axis);
/// Attention: a maximum of products and the sums that depend on it.
bool schedule_attention(ScheduleBuilder& builder, int axis);
/// Softmax of long rows: a maximum and sums that depend on it, as in a loss over a vocabulary.
bool schedule_softmax_rows(ScheduleBuilder& builder, int axis);
/// Scatter.
bool schedule_scatter(ScheduleBuilder& builder, int axis);
/// Scan: prefix or suffix reductions.
bool schedule_scan(ScheduleBuilder& builder, int axis);
/// Attention's gradient: sums over pointwise functions of matrix products.
bool schedule_attention_gradient(ScheduleBuilder& builder, int axis);
/// Skinny products and column sums: the matrix is read once.
bool schedule_skinny(ScheduleBuilder& builder, int axis);
/// The axis along which a transposed load is contiguous: one whose stride along the innermost loop
/// exceeds `least` elements. -1 if the load is not transposed.
int transposed_axis(const ScheduleBuilder& builder, const std::vector<int>& axes,
                    const KValue& load, int64_t least);
/// Elementwise nests with a transposed operand. Returns the outermost loop, or -1 and does nothing
/// if there is no such operand.
int schedule_transpose_simd(ScheduleBuilder& builder, const std::vector<int>& axes);
void schedule_threads_nest(ScheduleBuilder& builder, int axis);  ///< devices with workgroups
/// Templates for devices with workgroups.
bool schedule_shared_tiles(ScheduleBuilder& builder,
                           int axis);  ///< a contraction with operands in shared memory
bool schedule_register_tiles(ScheduleBuilder& builder,
                             int axis);  ///< a contraction with a register tile in each thread
bool schedule_transpose_gpu(ScheduleBuilder& builder,
                            const std::vector<int>& axes);  ///< a transpose through shared memory
bool schedule_rows(ScheduleBuilder& builder, const std::vector<int>& axes);
bool schedule_columns(ScheduleBuilder& builder, const std::vector<int>& axes);
/// The innermost loop of each pass over a row: of a reduction, or with stores.
struct RowPass {
  int axis = -1;
  bool reduces = false;
};
/// Empty if the loop holds anything but passes and stores.
std::vector<RowPass> row_passes(ScheduleBuilder& builder, int rows);
/// For devices whose threads are lanes of a host register: elementwise, and one row a thread.
void schedule_elementwise_spmd(ScheduleBuilder& builder, std::vector<int> axes);
bool schedule_rows_spmd(ScheduleBuilder& builder, std::vector<int> axes);
void schedule_total(ScheduleBuilder& builder,
                    int reduction);  ///< a reduction outside of all loops: one workgroup
void schedule_plain_nest(ScheduleBuilder& builder, int axis);  ///< neither vectors nor workgroups
void schedule_reduction(ScheduleBuilder& builder,
                        int reduction);  ///< vector partials along its last axis

/// For a register tile in the loop `tiles` with rows unrolled by `copy`: an expensive epilogue
/// becomes a loop over the sums instead of unrolled code.
void loop_over_epilogue(ScheduleBuilder& builder, int tiles, int copy);

/// Binds `axis` to workgroups of `per_item` iterations, or more if the grid's limit asks for it.
void bind_grid(ScheduleBuilder& builder, int axis, int64_t per_item, Bind place = Bind::kGridX);

}  // namespace tenon
