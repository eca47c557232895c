// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// unroll, vectorize, bind, group: how a loop is run.
#include <algorithm>

#include "core/kernel/transforms/apply.hpp"
#include "core/kernel/transforms/cache_reduction.hpp"
#include "core/kernel/tree/dot.hpp"
#include "core/kernel/tree/shared_tiles.hpp"

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

/// The axes of all loops around and inside a loop. A copy into a tile shares no lanes or threads
/// with the loops around it.
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

/// True if a staged copy inside the loop depends on the axis: its layout is fixed already.
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

/// True if a load and a store of one buffer touch the same part of it in each iteration of the
/// axis: the rest of each index stays within the axis's stride.
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

Refused check_in_place(const TransformStep& step, int a) {
  Kernel& kernel = step.kernel;
  std::vector<const Statement*> stores;
  walk(std::as_const(kernel).body, [&](const Statement& s) {
    if (s.kind == Statement::Kind::kStore && kernel.buffers[s.buffer].read &&
        kernel.buffers[s.buffer].space == BufferSpace::kGlobal)
      stores.push_back(&s);
  });
  for (const Statement* store : stores) {
    bool apart = true;
    const auto check = [&](const KValueRef& v) {
      if (v->kind == KValueKind::kLoad && v->buffer == store->buffer)
        apart &= same_part(v->index, store->index, kernel.axes[a]);
    };
    const auto check_all = [&](const KValueRef& v) { visit(v, check); };
    for (const Let& let : kernel.lets) check_all(let.value);
    walk(std::as_const(kernel).body, [&](const Statement& s) {
      if (s.value) check_all(s.value);
      for (const ReduceState& state : s.states) check_all(state.value);
    });
    if (!apart)
      return step.refuse(
          "iterations that read only what they write in place",
          "buffer b" + std::to_string(store->buffer) + " read and written elsewhere");
  }
  return {};
}

/// Subgroups and their tiles are fixed once a nest is tensorized.
Refused check_no_matrix(const TransformStep& step, int a) {
  for (const int other : related_axes(step.kernel, a))
    if (step.kernel.axes[other].bind == Bind::kMatrix)
      return step.refuse("this before tensorize", step.kernel.axes[other].name + " in a matrix");
  return {};
}

/// Checks an axis against the other axes on the same block dimension.
Refused check_block(const TransformStep& step, int a, Bind bind, const Expr& extent) {
  const Kernel& kernel = step.kernel;
  if (Refused no = check_no_matrix(step, a)) return no;
  Refused no;
  walk(kernel.body, [&](const Statement& s) {
    if (no || s.kind != Statement::Kind::kMatrix) return;
    const bool is_y = bind == Bind::kBlockY && s.across < s.threads;
    const int64_t threads = is_y ? s.threads / s.across : s.across;
    if ((bind == Bind::kBlockX || is_y) && !extent.is_const(threads))
      no =
          step.refuse("the " + std::to_string(threads) + " threads of a matrix", to_string(extent));
  });
  if (no) return no;
  if (!extent.is_const() || extent.value() > kMaxBlock || extent.value() < 1)
    return step.refuse("an extent from 1 to 1024", to_string(extent));
  for (const KernelAxis& other : kernel.axes)
    if (other.bind == bind && !(other.extent == extent))
      return step.refuse("the extent of " + other.name + ", " + to_string(other.extent),
                         to_string(extent));
  if (stage_depends_on(step.kernel, a, true))
    return step.refuse("bind before stage", "a shared tile that depends on the axis");
  return {};
}

/// A shared tile belongs to one workgroup, and no barrier separates the iterations of the axis.
Refused check_tiles(const TransformStep& step, int a, Bind bind) {
  Kernel& kernel = step.kernel;
  if (!has_shared_tiles(kernel) || kernel.axes[a].extent.is_const(1)) return {};
  const std::vector<Statement*> path = path_to(kernel, a);
  const Statement* around = nullptr;
  for (const Statement* s : path)
    if (s->kind == Statement::Kind::kReduce) around = s;
  const std::vector<TileAccess> inside = shared_tile_accesses(kernel, path.back()->body, around);
  const std::vector<TileAccess> all = shared_tile_accesses(kernel, kernel.body);
  for (const TileAccess& access : inside) {
    const auto is_of_tile = [&](const TileAccess& other) { return other.tile == access.tile; };
    const std::string& tile = kernel.buffers[access.tile].name;
    if (is_grid(bind)) {
      if (std::ranges::count_if(inside, is_of_tile) != std::ranges::count_if(all, is_of_tile))
        return step.refuse("workgroups with tiles of their own", tile);
    } else if (access.writes && std::ranges::any_of(inside, [&](const TileAccess& other) {
                 return is_of_tile(other) && !are_disjoint(access, other, kernel.axes[a]);
               })) {
      return step.refuse("threads that load only what they store, or none of it", tile);
    }
  }
  return {};
}

