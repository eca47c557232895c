// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/transforms/tile_axes.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <optional>

#include "core/kernel/transforms/tile_loops.hpp"

namespace tenon {
namespace {

using Member = TileAxis::Member;
using Members = std::span<const Member>;

/// Stride of an index along an axis, if it is constant.
std::optional<int64_t> move_of(const Expr& index, const KernelAxis& axis) {
  if (!index.depends_on(axis.name)) return 0;
  int64_t coefficient = 0;
  Expr rest;
  if (!index.linear_in(axis.name, coefficient, rest)) return std::nullopt;
  return coefficient;
}

bool depends(const Kernel& kernel, const Expr& e, Members members) {
  return std::ranges::any_of(
      members, [&](const Member& m) { return e.depends_on(kernel.axes[m.axis].name); });
}

/// A sum of steps, each taken 0 to count - 1 times.
struct Steps {
  std::vector<std::pair<int64_t, int64_t>> each;  ///< (step, count)

  void add(int64_t step, int64_t count) { each.emplace_back(step, std::max<int64_t>(1, count)); }
  int64_t reach() const {
    int64_t reach = 1;
    for (const auto& [step, count] : each) reach += step * (count - 1);
    return reach;
  }
  /// Every number below reach() is a sum.
  bool leave_none_out() const {
    Steps below;
    auto sorted = each;
    std::ranges::sort(sorted);
    for (const auto& [step, count] : sorted) {
      if (step > below.reach()) return false;
      below.add(step, count);
    }
    return true;
  }
  /// Two combinations have the same sum.
  bool overlap() const {
    int64_t product = 1;
    for (const auto& [step, count] : each) product *= count;
    return reach() < product;
  }
};

/// A guard on the joint position of some members: (position - that of the others) / scale + rest <
/// upper.
struct GuardForm {
  int64_t scale = 0;
  Expr rest;
};

/// Nothing if the guard has another form.
std::optional<GuardForm> form_of(const Kernel& kernel, const Guard& guard, Members members) {
  if (depends(kernel, guard.upper, members)) return std::nullopt;
  GuardForm form;
  form.rest = guard.lower;
  for (const Member& m : members) {
    const KernelAxis& axis = kernel.axes[m.axis];
    const std::optional<int64_t> move = move_of(guard.lower, axis);
    if (!move || *move < 0) return std::nullopt;
    if (*move == 0) continue;
    const int64_t scale = m.step / *move;
    if (m.step % *move != 0 || (form.scale != 0 && form.scale != scale)) return std::nullopt;
    form.scale = scale;
    form.rest = form.rest.substitute({{axis.name, Expr(0)}});
  }
  return form;
}

/// True if the guard depends on a member.
bool binds(const Kernel& kernel, const Guard& guard, Members members) {
  return depends(kernel, guard.lower, members) || depends(kernel, guard.upper, members);
}

/// Steps of the members that the guard does not bound, limited by other guards. Nothing if several
/// guards bound one member, or one of several guards depends on other loops.
std::optional<Steps> free_of(const Kernel& kernel, const Guard& guard, Members members) {
  std::vector<bool> bound(members.size(), false);
  Steps free;
  int guards = 0;
  bool moves = false;
  for (const Guard& g : kernel.guards) {
    if (!binds(kernel, g, members)) continue;
    const std::optional<GuardForm> form = form_of(kernel, g, members);
    if (!form) return std::nullopt;
    const bool own = &g == &guard || (g.lower == guard.lower && g.upper == guard.upper);
    ++guards;
    moves |= !form->rest.is_const(0) || !g.upper.is_const();
    if (guards > 1 && moves) return std::nullopt;
    for (size_t i = 0; i < members.size(); ++i) {
      if (!g.lower.depends_on(kernel.axes[members[i].axis].name)) continue;
      if (bound[i]) return std::nullopt;
      bound[i] = true;
    }
    if (!own) free.add(form->scale, g.upper.value());
  }
  for (size_t i = 0; i < members.size(); ++i)
    if (!bound[i]) free.add(members[i].step, kernel.axes[members[i].axis].extent.value());
  return free;
}

/// Loops whose sum may index one line of a load's source.
class Line {
 public:
  Line(const Kernel& kernel, const KValue& load, std::span<const int> loops)
      : kernel_(kernel), load_(load), loops_(loops) {}

