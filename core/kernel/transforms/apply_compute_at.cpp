// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compute_at: accumulates in a scratch tile, so that parallel loops can be inside reduce loops.
#include <algorithm>

#include "core/ir/scalar_op.hpp"
#include "core/kernel/transforms/apply.hpp"
#include "core/kernel/transforms/compute_at_scan.hpp"
#include "core/kernel/transforms/tile_loops.hpp"

namespace tenon {
namespace {

using Path = std::span<Statement* const>;

class ComputeAt {
 public:
  explicit ComputeAt(const StepOf<transforms::ComputeAt>& step)
      : step_(step), kernel_(step.kernel), r_(step.transform.reduce), a_(step.transform.at) {}

  Refused run() {
    if (Refused no = find_places()) return no;
    if (Refused no = check_around()) return no;
    if (Refused no = check_between()) return no;
    if (Refused no = check_reduce_loops()) return no;
    if (Refused no = check_rest()) return no;
    if (Refused no = add_tiles()) return no;
    change();
    return {};
  }

 private:
  const KernelAxis& axis_of(const Statement& loop) const { return kernel_.axes[loop.axis]; }
  const std::string& name(int axis) const { return kernel_.axes[axis].name; }
  static bool is_loop(const Statement& s) { return s.kind == Statement::Kind::kLoop; }
  static bool is_stage(const Statement& s) { return s.kind == Statement::Kind::kStage; }

  /// Sets around_ (the path to loop A), between_ (loops below it), reduction_ and outer_ (reduce
  /// loops around R).
  Refused find_places() {
    if (kernel_.axes[r_].kind != AxisKind::kReduce) return step_.refuse("a reduce axis", name(r_));
    path_ = path_to(kernel_, r_);
    const auto is_reduction = [](const Statement* s) {
      return s->kind == Statement::Kind::kReduce;
    };
    const auto reduce = std::find_if(path_.rbegin(), path_.rend(), is_reduction).base() - 1;
    const auto at = std::ranges::find_if(
        path_, [&](const Statement* s) { return is_loop(*s) && s->axis == a_; });
    if (at >= reduce)
      return step_.refuse(name(a_) + " around the reduction over " + name(r_), "another place");
    reduction_ = *reduce;
    id_ = reduction_->id;
    around_ = Path(path_.begin(), at + 1);
    between_ = Path(at + 1, reduce);
    outer_ = Path(reduce + 1, path_.end() - 1);
    for (const Statement* s : between_) axes_.push_back(s->axis);
    if (std::ranges::all_of(path_.begin(), reduce, [](const Statement* s) { return is_loop(*s); }))
      return {};
    return step_.refuse("loops alone around the reduction", "another reduction");
  }

  Refused check_around() {
    for (const KernelAxis& axis : kernel_.axes)
      if (axis.bind == Bind::kMatrix) return step_.refuse("compute_at before tensorize", axis.name);
    Dependence dependence(kernel_);
    const AxisSet used = dependence.of_reduction(reduction_->id);
    for (const Statement* s : around_) {
      if (is_jam(axis_of(*s).bind) && used[s->axis])
        return step_.refuse("compute_at before the loops around " + name(a_) + " are unrolled",
                            axis_of(*s).name);
    }
    return {};
  }

  /// Only copies into tiles may come before the nested loop or reduction.
  Refused check_between() {
    Dependence dependence(kernel_);
    const AxisSet used = dependence.of_reduction(reduction_->id);
    for (size_t i = 0; i < between_.size(); ++i) {
      const Statement& loop = *between_[i];
      const KernelAxis& axis = axis_of(loop);
      if (axis.kind != AxisKind::kParallel)
        return step_.refuse("parallel axes inside " + name(a_), axis.name);
      if (axis.bind != Bind::kLoop && !is_jam(axis.bind))
        return step_.refuse("no axis of the launch inside " + name(a_),
                            axis.name + " on " + std::string(bind_name(axis.bind)));
      // Otherwise the users of the sums would have lanes that the stored tile does not.
      if (axis.bind == Bind::kVector && !used[loop.axis])
        return step_.refuse("lanes that the sum depends on", axis.name);
      const Statement* next = i + 1 < between_.size() ? between_[i + 1] : reduction_;
      const bool may_end = next != reduction_ && next != &loop.body.back();
      const auto before = std::span(loop.body.data(), next);
      if (may_end || !std::ranges::all_of(before, is_stage))
        return step_.refuse("the reduction alone inside " + axis.name, "other statements");
    }
    return {};
  }

