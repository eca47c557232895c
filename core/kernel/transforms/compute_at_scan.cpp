// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/transforms/compute_at_scan.hpp"

#include <algorithm>

#include "core/ir/scalar_op.hpp"
#include "core/kernel/transforms/tile_loops.hpp"

namespace tenon {
namespace {

using Kind = Statement::Kind;

class ComputeAtScan {
 public:
  explicit ComputeAtScan(const StepOf<transforms::ComputeAt>& step)
      : step_(step), kernel_(step.kernel), r_(step.transform.reduce), a_(step.transform.at) {}

  Refused run() {
    if (Refused no = find_places()) return no;
    if (Refused no = check_around()) return no;
    if (Refused no = add_tiles()) return no;
    change();
    return {};
  }

 private:
  const std::string& name(int axis) const { return kernel_.axes[axis].name; }

  Refused find_places() {
    const std::vector<Statement*> path = path_to(kernel_, r_);
    const auto reduce = path.end() - 2;
    if (path.size() < 3 || (*reduce)->kind != Kind::kReduce || path.back()->body.empty() ||
        path.back()->body[0].kind != Kind::kStep || kernel_.axes[r_].bind != Bind::kLoop)
      return step_.refuse(name(r_) + " alone in its running reduction", "other loops");
    const auto at = std::ranges::find_if(
        path, [&](const Statement* s) { return s->kind == Kind::kLoop && s->axis == a_; });
    if (at >= reduce - 1)
      return step_.refuse("loops between " + name(a_) + " and the reduction", "none");
    for (auto s = at + 1; s != reduce; ++s) {
      const KernelAxis& axis = kernel_.axes[(*s)->axis];
      if ((*s)->kind != Kind::kLoop || (*s)->body.size() != 1 || axis.kind != AxisKind::kParallel ||
          axis.bind != Bind::kLoop)
        return step_.refuse("parallel loops that are not bound inside " + name(a_), axis.name);
      between_.push_back((*s)->axis);
    }
    if ((*at)->body.size() != 1)
      return step_.refuse("the reduction alone inside " + name(a_), "other statements");
    around_.assign(path.begin(), at + 1);
    reduction_ = *reduce;
    return {};
  }

  /// Unrolled copies of an outer loop would share the tile.
  Refused check_around() {
    Dependence dependence(kernel_);
    const AxisSet used = dependence.of_reduction(reduction_->id);
    for (const Statement* s : around_)
      if (s->kind != Kind::kLoop || (is_jam(kernel_.axes[s->axis].bind) && used[s->axis]))
        return step_.refuse("compute_at before the loops around " + name(a_) + " are unrolled",
                            "one that is");
    return {};
  }

  /// A tile for each state, with one element for each position of the loops between.
  Refused add_tiles() {
    int64_t count = 1;
    for (const int a : between_) {
      const int64_t size = std::max<int64_t>(1, kernel_.axes[a].extent.max());
      if (size > kMostOfTile || count * size > kMostOfTile)
        return step_.refuse("a tile of at most 4194304 elements", "a larger one");
      at_ = at_ * size + kernel_.axes[a].symbol();
      count *= size;
    }
    for (const ReduceState& state : reduction_->states) {
      tiles_.push_back(static_cast<int>(kernel_.buffers.size()));
      KernelBuffer buffer{"sums" + std::to_string(tiles_.back()), state.dtype, count,
                          BufferSpace::kScratch};
      buffer.read = buffer.written = buffer.materialised = true;
      kernel_.buffers.push_back(std::move(buffer));
    }
    return {};
  }

  void change() {
    const Statement reduction = std::move(*reduction_);
    const AxisCopies zeros = copy_axes(kernel_, between_, ".z");
    std::vector<Statement> first, inside;
    std::vector<KValueRef> results;
    for (size_t k = 0; k < tiles_.size(); ++k) {
      const ReduceState& state = reduction.states[k];
      first.push_back(make_store(tiles_[k], at_.substitute(zeros.rename),
                                 make_const(identity(state.op, state.dtype))));
      const KValueRef before = make_load(tiles_[k], state.dtype, at_, 1, zero(state.dtype));
      results.push_back(make_op(state.op, state.dtype, {before, state.value}));
      inside.push_back(make_store(tiles_[k], at_, results.back()));
    }
    // Adjacent stores compute all their values before the first store.
    KValueRewriter take([&](const KValueRef& v) {
      const bool own = v->kind == KValueKind::kResult && v->reduction == reduction.id;
      return own ? results[static_cast<size_t>(v->state)] : v;
    });
    const std::vector<Statement>& body = reduction.body[0].body;
    for (const Statement& s : std::span(body).subspan(1)) {
      inside.push_back(s);
      inside.back().value = take(s.value);
    }
    Statement loop;
    loop.axis = r_;
    loop.body = in_loops(between_, std::move(inside));
    kernel_.axes[r_].kind = AxisKind::kOrdered;
    std::vector<Statement>& out = around_.back()->body;
    out = in_loops(zeros.axes, std::move(first));
    out.push_back(std::move(loop));
  }

  const StepOf<transforms::ComputeAt>& step_;
  Kernel& kernel_;
  int r_, a_;
  std::vector<Statement*> around_;  ///< to loop A
  std::vector<int> between_;        ///< axes of the loops below it
  Statement* reduction_ = nullptr;
  std::vector<int> tiles_;
  Expr at_ = 0;  ///< in a tile
};

}  // namespace

Refused compute_at_scan(const StepOf<transforms::ComputeAt>& step) {
  return ComputeAtScan(step).run();
}

}  // namespace tenon