  /// True if the load depends on the members' sum alone and every position of the tile is read.
  bool holds(Members members) const {
    const auto steps = steps_of(members);
    return steps && std::ranges::all_of(*steps, &Steps::leave_none_out) && reads_by_sum(members);
  }

  /// True if several points of the loops read the same element.
  bool overlaps(Members members) const {
    return members.size() > 1 && std::ranges::all_of(*steps_of(members), &Steps::overlap);
  }

  Steps all_steps(Members members) const {
    Steps all;
    for (const Member& m : members) all.add(m.step, kernel_.axes[m.axis].extent.value());
    return all;
  }

 private:
  /// Steps of all points and of the points within each guard; nothing if a guard is no condition on
  /// the sum.
  std::optional<std::vector<Steps>> steps_of(Members members) const {
    std::vector<Steps> out{all_steps(members)};
    for (const Guard& guard : kernel_.guards) {
      if (!binds(kernel_, guard, members)) continue;
      std::optional<Steps> steps = free_of(kernel_, guard, members);
      if (!steps || moves_with_others(guard, members)) return std::nullopt;
      steps->add(form_of(kernel_, guard, members)->scale, guard.upper.min());
      out.push_back(*std::move(steps));
    }
    return out;
  }

  bool moves_with_others(const Guard& guard, Members members) const {
    return std::ranges::any_of(loops_, [&](int a) {
      const std::string& name = kernel_.axes[a].name;
      return !std::ranges::count(members, a, &Member::axis) &&
             (guard.lower.depends_on(name) || guard.upper.depends_on(name));
    });
  }

  bool reads_by_sum(Members members) const {
    Expr others = 0;
    for (const Member& m : members.subspan(1))
      others = others + kernel_.axes[m.axis].symbol() * m.step;
    const Expr sum = Expr::symbol("the sum", all_steps(members).reach());
    const std::string& first = kernel_.axes[members[0].axis].name;
    return std::ranges::none_of(std::array{load_.index, load_.mask}, [&](const Expr& e) {
      return depends(kernel_, e.substitute({{first, sum - others}}), members);
    });
  }

  const Kernel& kernel_;
  const KValue& load_;
  std::span<const int> loops_;
};

/// A tile axis for one loop. Vector lanes are innermost.
TileAxis axis_alone(const Kernel& kernel, const KValue& load, int a) {
  const KernelAxis& axis = kernel.axes[a];
  const Expr next = load.index.substitute({{axis.name, axis.symbol() + 1}}) - load.index;
  const bool even = next.is_const();
  const int64_t move = even ? std::abs(next.value()) : next.max();
  return {{{a, 1}}, axis.extent, axis.bind == Bind::kVector ? 0 : move, even};
}

struct Loop {
  int axis = -1;
  int64_t move = 0;  ///< stride of the index
  bool guarded = false;