  /// Statements that move out of the loops between must not depend on them.
  Refused check_reduce_loops() {
    Dependence dependence(kernel_);
    const auto depends = [&](const Statement& s) {
      AxisSet used = dependence.of(s.index) | dependence.of(s.mask);
      if (s.value) used |= dependence.of(s.value);
      return std::ranges::any_of(axes_, [&](int a) { return used[a]; });
    };
    if (between_.empty() && outer_.empty())
      return step_.refuse("loops inside " + name(a_) + " or reduce loops around " + name(r_),
                          "neither");
    if (!outer_.empty() && reduction_->body.size() != 1)
      return step_.refuse("one loop in the reduction around " + name(r_), "other statements");
    for (size_t i = 0; i < outer_.size(); ++i) {
      const std::vector<Statement>& body = outer_[i]->body;
      const KernelAxis& axis = axis_of(*outer_[i]);
      if (axis.bind != Bind::kLoop)
        return step_.refuse("reduce loops that are not bound around " + name(r_), axis.name);
      const bool ends = i + 1 == outer_.size() || &body.back() == outer_[i + 1];
      if (!ends || !is_loop(body.back()) || !std::all_of(body.begin(), body.end() - 1, is_stage))
        return step_.refuse("copies and one loop inside " + axis.name, "other statements");
      for (const Statement& s : std::span(body).first(body.size() - 1)) {
        bool moves = true;
        walk(s.body, [&](const Statement& inner) { moves &= !depends(inner); });
        if (!moves)
          return step_.refuse("a copy that is the same in all of the loops inside " + name(a_),
                              "one in " + axis.name);
      }
    }
    return {};
  }

  /// The statements after the reduction move to their own loops, so they must not read tiles that
  /// the loops between fill.
  Refused check_rest() {
    if (between_.empty()) return {};
    std::vector<bool> filled(kernel_.buffers.size());
    const auto fill = [&](const Statement& s) {
      if (s.kind == Statement::Kind::kStore) filled[static_cast<size_t>(s.buffer)] = true;
    };
    for (Statement* loop : between_)
      for (const Statement& s : loop->body)
        if (is_stage(s)) walk(s.body, fill);
    walk(std::as_const(*reduction_).body, fill);
    const KValue* taken = nullptr;
    const auto see = [&](const KValueRef& v) {
      if (v->kind == KValueKind::kLoad && filled[static_cast<size_t>(v->buffer)]) taken = v.get();
    };
    const auto see_all = [&](const Statement& s) {
      if (s.value) visit(s.value, see);
      for (const ReduceState& state : s.states) visit(state.value, see);
    };
    const std::vector<Statement>& body = between_.back()->body;
    for (const Statement* s = reduction_ + 1; s < body.data() + body.size(); ++s) {
      see_all(*s);
      walk(s->body, see_all);
    }
    if (!taken) return {};
    return step_.refuse("nothing after the reduction from a tile inside " + name(a_),
                        kernel_.buffers[static_cast<size_t>(taken->buffer)].name);
  }

  /// A tile for each state, with one element for each position of the loops between, lanes
  /// innermost.
  Refused add_tiles() {
    std::vector<int> order = axes_;
    std::stable_partition(order.begin(), order.end(),
                          [&](int a) { return kernel_.axes[a].bind != Bind::kVector; });
    int64_t count = 1;
    for (const int a : order) {
      const int64_t size = std::max<int64_t>(1, kernel_.axes[a].extent.max());
      if (size > kMostOfTile || count * size > kMostOfTile)
        return step_.refuse("a tile of at most 4194304 elements", "a larger one");
      at_ = at_ * size + kernel_.axes[a].symbol();
      count *= size;
    }
    for (const ReduceState& state : reduction_->states) {
      tiles_.push_back(add_tile(kernel_, "sums", state.dtype, count));
      identities_.push_back(identity(state.op, state.dtype));
    }
    return {};
  }

