// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/tree/nest_statements.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_set>

#include "core/support/error.hpp"

namespace tenon {
namespace {

using IdSet = std::vector<bool>;

/// The reductions that each reduction depends on, directly or through other reductions and lets.
class ReductionDependence {
 public:
  explicit ReductionDependence(const Kernel& kernel) : kernel_(kernel), of_(kernel.reductions) {
    for (const Statement& r : kernel.body) {  // operands first
      IdSet& set = of_[r.id];
      set.assign(kernel.reductions, false);
      seen_.clear();
      for (const ReduceState& state : r.states) add(state.value, set);
    }
  }
  bool needs(int user, int id) const { return of_[user][id]; }

 private:
  void add(const KValueRef& value, IdSet& set) {
    visit(value, [&](const KValueRef& v) {
      if (v->kind == KValueKind::kResult) {
        set[v->reduction] = true;
        for (size_t i = 0; i < set.size(); ++i) set[i] = set[i] || of_[v->reduction][i];
      }
      if (v->kind == KValueKind::kIndex || v->kind == KValueKind::kLoad) {
        add(v->index, set);
        add(v->mask, set);
      }
    });
  }
  void add(const Expr& expr, IdSet& set) {
    std::map<std::string, Expr> symbols;
    expr.collect_symbols(symbols);
    for (const Let& let : kernel_.lets)
      if (symbols.contains(let.symbol) && seen_.insert(&let).second) add(let.value, set);
  }
  const Kernel& kernel_;
  std::unordered_set<const Let*> seen_;
  std::vector<IdSet> of_;
};

std::vector<int> own_axes(const Statement& reduction) {
  std::vector<int> axes;
  walk(reduction.body, [&](const Statement& s) {
    if (s.kind == Statement::Kind::kLoop) axes.push_back(s.axis);
  });
  return axes;
}

bool same_extents(const Kernel& kernel, const std::vector<int>& a, const std::vector<int>& b) {
  return std::ranges::equal(
      a, b, [&](int x, int y) { return kernel.axes[x].extent == kernel.axes[y].extent; });
}

/// Structural equality of values, memoised.
class Equal {
 public:
  bool operator()(const KValueRef& a, const KValueRef& b) {
    if (a == b || known_.contains({a.get(), b.get()})) return true;
    if (a->kind != b->kind || a->dtype != b->dtype || a->op != b->op || a->bits != b->bits ||
        a->approximate != b->approximate || a->buffer != b->buffer ||
        a->reduction != b->reduction || a->state != b->state || !(a->index == b->index) ||
        !(a->mask == b->mask) || !(a->constant == b->constant) ||
        a->operands.size() != b->operands.size())
      return false;
    for (size_t i = 0; i < a->operands.size(); ++i)
      if (!(*this)(a->operands[i], b->operands[i])) return false;
    known_.insert({a.get(), b.get()});
    return true;
  }

