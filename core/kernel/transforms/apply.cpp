// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Applies transforms; to a copy of the tree if a step may fail half-way.
#include <algorithm>
#include <initializer_list>
#include <variant>

#include "core/kernel/transforms/apply.hpp"
#include "core/kernel/transforms/fields.hpp"
#include "core/kernel/tree/dot.hpp"
#include "core/kernel/tree/matrix.hpp"
#include "core/kernel/tree/shared_tiles.hpp"

namespace tenon {

Refused TransformStep::refuse(std::string_view expected, std::string_view got) const {
  return Refusal{ErrorKind::kInvalid, fmt::format("[transform] {}: expected {}, got {}",
                                                  print(kernel, {any}), expected, got)};
}

Refused TransformStep::check_free(int a) const {
  const KernelAxis& found = kernel.axes[a];
  if (found.bind != Bind::kLoop)
    return refuse(found.name + " not to be bound yet", bind_name(found.bind));
  if (ahead_in(*path_to(kernel, a).back()) == 0) return {};
  return refuse(found.name + " not to be multi-buffered yet", "one that is");
}

std::variant<TileLoops, Refusal> find_tile_loops(const TransformStep& step,
                                                 const std::vector<Statement*>& path, int at) {
  const Kernel& kernel = step.kernel;
  const auto refuse = [&](std::string_view expected, std::string_view got) {
    return *step.refuse(expected, got);
  };
  const size_t end = path.size() - 2;
  size_t depth = 0;
  while (depth < path.size() && !(is_loop(*path[depth]) && path[depth]->axis == at)) ++depth;
  if (depth >= end)
    return refuse(
        kernel.axes[at].name + " around the reduction over " + kernel.axes[path.back()->axis].name,
        "another place");
  TileLoops out{path[depth], path[end - 1], {}};
  for (size_t i = 0; i < end; ++i) {
    const Statement& s = *path[i];
    if (!is_loop(s)) return refuse("loops alone around the reduction", "another statement");
    const KernelAxis& axis = kernel.axes[s.axis];
    const bool inside = i > depth;
    if (axis.kind != AxisKind::kParallel || is_jam(axis.bind) ||
        (inside && axis.bind != Bind::kLoop))
      return refuse("parallel axes that are not bound around the reduction", axis.name);
    if (inside && !axis.extent.is_const())
      return refuse("axes of known size inside " + kernel.axes[at].name, axis.name);
    if (inside) out.inside.push_back(s.axis);
    if (i >= depth && i + 1 < end && s.body.size() != 1)
      return refuse("the reductions alone inside " + axis.name, "other statements");
  }
  return out;
}

namespace {

std::string unique_name(const Kernel& kernel, std::string name) {
  while (kernel.axis(name) >= 0 ||
         std::ranges::any_of(kernel.symbols, [&](const Expr& s) { return s.name() == name; }))
    name += "_";
  return name;
}

}  // namespace

Refused apply_reorder(const StepOf<transforms::Reorder>& step) {
  Kernel& kernel = step.kernel;
  const std::vector<int>& order = step.transform.axes;
  for (const int a : order)
    if (kernel.axes[a].bind == Bind::kMatrix)
      return step.refuse("this before tensorize", kernel.axes[a].name + " in a matrix");
  for (size_t i = 0; i < order.size(); ++i)
    if (std::ranges::count(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(i), order[i]))
      return step.refuse("different axes", kernel.axes[order[i]].name + " twice");
  std::vector<Statement*> path;
  for (const int a : order) {
    std::vector<Statement*> p = path_to(kernel, a);
    if (p.size() > path.size()) path = std::move(p);
  }
  std::vector<Statement*> loops;
  for (Statement* s : path) {
    const bool wanted = s->kind == Statement::Kind::kLoop && std::ranges::count(order, s->axis);
    if (!loops.empty() && s->kind != Statement::Kind::kLoop)
      return step.refuse("loops nested directly", "a reduction between them");
    if (wanted) loops.push_back(s);
    if (!loops.empty() && s != path.back() && s->body.size() != 1)
      return step.refuse("loops nested directly",
                         "other statements inside " + kernel.axes[s->axis].name);
  }
  if (loops.size() != order.size())
    return step.refuse("axes around one another", "axes side by side");
  const auto ordered = [&] {
    std::vector<int> axes;
    for (const Statement* s : path)
      if (s->kind == Statement::Kind::kLoop &&
          (kernel.axes[s->axis].kind == AxisKind::kOrdered || running_reduction(kernel, s->axis)))
        axes.push_back(s->axis);
    return axes;
  };
  const std::vector<int> sequence = ordered();
  for (size_t i = 0; i < loops.size(); ++i) loops[i]->axis = order[i];
  if (ordered() == sequence) return {};
  return step.refuse("axes whose iterations have an order to keep it", "another order");
}

namespace {

Refused check_no_carry(const TransformStep& step, std::initializer_list<int> axes) {
  for (const int a : axes)
    if (!path_to(step.kernel, a).back()->carried.empty())
      return step.refuse("a loop that carries no sums", step.kernel.axes[a].name);
  return {};
}

}  // namespace

Refused apply_fuse(const StepOf<transforms::Fuse>& step) {
  Kernel& kernel = step.kernel;
  const int a = step.transform.outer, b = step.transform.inner;
  if (Refused no = check_no_carry(step, {a, b})) return no;
  Statement& outer = *path_to(kernel, a).back();
  if (outer.body.size() != 1 || outer.body[0].kind != Statement::Kind::kLoop ||
      outer.body[0].axis != b)
    return step.refuse(kernel.axes[b].name + " directly inside " + kernel.axes[a].name,
                       "another nesting");
  if (kernel.axes[a].kind != kernel.axes[b].kind)
    return step.refuse("axes of one kind", "a parallel and an ordered one");
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
  return {};
}

Refused apply_pad(const StepOf<transforms::Pad>& step) {
  Kernel& kernel = step.kernel;
  KernelAxis& axis = kernel.axes[step.transform.axis];
  if (Refused no = check_no_carry(step, {step.transform.axis})) return no;
  if (axis.extent.divisible_by(step.transform.factor)) return {};
  const Expr before = axis.extent;
  axis.extent = ceil_div(before, step.transform.factor) * step.transform.factor;
  substitute(kernel, {{axis.name, axis.symbol()}});
  kernel.guards.push_back({axis.symbol(), before});
  return {};
}

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

Refused apply_split(const StepOf<transforms::Split>& step) {
  if (Refused no = check_no_carry(step, {step.transform.axis})) return no;
  split_axis(step.kernel, step.transform.axis, step.transform.factor);
  return {};
}

namespace {

#define TN_TRANSFORM(Name, word, ...)                                                   \
  Refused apply(Kernel& kernel, const Transform& any, const transforms::Name<int>& t) { \
    return apply_##word({{kernel, any}, t});                                            \
  }
#include "core/kernel/transforms/transforms.def"

/// Each axis must have a loop, and be free where the table says so.
Refused check_axes(const TransformStep& step) {
  Refused no;
  const auto check = [&](int a, bool is_free) {
    if (no) return;
    const std::vector<Statement*> path = path_to(step.kernel, a);
    if (path.empty())
      no = step.refuse("an axis that has a loop", step.kernel.axes[a].name);
    else if (is_free && !(no = step.check_free(a)) && path.back()->range)
      no = step.refuse("a loop over all of its extent", step.kernel.axes[a].name);
  };
  each_field(step.any, [&](auto kind, std::string_view, const auto& field) {
    using enum FieldKind;
    if constexpr (kind == kAxis || kind == kAt || kind == kFreeAxis)
      check(field, kind == kFreeAxis);
    if constexpr (kind == kAxes)
      for (const int a : field) check(a, false);
    if constexpr (kind == kInner)
      if (field) check(*field, false);
  });
  return no;
}

/// Operands of atoms must still load without masks.
Refused check_matrices(const TransformStep& step) {
  Refused no;
  walk(std::as_const(step.kernel).body, [&](const Statement& s) {
    if (no || s.kind != Statement::Kind::kReduce) return;
    const auto [m, n, k] = matrix_axes(step.kernel, s);
    if (k < 0) return;
    const std::string wrong = check_matrix(step.kernel, s, m, n, k);
    if (!wrong.empty()) no = step.refuse(wrong, "edges in a matrix atom");
  });
  if (no) return no;
  if (const int axis = loop_around_carried(step.kernel); axis >= 0)
    return step.refuse("no loop between carried sums and the loop that carries them",
                       step.kernel.axes[axis].name);
  if (carries_out_of_range(step.kernel))
    return step.refuse("iterations that are all in range around carried sums", "others");
  return no;
}

/// Operands of dot products must still be contiguous.
Refused check_dots(const TransformStep& step) {
  Refused no;
  walk(std::as_const(step.kernel).body, [&](const Statement& s) {
    if (no || s.kind != Statement::Kind::kReduce) return;
    const int axis = dot_axis(s, step.kernel);
    if (axis < 0) return;
    const std::string wrong = check_dot(step.kernel, s, axis);
    if (!wrong.empty()) no = step.refuse(wrong, "another sum");
  });
  return no;
}

/// True for transforms that only bind an axis. They check everything before they change the tree.
bool only_binds(TransformKind kind) {
  return kind == TransformKind::kUnroll || kind == TransformKind::kVectorize ||
         kind == TransformKind::kBind;
}

/// True for transforms that move statements between loops or change what a copy reads. They must
/// come before multi_buffer, whose copies belong to one loop and read what exists before it.
bool moves_statements(TransformKind kind) {
  using enum TransformKind;
  return kind == kReorder || kind == kCacheReduction || kind == kComputeAt ||
         kind == kOnlineSoftmax || kind == kScan || kind == kPrecompute ||
         kind == kCooperativeLoad || kind == kStage;
}

bool has_ranges(const Kernel& kernel) {
  bool found = false;
  walk(kernel.body, [&](const Statement& s) { found |= s.range.has_value(); });
  return found;
}

/// True if a loop contains workgroup barriers.
bool has_barriers(const Kernel& kernel, const Statement& loop) {
  bool found = !shared_tile_accesses(kernel, loop.body).empty();
  walk(loop.body, [&](const Statement& s) {
    found |= s.kind == Statement::Kind::kMatrix;
    found |=
        s.kind == Statement::Kind::kStage && kernel.buffers[s.buffer].space == BufferSpace::kShared;
    found |= s.kind == Statement::Kind::kLoop && is_block(kernel.axes[s.axis].bind) &&
             kernel.axes[s.axis].kind == AxisKind::kReduce;
  });
  return found;
}

/// A loop with barriers has the same range for all threads.
Refused check_ranges(const TransformStep& step) {
  const Kernel& kernel = step.kernel;
  Dependence dependence(kernel);
  AxisSet threads;
  for (size_t a = 0; a < kernel.axes.size(); ++a)
    if (is_block(kernel.axes[a].bind)) threads.set(a);
  Refused no;
  walk(kernel.body, [&](const Statement& s) {
    if (no || !s.range) return;
    const AxisSet follows = dependence.of(s.range->begin) | dependence.of(s.range->end);
    if ((follows & threads).any() && has_barriers(kernel, s))
      no = step.refuse("one range for all threads in a loop with barriers",
                       kernel.axes[s.axis].name + " whose range depends on the thread");
  });
  return no;
}

bool is_multi_buffered(const Kernel& kernel) {
  bool found = false;
  walk(kernel.body, [&](const Statement& s) { found |= s.ahead != 0; });
  return found;
}

bool has(const Kernel& kernel, Bind bind) {
  return std::ranges::any_of(kernel.axes, [=](const KernelAxis& a) { return a.bind == bind; });
}

}  // namespace

std::variant<Transform, Refusal> resolve(Kernel& kernel, const WrittenTransform& from) {
  auto out = make_transform<Transform>(kind_of(from));
  Refused no;
  const auto axis = [&](const std::string& wanted) {
    const int a = kernel.axis(wanted);
    if (no || (a >= 0 && !path_to(kernel, a).empty())) return a;
    std::string have;
    walk(std::as_const(kernel).body, [&](const Statement& s) {
      if (is_loop(s)) have += " " + kernel.axes[s.axis].name;
    });
    no = Refusal{ErrorKind::kInvalid,
                 fmt::format("[transform] {}: expected an axis of the kernel ({}), got {}",
                             print(WrittenTransforms{from}), have.empty() ? "none" : have.substr(1),
                             wanted)};
    return -1;
  };
  each_pair(from, out, [&](auto kind, const auto& name, auto& field) {
    using enum FieldKind;
    if constexpr (kind == kAxis || kind == kAt || kind == kFreeAxis) {
      field = axis(name);
    } else if constexpr (kind == kAxes) {
      for (const std::string& one : name) field.push_back(axis(one));
    } else if constexpr (kind == kInner) {
      if (name) field = axis(*name);
    } else {
      field = name;
    }
  });
  if (no) return *std::move(no);
  return out;
}

namespace {

constexpr double kMostIterations = 0x1p31;  ///< that edges may add up to
constexpr double kMostGrowth = 16;

/// Of the innermost loops of one nest, the largest of all; sizes of symbols are their bounds.
/// Threads share the copies to tiles, which do not count.
double iterations_of(const std::vector<Statement>& body, const Kernel& kernel, double around) {
  double most = around;
  for (const Statement& s : body) {
    if (s.kind == Statement::Kind::kStage || s.kind == Statement::Kind::kMatrix) continue;
    const double own = is_loop(s) ? static_cast<double>(kernel.axes[s.axis].extent.max()) : 1;
    most = std::max(most, iterations_of(s.body, kernel, around * std::max(own, 1.0)));
  }
  return most;
}

/// Edges that pads and splits add may not become all that there is.
Refused check_iterations(const TransformStep& step) {
  const double now = iterations_of(step.kernel.body, step.kernel, 1);
  const double most = std::max(kMostIterations, kMostGrowth * step.kernel.iterations);
  if (now <= most) return {};
  return step.refuse(fmt::format("at most {:.3g} iterations", most), fmt::format("{:.3g}", now));
}

}  // namespace

Refused try_apply(Kernel& kernel, const WrittenTransform& transform) {
  const std::variant<Transform, Refusal> found = resolve(kernel, transform);
  if (const auto* no = std::get_if<Refusal>(&found)) return *no;
  return try_apply(kernel, std::get<Transform>(found));
}

Refused try_apply(Kernel& kernel, const Transform& transform) {
  const TransformKind kind = kind_of(transform);
  const bool matrices = has(kernel, Bind::kMatrix), dots = has(kernel, Bind::kDot);
  const bool ranges = has_ranges(kernel);
  const bool in_place = only_binds(kind) && !matrices && !dots && !ranges;
  if (kernel.iterations == 0) kernel.iterations = iterations_of(kernel.body, kernel, 1);
  Kernel copy;
  if (!in_place) copy = kernel;
  const TransformStep step{in_place ? kernel : copy, transform};
  try {
    if (Refused no = check_axes(step)) return no;
    if (moves_statements(kind) && is_multi_buffered(step.kernel))
      return step.refuse("this before multi_buffer", "multi-buffered copies");
    if (Refused no =
            std::visit([&](const auto& t) { return apply(step.kernel, transform, t); }, transform))
      return no;
    if (!in_place)
      if (Refused no = check_iterations(step)) return no;
    if (matrices)
      if (Refused no = check_matrices(step)) return no;
    if (dots)
      if (Refused no = check_dots(step)) return no;
    if (ranges)
      if (Refused no = check_ranges(step)) return no;
  } catch (const Error& error) {
    // For example an index beyond 64 bits, or too many axes.
    if (error.kind() == ErrorKind::kInternal) throw;
    return Refusal{error.kind(),
                   fmt::format("[transform] {}: {}", print(kernel, {transform}), error.what())};
  }
  if (!in_place) kernel = std::move(copy);
  return {};
}

void apply_transforms(Kernel& kernel, const TransformList& list) {
  for (const Transform& transform : list)
    if (const Refused no = try_apply(kernel, transform)) throw Error(no->kind, no->message);
}

TransformList apply_transforms(Kernel& kernel, const WrittenTransforms& list) {
  TransformList out;
  for (const WrittenTransform& transform : list) {
    const std::variant<Transform, Refusal> found = resolve(kernel, transform);
    if (const auto* no = std::get_if<Refusal>(&found)) throw Error(no->kind, no->message);
    out.push_back(std::get<Transform>(found));
    apply_transforms(kernel, TransformList{out.back()});
  }
  return out;
}

namespace {

WrittenTransform with_names(const Kernel& kernel, const Transform& transform) {
  auto out = make_transform<WrittenTransform>(kind_of(transform));
  const auto name = [&](int axis) { return kernel.axes.at(static_cast<size_t>(axis)).name; };
  each_pair(transform, out, [&](auto kind, const auto& from, auto& field) {
    using enum FieldKind;
    if constexpr (kind == kAxis || kind == kAt || kind == kFreeAxis) {
      field = name(from);
    } else if constexpr (kind == kAxes) {
      for (const int axis : from) field.push_back(name(axis));
    } else if constexpr (kind == kInner) {
      if (from) field = name(*from);
    } else {
      field = from;
    }
  });
  return out;
}

}  // namespace

WrittenTransforms written(const Kernel& kernel, const TransformList& list) {
  WrittenTransforms out;
  for (const Transform& t : list) out.push_back(with_names(kernel, t));
  return out;
}

}  // namespace tenon
