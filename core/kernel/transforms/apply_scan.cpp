// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// scan: a masked reduction over the terms up to each position, n^2 terms in all, becomes a running
// reduction of n terms.
#include <algorithm>

#include "core/ir/scalar_op.hpp"
#include "core/kernel/transforms/apply.hpp"
#include "core/kernel/transforms/masked_blocks.hpp"

namespace tenon {
namespace {

using Kind = Statement::Kind;

class Scan {
 public:
  explicit Scan(const StepOf<transforms::Scan>& step)
      : step_(step), kernel_(step.kernel), r_(step.transform.reduce), j_(step.transform.along) {}

  Refused run() {
    if (Refused no = find_places()) return no;
    if (Refused no = find_terms()) return no;
    if (Refused no = check_guards()) return no;
    change();
    return {};
  }

 private:
  const KernelAxis& r() const { return kernel_.axes[r_]; }
  const KernelAxis& j() const { return kernel_.axes[j_]; }

  Refused find_places() {
    if (r().kind != AxisKind::kReduce) return step_.refuse("a reduce axis", r().name);
    if (j().kind != AxisKind::kParallel) return step_.refuse("a parallel axis", j().name);
    if (!(r().extent == j().extent))
      return step_.refuse("axes of one extent",
                          to_string(r().extent) + " and " + to_string(j().extent));
    const std::vector<Statement*> path = path_to(kernel_, r_);
    const bool direct = path.size() >= 3 && path[path.size() - 2]->kind == Kind::kReduce &&
                        !path[path.size() - 2]->running &&
                        path[path.size() - 3]->kind == Kind::kLoop &&
                        path[path.size() - 3]->axis == j_;
    if (!direct) return step_.refuse("a reduction directly inside " + j().name, "another place");
    loop_ = path[path.size() - 3];
    const Statement& reduction = *path[path.size() - 2];
    const std::vector<Statement>& steps = path.back()->body;
    if (reduction.body.size() != 1 || steps.size() != 1 || steps[0].kind != Kind::kStep)
      return step_.refuse(r().name + " alone in its reduction", "other statements");
    const bool stores = std::all_of(loop_->body.begin() + 1, loop_->body.end(),
                                    [](const Statement& s) { return s.kind == Kind::kStore; });
    if (&loop_->body[0] != &reduction || !stores)
      return step_.refuse("only stores after the reduction", "other statements");
    return {};
  }

  /// Finds the unmasked terms; all states have the same mask.
  Refused find_terms() {
    Dependence dependence(kernel_);
    for (const ReduceState& state : loop_->body[0].states) {
      const KValue& value = *state.value;
      Refused no = step_.refuse("terms masked to those up to " + j().name, "others");
      if (value.kind != KValueKind::kOp || value.op != Op::WHERE) return no;
      const auto is_identity = [&](const KValueRef& v) {
        return v->kind == KValueKind::kConst && v->constant == identity(state.op, state.dtype);
      };
      const bool hides = is_identity(value.operands[1]);
      const KValueRef& term = value.operands[hides ? 2 : 1];
      const std::optional<Expr> mask = condition_of(value.operands[0]);
      if ((!hides && !is_identity(value.operands[2])) || !mask || mask->kind() != ExprKind::kLess)
        return no;
      const Expr room = mask->operands()[1] - mask->operands()[0];
      const Expr real = hides ? 1 - room : room;  // a term is unmasked where this is above 0
      const Expr before = j().symbol() + 1 - r().symbol();
      const Expr after = r().symbol() + 1 - j().symbol();
      const bool turned = real == after;
      if (!(real == before) && !turned) return no;
      if (!terms_.empty() && turned != turned_) return no;
      turned_ = turned;
      if (dependence.of(term)[j_]) return no;
      terms_.push_back(term);
    }
    return {};
  }

  /// Out-of-range points are at the end, so terms up to a point in range are in range.
  Refused check_guards() {
    Dependence dependence(kernel_);
    for (const Guard& g : kernel_.guards) {
      const AxisSet used = dependence.of(g.lower) | dependence.of(g.upper);
      if (used[r_]) return step_.refuse("scan before " + r().name + " is padded", "padding");
      if (used[j_] && turned_)
        return step_.refuse("an axis without padding where terms go from " + j().name + " on",
                            j().name);
    }
    return {};
  }

  void change() {
    std::vector<Statement> body = std::move(loop_->body);
    Statement reduction = std::move(body[0]);
    reduction.running = true;
    for (size_t k = 0; k < terms_.size(); ++k) reduction.states[k].value = terms_[k];
    std::vector<Statement>& inside = reduction.body[0].body;
    inside.insert(inside.end(), std::make_move_iterator(body.begin() + 1),
                  std::make_move_iterator(body.end()));
    *loop_ = std::move(reduction);
    substitute(kernel_, {{j().name, r().symbol()}});
    if (turned_) substitute(kernel_, {{r().name, r().extent - 1 - r().symbol()}});
  }

  const StepOf<transforms::Scan>& step_;
  Kernel& kernel_;
  int r_, j_;
  Statement* loop_ = nullptr;  ///< of j
  bool turned_ = false;        ///< the terms are those from the position on
  std::vector<KValueRef> terms_;
};

}  // namespace

Refused apply_scan(const StepOf<transforms::Scan>& step) { return Scan(step).run(); }

}  // namespace tenon