/// Checks that an axis can be on a dimension of the launch.
Refused check_place(const TransformStep& step, int a, Bind bind, const Expr& extent) {
  Kernel& kernel = step.kernel;
  for (const int other : related_axes(kernel, a))
    if (kernel.axes[other].bind == bind)
      return step.refuse("nothing else on " + std::string(bind_name(bind)) + " above or below",
                         kernel.axes[other].name + " there");
  if (is_block(bind))
    if (Refused no = check_block(step, a, bind, extent)) return no;
  if (const Statement* stage = stage_around(kernel, a))
    if (is_grid(bind) || kernel.buffers[stage->buffer].space != BufferSpace::kShared)
      return step.refuse("a copy loop of a shared tile on a block axis, or no copy loop",
                         kernel.axes[a].name);
  if (fills_scratch(kernel, a))
    return step.refuse("a loop that fills no scratch of a thread for later loops",
                       kernel.axes[a].name);
  if (Refused no = check_tiles(step, a, bind)) return no;
  return check_in_place(step, a);
}

/// unroll and vectorize: replicates the iterations in every statement.
Refused jam(const TransformStep& step, int a, Bind bind, int64_t limit) {
  Kernel& kernel = step.kernel;
  KernelAxis& axis = kernel.axes[a];
  const bool vector = bind == Bind::kVector;
  if (!axis.extent.is_const() || axis.extent.value() < 1 || axis.extent.value() > limit)
    return step.refuse("an extent from 1 to " + std::to_string(limit), to_string(axis.extent));
  if (vector && (axis.extent.value() & (axis.extent.value() - 1)))
    return step.refuse("an extent that is a power of two", to_string(axis.extent));
  if (running_reduction(kernel, a)) {
    const std::vector<Statement>& inside = path_to(kernel, a).back()->body;
    const bool innermost = std::ranges::any_of(
        inside, [](const Statement& s) { return s.kind == Statement::Kind::kStep; });
    if (!vector || !innermost)
      return step.refuse("the innermost loop of a running reduction, as lanes", axis.name);
  }
  if (axis.kind == AxisKind::kOrdered)
    return step.refuse("a parallel or reduce axis", axis.name + ", whose iterations have an order");
  if (vector) {
    if (Refused no = check_no_matrix(step, a)) return no;
    for (const int other : related_axes(kernel, a))
      if (kernel.axes[other].bind == Bind::kVector)
        return step.refuse("one vector axis in a nest", kernel.axes[other].name + " is one too");
  }
  if (stage_depends_on(kernel, a, false))
    return step.refuse("unroll and vectorize before stage", "a tile that depends on the axis");
  if (has_shared_tiles(kernel)) {
    bool matrices = false;
    walk(std::as_const(path_to(kernel, a).back()->body),
         [&](const Statement& s) { matrices |= s.kind == Statement::Kind::kMatrix; });
    if (matrices) return step.refuse("unroll before tensorize", axis.name + " around a matrix");
  }
  if (stores_dependent_value(kernel, a))
    return step.refuse("a loop without materialised values that depend on it", axis.name);
  axis.bind = bind;
  return {};
}

}  // namespace

Refused apply_unroll(const StepOf<transforms::Unroll>& step) {
  return jam(step, step.transform.axis, Bind::kUnroll, kMaxUnroll);
}

Refused apply_vectorize(const StepOf<transforms::Vectorize>& step) {
  return jam(step, step.transform.axis, Bind::kVector, kMaxLanes);
}

Refused apply_bind(const StepOf<transforms::Bind>& step) {
  Kernel& kernel = step.kernel;
  const int a = step.transform.axis;
  if (kernel.axes[a].kind != AxisKind::kParallel)
    return step.refuse("a parallel axis (group binds reduce axes)", kernel.axes[a].name);
  if (Refused no = check_place(step, a, step.transform.place, kernel.axes[a].extent)) return no;
  kernel.axes[a].bind = step.transform.place;
  return {};
}

Refused apply_dot(const StepOf<transforms::Dot>& step) {
  Kernel& kernel = step.kernel;
  const int a = step.transform.axis;
  const std::vector<Statement*> path = path_to(kernel, a);
  const auto reduction = std::ranges::find_if(path.rbegin(), path.rend(), [](const Statement* s) {
    return s->kind == Statement::Kind::kReduce;
  });
  if (reduction == path.rend() || kernel.axes[a].kind != AxisKind::kReduce)
    return step.refuse("a reduce axis", kernel.axes[a].name);
  if (const std::string wrong = check_dot(kernel, **reduction, a); !wrong.empty())
    return step.refuse(wrong, "another sum");
  kernel.axes[a].bind = Bind::kDot;
  return {};
}

Refused apply_group(const StepOf<transforms::Group>& step) {
  Kernel& kernel = step.kernel;
  const int a = step.transform.axis;
  if (kernel.axes[a].kind != AxisKind::kReduce)
    return step.refuse("a reduce axis", kernel.axes[a].name);
  if (fills_scratch(kernel, a))
    return step.refuse("a reduction that caches no values in scratch of a thread",
                       kernel.axes[a].name);
  if (running_reduction(kernel, a))
    return step.refuse("a reduction without an order", kernel.axes[a].name);
  const std::vector<int> related = related_axes(kernel, a);
  const bool taken = std::ranges::any_of(related, [&](int other) {
    return kernel.axes[other].bind == Bind::kBlockX &&
           kernel.axes[other].kind == AxisKind::kParallel;
  });
  const Bind place = taken ? Bind::kBlockY : Bind::kBlockX;
  if (Refused no = check_place(step, a, place, step.transform.factor)) return no;
  kernel.axes[split_axis(kernel, a, step.transform.factor)].bind = place;
  return {};
}

}  // namespace tenon