  void change() {
    std::vector<Statement>& body = around_.back()->body;
    const bool alone = between_.empty();
    std::vector<Statement>& inside = alone ? body : between_.back()->body;
    const auto first = (alone ? reduction_ : between_[0]) - body.data();
    const auto after = inside.begin() + (reduction_ - inside.data()) + 1;
    std::vector<Statement> rest(std::make_move_iterator(after),
                                std::make_move_iterator(inside.end()));
    inside.erase(after, inside.end());

    std::vector<Statement> parts, merged = merge();
    std::vector<Statement> loops = take_reduce_loops();
    inside.insert(inside.end(), std::make_move_iterator(merged.begin()),
                  std::make_move_iterator(merged.end()));
    const auto begin = body.begin() + first;
    const auto end = alone ? body.end() : begin + 1;
    std::vector<Statement> sums(std::make_move_iterator(begin), std::make_move_iterator(end));
    body.erase(begin, end);
    if (loops.empty()) {
      append(parts, std::move(sums));
    } else {
      append(parts, identities());
      append(outer_.back()->body, std::move(sums));
      append(parts, std::move(loops));
    }
    append(parts, take(std::move(rest)));
    body.insert(body.begin() + first, std::make_move_iterator(parts.begin()),
                std::make_move_iterator(parts.end()));
  }

  /// Takes the reduce loops around R out of the reduction; R stays in it.
  std::vector<Statement> take_reduce_loops() {
    if (outer_.empty()) return {};
    std::vector<Statement> loops = std::move(reduction_->body);
    std::vector<Statement>& last = outer_.back()->body;
    reduction_->body.clear();
    reduction_->body.push_back(std::move(last.back()));
    last.pop_back();
    for (const Statement* s : outer_) kernel_.axes[s->axis].kind = AxisKind::kOrdered;
    return loops;
  }

  std::vector<Statement> merge() const {
    std::vector<Statement> out;
    for (size_t i = 0; i < tiles_.size(); ++i) {
      const ReduceState& state = reduction_->states[i];
      KValueRef sum = make_result(reduction_->id, static_cast<int>(i), state.dtype);
      if (!outer_.empty()) sum = make_op(state.op, state.dtype, {element(i), sum});
      out.push_back(make_store(tiles_[i], at_, std::move(sum)));
    }
    return out;
  }

  KValueRef element(size_t i) const {
    const DType dtype = kernel_.buffers[tiles_[i]].dtype;
    return make_load(tiles_[i], dtype, at_, 1, zero(dtype));
  }

  /// Copies of the axes between: vector axes stay vectors, unrolled ones become loops.
  AxisCopies copies(std::string_view suffix) {
    AxisCopies out = copy_axes(kernel_, axes_, suffix);
    for (size_t i = 0; i < axes_.size(); ++i)
      if (kernel_.axes[axes_[i]].bind == Bind::kVector)
        kernel_.axes[out.axes[i]].bind = Bind::kVector;
    return out;
  }

  std::vector<Statement> identities() {
    const AxisCopies zeros = copies(".z");
    std::vector<Statement> out;
    for (size_t i = 0; i < tiles_.size(); ++i)
      out.push_back(
          make_store(tiles_[i], at_.substitute(zeros.rename), make_const(identities_[i])));
    return in_loops(zeros.axes, std::move(out));
  }

  /// The statements after the reduction, in loops over the tiles.
  std::vector<Statement> take(std::vector<Statement> rest) {
    const AxisCopies taken = copies(".c");
    copy_guards(kernel_, taken.rename);
    std::vector<KValueRef> elements;
    for (size_t i = 0; i < tiles_.size(); ++i) elements.push_back(element(i));
    load_from_tiles(kernel_, rest, taken, id_, elements);
    return in_loops(taken.axes, std::move(rest));
  }

  const StepOf<transforms::ComputeAt>& step_;
  Kernel& kernel_;
  int r_, a_, id_ = -1;
  std::vector<Statement*> path_;
  Statement* reduction_ = nullptr;
  Path around_, between_, outer_;
  std::vector<int> axes_;  ///< of the loops between
  std::vector<int> tiles_;
  std::vector<Scalar> identities_;
  Expr at_ = 0;  ///< in a tile
};

}  // namespace

Refused apply_compute_at(const StepOf<transforms::ComputeAt>& step) {
  if (running_reduction(step.kernel, step.transform.reduce)) return compute_at_scan(step);
  return ComputeAt(step).run();
}

}  // namespace tenon
