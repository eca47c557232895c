// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/transforms/cache_reduction.hpp"

#include <algorithm>
#include <tuple>

namespace tenon {
namespace {

/// Value numbering, after an optional renaming of axes.
class Numbering {
 public:
  size_t of(const KValueRef& v, const std::map<std::string, Expr>& rename) {
    auto& known = rename.empty() ? plain_ : renamed_;
    if (const auto found = known.find(v.get()); found != known.end()) return found->second;
    std::vector<size_t> operands;
    for (const KValueRef& operand : v->operands) operands.push_back(of(operand, rename));
    Expr index = v->index.substitute(rename), mask = v->mask.substitute(rename);
    std::vector<Class>& classes =
        classes_[{v->kind, v->dtype, v->constant.dtype, v->constant.bits, v->buffer, v->op, v->bits,
                  std::move(operands), v->reduction, v->state}];
    auto same = std::ranges::find_if(
        classes, [&](const Class& c) { return c.index == index && c.mask == mask; });
    if (same == classes.end()) {
      classes.push_back({std::move(index), std::move(mask), next_++});
      same = classes.end() - 1;
    }
    return known[v.get()] = same->number;
  }

 private:
  struct Class {
    Expr index, mask;
    size_t number;
  };
  using Rest =
      std::tuple<KValueKind, DType, DType, uint64_t, int, Op, bool, std::vector<size_t>, int, int>;
  std::map<Rest, std::vector<Class>> classes_;
  std::unordered_map<const KValue*, size_t> plain_, renamed_;
  size_t next_ = 0;
};

void each_value(const Statement& s, const std::function<void(const KValueRef&)>& use) {
  if (s.value) use(s.value);
  for (const ReduceState& state : s.states) use(state.value);
}

int64_t loads_of(const std::vector<Statement>& body, int buffer) {
  int64_t count = 0;
  walk(body, [&](const Statement& s) {
    each_value(s, [&](const KValueRef& root) {
      visit(root, [&](const KValueRef& v) {
        count += v->kind == KValueKind::kLoad && v->buffer == buffer;
      });
    });
  });
  return count;
}

class CacheMatcher {
 public:
  CacheMatcher(Kernel& kernel, int reduce_axis, int later_axis)
      : kernel_(kernel), reduce_(reduce_axis), later_(later_axis), dependence_(kernel) {}

  CachedValues find() {
    find_places();
    if (!out_.expected.empty()) return std::move(out_);
    number_steps();
    rename_.emplace(kernel_.axes[later_].name, kernel_.axes[reduce_].symbol());
    const auto see = [&](const Statement& s) {
      each_value(s, [&](const KValueRef& v) { match(v); });
    };
    walk(std::as_const(*later_loop_).body, see);
    if (out_.values.empty())
      refuse("an op that the steps over " + kernel_.axes[reduce_].name + " compute too", "none");
    for (const KValueRef& v : out_.values)
      for (size_t d = 0; d < depth_; ++d)
        if (around_[d]->kind == Statement::Kind::kLoop &&
            is_jam(kernel_.axes[around_[d]->axis].bind) && dependence_.of(v)[around_[d]->axis])
          refuse("cache_reduction before the loops around are unrolled",
                 kernel_.axes[around_[d]->axis].name);
    return std::move(out_);
  }

 private:
  void refuse(std::string expected, std::string got) {
    out_.expected = std::move(expected);
    out_.got = std::move(got);
  }

