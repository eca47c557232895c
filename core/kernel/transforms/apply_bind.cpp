// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// unroll, vectorize, bind, group: how a loop is run.
#include <algorithm>

#include "core/kernel/transforms/apply.hpp"
#include "core/kernel/transforms/cache_reduction.hpp"

namespace tenon {
namespace {

constexpr int64_t kMaxUnroll = 64, kMaxLanes = 64, kMaxBlock = 1024;

void axes_below(const std::vector<Statement>& body, std::vector<int>& axes) {
  for (const Statement& s : body) {
    if (s.kind == Statement::Kind::kStage) continue;
    if (s.kind == Statement::Kind::kLoop) axes.push_back(s.axis);
    axes_below(s.body, axes);
  }
}

/// The axes of all loops above and below a loop, itself not included. A copy into a tile shares
/// its lanes and threads with nothing around it.
std::vector<int> related_axes(Kernel& kernel, int axis) {
  std::vector<int> axes;
  const std::vector<Statement*> path = path_to(kernel, axis);
  for (const Statement* s : path) {
    if (s->kind == Statement::Kind::kStage) axes.clear();
    if (s->kind == Statement::Kind::kLoop && s->axis != axis) axes.push_back(s->axis);
  }
  axes_below(path.back()->body, axes);
  return axes;
}

/// A copy below the axis was laid out before the axis was bound.
bool stage_depends_on(Kernel& kernel, int axis, bool shared_only) {
  Dependence dependence(kernel);
  bool found = false;
  walk(path_to(kernel, axis).back()->body, [&](Statement& s) {
    if (s.kind != Statement::Kind::kStage) return;
    if (shared_only && kernel.buffers[s.buffer].space != BufferSpace::kShared) return;
    walk(s.body, [&](Statement& inner) {
      if (inner.kind == Statement::Kind::kStore)
        found |= dependence.of(inner.value)[axis] || dependence.of(inner.index)[axis];
    });
  });
  return found;
}

const Statement* stage_around(Kernel& kernel, int axis) {
  for (const Statement* s : path_to(kernel, axis))
    if (s->kind == Statement::Kind::kStage) return s;
  return nullptr;
}

/// A load and a store of one buffer touch the same part of it in each iteration of the axis: the
/// rest of each index stays inside the stride of the axis.
bool same_part(const Expr& load, const Expr& store, const KernelAxis& axis) {
  if (load == store) return true;
  int64_t a = 0, b = 0;
  Expr rest_a, rest_b;
  if (!load.linear_in(axis.name, a, rest_a) || !store.linear_in(axis.name, b, rest_b)) return false;
  if (a != b || a <= 0) return false;
  const int64_t low = std::min(rest_a.min(), rest_b.min());
  const int64_t high = std::max(rest_a.max(), rest_b.max());
  return low >= 0 && high < a;
}

void check_in_place(const TransformStep& step, int a) {
  Kernel& kernel = step.kernel;
  std::vector<const Statement*> stores;
  walk(std::as_const(kernel).body, [&](const Statement& s) {
    if (s.kind == Statement::Kind::kStore && kernel.buffers[s.buffer].read &&
        kernel.buffers[s.buffer].space == BufferSpace::kGlobal)
      stores.push_back(&s);
  });
  for (const Statement* store : stores) {
    const auto check = [&](const KValueRef& v) {
      if (v->kind != KValueKind::kLoad || v->buffer != store->buffer) return;
      if (!same_part(v->index, store->index, kernel.axes[a]))
        step.refuse("iterations that read only what they write in place",
                    "buffer b" + std::to_string(store->buffer) + " read and written elsewhere");
    };
    const auto check_all = [&](const KValueRef& v) { visit(v, check); };
    for (const Let& let : kernel.lets) check_all(let.value);
    walk(std::as_const(kernel).body, [&](const Statement& s) {
      if (s.value) check_all(s.value);
      for (const ReduceState& state : s.states) check_all(state.value);
    });
  }
}

/// The subgroups and their tiles are what they were when a nest was tensorized.
void check_no_matrix(const TransformStep& step, int a) {
  for (const int other : related_axes(step.kernel, a))
    if (step.kernel.axes[other].bind == Bind::kMatrix)
      step.refuse("this before tensorize", step.kernel.axes[other].name + " in a matrix");
}

/// Everything that places an axis on a dimension of the launch must agree with.
void check_place(const TransformStep& step, int a, Bind bind, const Expr& extent) {
  Kernel& kernel = step.kernel;
  for (const int other : related_axes(kernel, a))
    if (kernel.axes[other].bind == bind)
      step.refuse("nothing else on " + std::string(bind_name(bind)) + " above or below",
                  kernel.axes[other].name + " there");
  if (is_block(bind)) {
    check_no_matrix(step, a);
    if (bind == Bind::kBlockX)
      walk(std::as_const(kernel).body, [&](const Statement& s) {
        if (s.kind == Statement::Kind::kMatrix && !extent.is_const(s.threads))
          step.refuse("the " + std::to_string(s.threads) + " threads of a matrix",
                      to_string(extent));
      });
    if (!extent.is_const() || extent.value() > kMaxBlock || extent.value() < 1)
      step.refuse("an extent from 1 to 1024", to_string(extent));
    for (const KernelAxis& other : kernel.axes)
      if (other.bind == bind && !(other.extent == extent))
        step.refuse("the extent of " + other.name + ", " + to_string(other.extent),
                    to_string(extent));
    if (stage_depends_on(kernel, a, true))
      step.refuse("bind before stage", "a shared tile that depends on the axis");
  }
  if (const Statement* stage = stage_around(kernel, a)) {
    if (is_grid(bind) || kernel.buffers[stage->buffer].space != BufferSpace::kShared)
      step.refuse("a copy loop of a shared tile on a block axis, or no copy loop",
                  kernel.axes[a].name);
  }
  check_in_place(step, a);
}

}  // namespace

void apply_jam(const TransformStep& step) {
  Kernel& kernel = step.kernel;
  const int a = step.free_axis(0);
  KernelAxis& axis = kernel.axes[a];
  const bool vector = step.transform.kind == TransformKind::kVectorize;
  const int64_t limit = vector ? kMaxLanes : kMaxUnroll;
  if (!axis.extent.is_const() || axis.extent.value() < 1 || axis.extent.value() > limit)
    step.refuse("an extent from 1 to " + std::to_string(limit), to_string(axis.extent));
  if (vector && (axis.extent.value() & (axis.extent.value() - 1)))
    step.refuse("an extent that is a power of two", to_string(axis.extent));
  if (axis.kind == AxisKind::kOrdered)
    step.refuse("a parallel or reduce axis", axis.name + ", whose iterations have an order");
  if (vector) {
    check_no_matrix(step, a);
    for (const int other : related_axes(kernel, a))
      if (kernel.axes[other].bind == Bind::kVector)
        step.refuse("one vector axis in a nest", kernel.axes[other].name + " is one too");
  }
  if (stage_depends_on(kernel, a, false))
    step.refuse("unroll and vectorize before stage", "a tile that depends on the axis");
  if (keeps_apart(kernel, a))
    step.refuse("a loop without kept values that depend on it", axis.name);
  axis.bind = vector ? Bind::kVector : Bind::kUnroll;
}

void apply_bind(const TransformStep& step) {
  Kernel& kernel = step.kernel;
  const int a = step.free_axis(0);
  if (kernel.axes[a].kind != AxisKind::kParallel)
    step.refuse("a parallel axis (group binds reduce axes)", kernel.axes[a].name);
  check_place(step, a, step.transform.bind, kernel.axes[a].extent);
  kernel.axes[a].bind = step.transform.bind;
}

void apply_group(const TransformStep& step) {
  Kernel& kernel = step.kernel;
  const int a = step.free_axis(0);
  if (kernel.axes[a].kind != AxisKind::kReduce) step.refuse("a reduce axis", kernel.axes[a].name);
  if (fills_kept(kernel, a))
    step.refuse("a reduction whose values each thread can keep", kernel.axes[a].name);
  const std::vector<int> related = related_axes(kernel, a);
  const bool taken = std::ranges::any_of(related, [&](int other) {
    return kernel.axes[other].bind == Bind::kBlockX &&
           kernel.axes[other].kind == AxisKind::kParallel;
  });
  const Bind place = taken ? Bind::kBlockY : Bind::kBlockX;
  check_place(step, a, place, step.transform.factor);
  kernel.axes[split_axis(kernel, a, step.transform.factor)].bind = place;
}

}  // namespace tenon