  /// By stride, guarded loops first: a guard bounds all its loops, and others fit in later.
  std::pair<int64_t, bool> order() const { return {move, !guarded}; }
};

/// Removes and returns loops that form one line with the first.
std::vector<Member> take_line(const Kernel& kernel, const Line& line, std::vector<Loop>& loops) {
  const int64_t unit = loops[0].move;
  std::vector<Member> members{{loops[0].axis, 1}};
  loops.erase(loops.begin());
  for (size_t i = 0; i < loops.size();) {
    const int axis = loops[i].axis;
    const int64_t move = loops[i].move;
    // Vector lanes must be contiguous in the tile.
    const bool lanes = kernel.axes[axis].bind == Bind::kVector && move != unit;
    members.push_back({axis, move / unit});
    if (lanes || move % unit != 0 || !line.holds(members)) {
      members.pop_back();
      ++i;
      continue;
    }
    // A loop that was tried before may fit now: a guard bounds all its loops.
    loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(i));
    i = 0;
  }
  return members;
}

/// Sorts by stride in the source; ties keep the order of the loops.
void sort_axes(std::vector<TileAxis>& tile, std::span<const int> loops, int inner) {
  for (TileAxis& t : tile)
    if (t.members[0].axis == inner) t.order = std::numeric_limits<int64_t>::min();
  std::ranges::sort(tile, {}, [&](const TileAxis& t) {
    return std::ranges::find(loops, t.members[0].axis) - loops.begin();
  });
  std::ranges::stable_sort(tile, std::greater(), &TileAxis::order);
}

}  // namespace

std::vector<TileAxis> tile_axes(const Kernel& kernel, const KValue& load,
                                std::span<const int> loops, int inner) {
  const Line line(kernel, load, loops);
  std::vector<Loop> moving;
  std::vector<TileAxis> tile;
  for (const int a : loops) {
    const KernelAxis& axis = kernel.axes[a];
    const std::optional<int64_t> move = move_of(load.index, axis);
    if (a != inner && move && *move > 0 && axis.extent.is_const())
      moving.push_back({a, *move, is_guarded(kernel, a)});
    else
      tile.push_back(axis_alone(kernel, load, a));
  }
  std::ranges::stable_sort(moving, {}, &Loop::order);
  while (!moving.empty()) {
    const int64_t unit = moving[0].move;
    const std::vector<Member> members = take_line(kernel, line, moving);
    if (!line.overlaps(members)) {
      for (const Member& m : members) tile.push_back(axis_alone(kernel, load, m.axis));
      continue;
    }
    const bool lanes = std::ranges::any_of(
        members, [&](const Member& m) { return kernel.axes[m.axis].bind == Bind::kVector; });
    tile.push_back({members, line.all_steps(members).reach(), lanes ? 0 : unit});
  }
  sort_axes(tile, loops, inner);
  return tile;
}

std::vector<TileAxis> tile_axes_apart(const Kernel& kernel, const KValue& load,
                                      std::span<const int> loops, int inner) {
  std::vector<TileAxis> tile;
  for (const int a : loops) {
    tile.push_back(axis_alone(kernel, load, a));
    // Loops of other loads are outside of the lanes too.
    if (kernel.axes[a].bind != Bind::kVector)
      tile.back().order = std::max<int64_t>(1, tile.back().order);
  }
  sort_axes(tile, loops, inner);
  return tile;
}

Guard guard_of_copy(const Kernel& kernel, const Guard& guard, std::span<const TileAxis> tile) {
  Guard copy{guard.lower, guard.upper, true};
  for (const TileAxis& t : tile) {
    if (t.members.size() == 1 || !depends(kernel, guard.lower, t.members)) continue;
    const GuardForm form = *form_of(kernel, guard, t.members);
    copy.lower = kernel.axes[t.copy].symbol() + form.rest * form.scale;
    copy.upper = (guard.upper - 1) * form.scale + free_of(kernel, guard, t.members)->reach();
  }
  const std::map<std::string, Expr> names = names_of_copy(kernel, tile);
  copy.lower = copy.lower.substitute(names);
  copy.upper = copy.upper.substitute(names);
  return copy;
}

std::map<std::string, Expr> names_of_copy(const Kernel& kernel, std::span<const TileAxis> tile) {
  std::map<std::string, Expr> names;
  for (const TileAxis& t : tile)
    for (const TileAxis::Member& m : t.members)
      names.emplace(kernel.axes[m.axis].name,
                    m.axis == t.members[0].axis ? kernel.axes[t.copy].symbol() : Expr(0));
  return names;
}

}  // namespace tenon