  void find_places() {
    const KernelAxis& r = kernel_.axes[reduce_];
    const KernelAxis& a = kernel_.axes[later_];
    around_ = path_to(kernel_, reduce_);
    const std::vector<Statement*> to_later = path_to(kernel_, later_);
    later_loop_ = to_later.back();
    const bool direct =
        around_.size() >= 2 && r.kind == AxisKind::kReduce &&
        around_[around_.size() - 2]->kind == Statement::Kind::kReduce &&
        !around_[around_.size() - 2]->running && around_[around_.size() - 2]->body.size() == 1 &&
        std::ranges::any_of(around_.back()->body,
                            [](const Statement& s) { return s.kind == Statement::Kind::kStep; });
    if (!direct) return refuse("the only axis of a reduction", r.name);
    depth_ = around_.size() - 2;
    out_.reduction = around_[depth_];
    // Siblings are in one vector: their addresses are in execution order.
    if (to_later.size() <= depth_ ||
        !std::equal(around_.begin(), around_.begin() + static_cast<std::ptrdiff_t>(depth_),
                    to_later.begin()) ||
        to_later[depth_] <= out_.reduction)
      return refuse(a.name + " after the reduction over " + r.name, "another place");
    if (!(a.extent == r.extent))
      return refuse("axes of one extent", to_string(r.extent) + " and " + to_string(a.extent));
    for (const Guard& g : kernel_.guards)
      if (dependence_.of(g.lower)[reduce_] || dependence_.of(g.upper)[reduce_])
        return refuse("a reduce axis without padding", r.name);
  }

  /// True for a load of memory that a scatter may change in between.
  bool changes(const KValueRef& v) const {
    if (v->kind != KValueKind::kLoad || !kernel_.buffers[v->buffer].written ||
        kernel_.buffers[v->buffer].space != BufferSpace::kGlobal)
      return false;
    return std::ranges::any_of(kernel_.axes,
                               [](const KernelAxis& x) { return x.kind == AxisKind::kOrdered; });
  }

  void number_steps() {
    for (const ReduceState& state : out_.reduction->states) {
      bool stable = true;
      visit(state.value, [&](const KValueRef& v) { stable &= !changes(v); });
      if (!stable) continue;
      visit(state.value, [&](const KValueRef& v) {
        const size_t number = numbers_.of(v, {});
        if (v->kind == KValueKind::kOp && dependence_.of(v)[reduce_]) steps_.emplace(number, v);
      });
    }
  }

  void match(const KValueRef& v) {
    if (!seen_.emplace(v.get(), true).second) return;
    if (v->kind == KValueKind::kOp && dependence_.of(v)[later_]) {
      if (const auto step = steps_.find(numbers_.of(v, rename_)); step != steps_.end()) {
        const auto known = std::ranges::find(out_.values, step->second);
        out_.uses[v.get()] = static_cast<size_t>(known - out_.values.begin());
        if (known == out_.values.end()) out_.values.push_back(step->second);
        return;
      }
    }
    for (const KValueRef& operand : v->operands) match(operand);
  }

  Kernel& kernel_;
  int reduce_, later_;
  Dependence dependence_;
  CachedValues out_;
  std::vector<Statement*> around_;
  size_t depth_ = 0;
  Statement* later_loop_ = nullptr;
  Numbering numbers_;
  std::map<std::string, Expr> rename_;
  std::unordered_map<size_t, KValueRef> steps_;
  std::unordered_map<const KValue*, bool> seen_;
};

bool any_tile_store(Kernel& kernel, int axis,
                    const std::function<bool(Dependence&, const Statement&)>& holds) {
  Dependence dependence(kernel);
  bool found = false;
  walk(path_to(kernel, axis).back()->body, [&](Statement& s) {
    if (s.kind == Statement::Kind::kStore && kernel.buffers[s.buffer].materialised)
      found |= holds(dependence, s);
  });
  return found;
}

}  // namespace

CachedValues find_cached(Kernel& kernel, int reduce_axis, int later_axis) {
  return CacheMatcher(kernel, reduce_axis, later_axis).find();
}

bool stores_dependent_value(Kernel& kernel, int axis) {
  return any_tile_store(kernel, axis, [&](Dependence& d, const Statement& s) {
    return d.of(s.value)[axis] && !d.of(s.index)[axis];
  });
}

bool fills_scratch(Kernel& kernel, int axis) {
  // The axis of a loop of one iteration is in no index.
  const bool is_one = kernel.axes[axis].extent.max() <= 1;
  const std::vector<Statement>& inside = path_to(kernel, axis).back()->body;
  return any_tile_store(kernel, axis, [&](Dependence& d, const Statement& s) {
    if (kernel.buffers[s.buffer].space != BufferSpace::kScratch) return false;
    if (is_one) return loads_of(kernel.body, s.buffer) != loads_of(inside, s.buffer);
    return d.of(s.index)[axis];
  });
}

}  // namespace tenon