 private:
  std::set<std::pair<const KValue*, const KValue*>> known_;
};

/// Removes duplicate states; returns the new number of each state.
std::vector<int> deduplicate(std::vector<ReduceState>& states) {
  std::vector<int> out;
  std::vector<ReduceState> unique;
  Equal equal;
  for (ReduceState& state : states) {
    const auto same = std::ranges::find_if(unique, [&](const ReduceState& other) {
      return other.op == state.op && other.dtype == state.dtype &&
             other.precision == state.precision && equal(other.value, state.value);
    });
    out.push_back(static_cast<int>(same - unique.begin()));
    if (same == unique.end()) unique.push_back(std::move(state));
  }
  states = std::move(unique);
  return out;
}

/// Fuses reduction `from` into `to` and updates all uses.
void fuse_reduction(Kernel& kernel, std::vector<LoopNest>& nests, int to, int from) {
  Statement& target = kernel.body[to];
  Statement& source = kernel.body[from];
  const std::vector<int> into = own_axes(target), axes = own_axes(source);
  const int first = static_cast<int>(target.states.size());
  for (ReduceState& state : source.states) target.states.push_back(std::move(state));
  const int to_id = target.id, from_id = source.id;
  kernel.body.erase(kernel.body.begin() + from);
  std::map<std::string, Expr> rename;
  for (size_t i = 0; i < axes.size(); ++i)
    rename.emplace(kernel.axes[axes[i]].name, kernel.axes[into[i]].symbol());
  // The stores are in the body while it is rewritten.
  const size_t reductions = kernel.body.size();
  for (LoopNest& nest : nests)
    for (Statement& store : nest.stores) kernel.body.push_back(std::move(store));
  substitute(kernel, rename);
  const std::vector<int> new_state = deduplicate(kernel.body[static_cast<size_t>(to)].states);
  rewrite_values(kernel, [&](const KValueRef& v) -> KValueRef {
    if (v->kind != KValueKind::kResult || (v->reduction != from_id && v->reduction != to_id))
      return v;
    const int state =
        new_state[static_cast<size_t>(v->reduction == from_id ? first + v->state : v->state)];
    return v->reduction == to_id && state == v->state ? v : make_result(to_id, state, v->dtype);
  });
  size_t next = reductions;
  for (LoopNest& nest : nests)
    for (Statement& store : nest.stores) store = std::move(kernel.body[next++]);
  kernel.body.resize(reductions);
}

/// Nothing if `from` depends on `to` or on a reduction after it that is not nested in `from`. Else
/// the nested ones, which move along.
std::optional<std::vector<size_t>> nested_to_move(const Kernel& kernel, Dependence& dependence,
                                                  size_t to, size_t from) {
  const ReductionDependence needs(kernel);
  std::vector<size_t> inside;
  const std::vector<int> own = own_axes(kernel.body[from]);
  for (size_t k = to; k < from; ++k) {
    if (!needs.needs(kernel.body[from].id, kernel.body[k].id)) continue;
    const AxisSet& axes = dependence.of_reduction(kernel.body[k].id);
    if (k == to || std::ranges::none_of(own, [&](int axis) { return axes[axis]; }))
      return std::nullopt;
    inside.push_back(k);
  }
  return inside;
}

bool fuse_one(Kernel& kernel, std::vector<LoopNest>& nests) {
  Dependence dependence(kernel);
  for (size_t from = 1; from < kernel.body.size(); ++from) {
    for (size_t to = 0; to < from; ++to) {
      const Statement& a = kernel.body[to];
      const Statement& b = kernel.body[from];
      if (dependence.of_reduction(a.id) != dependence.of_reduction(b.id) ||
          !same_extents(kernel, own_axes(a), own_axes(b)))
        continue;
      const auto inside = nested_to_move(kernel, dependence, to, from);
      if (!inside) continue;
      size_t at = to;
      for (const size_t k : *inside) {
        const auto begin = kernel.body.begin();
        std::rotate(begin + static_cast<std::ptrdiff_t>(at), begin + static_cast<std::ptrdiff_t>(k),
                    begin + static_cast<std::ptrdiff_t>(k) + 1);
        ++at;
      }
      fuse_reduction(kernel, nests, static_cast<int>(at), static_cast<int>(from));
      return true;
    }
  }
  return false;
}

/// The body of the deepest loop of an axis in the set; the kernel's body if there is none.
std::vector<Statement>& deepest(Kernel& kernel, const AxisSet& axes) {
  std::vector<Statement>* body = &kernel.body;
  size_t depth = 0;
  for (size_t i = 0; i < kernel.axes.size(); ++i) {
    if (!axes[i]) continue;
    const std::vector<Statement*> path = path_to(kernel, static_cast<int>(i));
    if (path.size() <= depth) continue;
    depth = path.size();
    body = &path.back()->body;
  }
  return *body;
}

}  // namespace

void fuse_reductions(Kernel& kernel, std::vector<LoopNest>& nests) {
  while (fuse_one(kernel, nests)) {
  }
}

void place_statements(Kernel& kernel, std::vector<LoopNest> nests) {
  std::vector<Statement> reductions = kernel.body;
  std::vector<AxisSet> needed;
  std::vector<std::vector<AxisSet>> stores(nests.size());
  {
    Dependence dependence(kernel);
    for (const Statement& r : reductions) needed.push_back(dependence.of_reduction(r.id));
    for (size_t n = 0; n < nests.size(); ++n)
      for (const Statement& s : nests[n].stores)
        stores[n].push_back(dependence.of(s.index) | dependence.of(s.mask) |
                            dependence.of(s.value));
  }
  kernel.body.clear();
  for (size_t n = 0; n < nests.size(); ++n) {
    LoopNest& nest = nests[n];
    const auto users = [&](int axis) {
      return std::ranges::count_if(needed, [&](const AxisSet& s) { return s[axis]; }) +
             std::ranges::count_if(stores[n], [&](const AxisSet& s) { return s[axis]; });
    };
    std::ranges::stable_sort(nest.axes, std::greater(), users);
    std::vector<Statement>* body = &kernel.body;
    for (const int axis : nest.axes) {
      Statement loop;
      loop.axis = axis;
      body->push_back(std::move(loop));
      body = &body->back().body;
    }
    // A store comes after the loops next to it: they may read what it overwrites.
    for (size_t i = 0; i < nest.stores.size(); ++i) {
      AxisSet own;
      for (const int axis : nest.axes) own[axis] = nest.ordered || stores[n][i][axis];
      deepest(kernel, own).push_back(std::move(nest.stores[i]));
    }
  }
  // Backwards: users come later in the list, so their loops exist already.
  for (size_t i = reductions.size(); i-- > 0;) {
    std::vector<Statement>& body = deepest(kernel, needed[i]);
    body.insert(body.begin(), std::move(reductions[i]));
  }
}

}  // namespace tenon
