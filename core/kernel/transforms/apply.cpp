// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Applies transforms, each after checking that it is legal.
#include <algorithm>

#include "core/kernel/transforms/apply.hpp"
#include "core/kernel/tree/matrix.hpp"

namespace tenon {

void TransformStep::refuse(const std::string& expected, const std::string& got) const {
  fail(ErrorKind::kInvalid, "[transform] {}: expected {}, got {}", print(TransformList{transform}),
       expected, got);
}

int TransformStep::axis(size_t i) const {
  const int found = kernel.axis(transform.names[i]);
  if (found >= 0 && !path_to(kernel, found).empty()) return found;
  std::string have;
  walk(std::as_const(kernel).body, [&](const Statement& s) {
    if (s.kind == Statement::Kind::kLoop) have += " " + kernel.axes[s.axis].name;
  });
  refuse("an axis of the kernel (" + (have.empty() ? "none" : have.substr(1)) + ")",
         transform.names[i]);
}

int TransformStep::free_axis(size_t i) const {
  const int a = axis(i);
  if (kernel.axes[a].bind != Bind::kLoop)
    refuse(kernel.axes[a].name + " not to be bound yet",
           std::string(bind_name(kernel.axes[a].bind)));
  return a;
}

namespace {

std::string unique_name(const Kernel& kernel, std::string name) {
  while (kernel.axis(name) >= 0 ||
         std::ranges::any_of(kernel.symbols, [&](const Expr& s) { return s.name() == name; }))
    name += "_";
  return name;
}

void permute(const TransformStep& step) {
  Kernel& kernel = step.kernel;
  std::vector<int> order;
  for (size_t i = 0; i < step.transform.names.size(); ++i) {
    order.push_back(step.axis(i));
    if (std::ranges::count(order, order.back()) > 1)
      step.refuse("different axes", step.transform.names[i] + " twice");
  }
  std::vector<Statement*> path;
  for (const int a : order) {
    std::vector<Statement*> p = path_to(kernel, a);
    if (p.size() > path.size()) path = std::move(p);
  }
  std::vector<Statement*> loops;
  for (Statement* s : path) {
    const bool wanted = s->kind == Statement::Kind::kLoop && std::ranges::count(order, s->axis);
    if (!loops.empty() && s->kind != Statement::Kind::kLoop)
      step.refuse("loops nested directly", "a reduction between them");
    if (wanted) loops.push_back(s);
    if (!loops.empty() && s != path.back() && s->body.size() != 1)
      step.refuse("loops nested directly", "other statements inside " + kernel.axes[s->axis].name);
  }
  if (loops.size() != order.size()) step.refuse("axes around one another", "axes side by side");
  const auto ordered = [&] {
    std::vector<int> axes;
    for (const Statement* s : path)
      if (s->kind == Statement::Kind::kLoop && kernel.axes[s->axis].kind == AxisKind::kOrdered)
        axes.push_back(s->axis);
    return axes;
  };
  std::vector<int> before;
  for (const Statement* s : loops) before.push_back(s->axis);
  const auto assign = [&](const std::vector<int>& axes) {
    for (size_t i = 0; i < loops.size(); ++i) loops[i]->axis = axes[i];
  };
  const std::vector<int> sequence = ordered();
  assign(order);
  if (ordered() == sequence) return;
  assign(before);
  step.refuse("axes whose iterations have an order to keep it", "another order");
}

void merge(const TransformStep& step) {
  Kernel& kernel = step.kernel;
  const int a = step.free_axis(0), b = step.free_axis(1);
  Statement& outer = *path_to(kernel, a).back();
  if (outer.body.size() != 1 || outer.body[0].kind != Statement::Kind::kLoop ||
      outer.body[0].axis != b)
    step.refuse(kernel.axes[b].name + " directly inside " + kernel.axes[a].name, "another nesting");
  if (kernel.axes[a].kind != kernel.axes[b].kind)
    step.refuse("axes of one kind", "a parallel and an ordered one");
  const Expr inner = kernel.axes[b].extent;
  const int m =
      kernel.add_axis(unique_name(kernel, kernel.axes[a].name + "_" + kernel.axes[b].name),
                      kernel.axes[a].extent * inner, kernel.axes[a].kind);
  const Expr position = kernel.axes[m].symbol(), size = max(inner, 1);
  substitute(kernel, {{kernel.axes[a].name, floor_div(position, size)},
                      {kernel.axes[b].name, mod(position, size)}});
  Statement& loop = *path_to(kernel, a).back();
  std::vector<Statement> body = std::move(loop.body[0].body);
  loop.axis = m;
  loop.body = std::move(body);
}

void pad(const TransformStep& step) {
  Kernel& kernel = step.kernel;
  KernelAxis& axis = kernel.axes[step.free_axis(0)];
  if (axis.extent.divisible_by(step.transform.factor)) return;
  const Expr before = axis.extent;
  axis.extent = ceil_div(before, step.transform.factor) * step.transform.factor;
  substitute(kernel, {{axis.name, axis.symbol()}});
  kernel.guards.push_back({axis.symbol(), before});
}

}  // namespace

int split_axis(Kernel& kernel, int a, int64_t factor) {
  const KernelAxis axis = kernel.axes[a];
  const int outer = kernel.add_axis(unique_name(kernel, axis.name + ".o"),
                                    ceil_div(axis.extent, factor), axis.kind);
  const int inner = kernel.add_axis(unique_name(kernel, axis.name + ".i"), factor, axis.kind);
  const Expr o = kernel.axes[outer].extent.is_const(1) ? Expr(0) : kernel.axes[outer].symbol();
  const Expr i = factor == 1 ? Expr(0) : kernel.axes[inner].symbol();
  const Expr position = o * factor + i;
  substitute(kernel, {{axis.name, position}});
  if (!axis.extent.divisible_by(factor)) kernel.guards.push_back({position, axis.extent});
  Statement& loop = *path_to(kernel, a).back();
  Statement inside;
  inside.axis = inner;
  inside.body = std::move(loop.body);
  loop.axis = outer;
  loop.body.clear();
  loop.body.push_back(std::move(inside));
  return inner;
}

namespace {

/// What atoms load must still be there without masks.
void check_matrices(const TransformStep& step) {
  walk(std::as_const(step.kernel).body, [&](const Statement& s) {
    if (s.kind != Statement::Kind::kReduce) return;
    const auto [m, n, k] = matrix_axes(step.kernel, s);
    if (k < 0) return;
    const std::string wrong = check_matrix(step.kernel, s, m, n, k);
    if (!wrong.empty()) step.refuse(wrong, "edges in a matrix atom");
  });
}

bool has_matrices(const Kernel& kernel) {
  return std::ranges::any_of(kernel.axes,
                             [](const KernelAxis& a) { return a.bind == Bind::kMatrix; });
}

void apply_one(Kernel& kernel, const Transform& transform) {
  const TransformStep step{kernel, transform};
  switch (transform.kind) {
    case TransformKind::kSplit:
      split_axis(kernel, step.free_axis(0), transform.factor);
      return;
    case TransformKind::kMerge:
      merge(step);
      return;
    case TransformKind::kPermute:
      permute(step);
      return;
    case TransformKind::kPad:
      pad(step);
      return;
    case TransformKind::kUnroll:
    case TransformKind::kVectorize:
      apply_jam(step);
      return;
    case TransformKind::kBind:
      apply_bind(step);
      return;
    case TransformKind::kGroup:
      apply_group(step);
      return;
    case TransformKind::kStage:
      apply_stage(step);
      return;
    case TransformKind::kKeep:
      apply_keep(step);
      return;
    case TransformKind::kTensorize:
      apply_tensorize(step);
      return;
    case TransformKind::kPipeline:
      step.refuse("a transform that this version applies", "one it only reads");
  }
}

}  // namespace

void apply_transform(Kernel& kernel, const Transform& transform) {
  if (!has_matrices(kernel)) return apply_one(kernel, transform);
  Kernel next = kernel;
  apply_one(next, transform);
  check_matrices({next, transform});
  kernel = std::move(next);
}

void apply_transforms(Kernel& kernel, const TransformList& list) {
  for (const Transform& transform : list) apply_transform(kernel, transform);
}

}  // namespace tenon
