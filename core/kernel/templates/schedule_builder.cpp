// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/templates/schedule_builder.hpp"

#include <algorithm>
#include <bit>
#include <unordered_set>

#include "core/kernel/transforms/cache_reduction.hpp"
#include "core/kernel/transforms/staged_loads.hpp"

namespace tenon {
namespace {

constexpr int64_t kAssumedSize = 4096;

void count_divisions(const Expr& expr, std::unordered_set<const Expr::Node*>& seen, int& count) {
  if (!seen.insert(expr.node()).second) return;
  count += expr.kind() == ExprKind::kDiv || expr.kind() == ExprKind::kMod;
  if (expr.kind() == ExprKind::kSum) {
    for (const auto& [coefficient, term] : expr.terms()) count_divisions(term, seen, count);
  } else if (expr.kind() != ExprKind::kConst && expr.kind() != ExprKind::kSymbol) {
    for (const Expr& operand : expr.operands()) count_divisions(operand, seen, count);
  }
}

}  // namespace

int64_t floor_pow2(int64_t n) {
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(1, n))));
}

int64_t ceil_pow2(int64_t n) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(1, n))));
}

int divisions(const Kernel& kernel) {
  int count = 0;
  std::unordered_set<const Expr::Node*> seen;
  std::vector<KValueRef> keep;
  const auto value = [&](const KValueRef& root) {
    visit(root, [&](const KValueRef& v) {
      count_divisions(v->index, seen, count);
      count_divisions(v->mask, seen, count);
    });
  };
  for (const Let& let : kernel.lets) value(let.value);
  walk(kernel.body, [&](const Statement& s) {
    count_divisions(s.index, seen, count);
    count_divisions(s.mask, seen, count);
    if (s.value) value(s.value);
    for (const ReduceState& state : s.states) value(state.value);
  });
  return count;
}

bool is_expensive(const KValue& v) {
  constexpr int kPass = 5;
  return v.kind == KValueKind::kOp && op_info(v.op).cost > kPass;
}

void ScheduleBuilder::give_up(std::string expected) {
  if (!refusal_)
    refusal_ = {ErrorKind::kInternal,
                fmt::format("[templates] expected {}, got another", expected)};
}

bool ScheduleBuilder::step(Transform transform) {
  if (refusal_) return false;
  refusal_ = try_apply(kernel, transform);
  if (refusal_) return false;
  list.push_back(std::move(transform));
  return true;
}

bool ScheduleBuilder::step_if_legal(Transform transform) {
  if (refusal_ || try_apply(kernel, transform)) return false;
  list.push_back(std::move(transform));
  return true;
}

std::pair<int, int> ScheduleBuilder::halves(bool done, int axis) const {
  const int last = static_cast<int>(kernel.axes.size()) - 1;
  return done ? std::pair(last - 1, last) : std::pair(axis, axis);
}

std::pair<int, int> ScheduleBuilder::split(int axis, int64_t factor) {
  return halves(step(transforms::Split<int>{axis, factor}), axis);
}

int ScheduleBuilder::fuse(int outer, int inner) {
  const bool done = step(transforms::Fuse<int>{outer, inner});
  return done ? static_cast<int>(kernel.axes.size()) - 1 : outer;
}

void ScheduleBuilder::reorder(const std::vector<int>& axes) {
  step(transforms::Reorder<int>{axes});
}

void ScheduleBuilder::unroll(int axis) {
  if (!extent(axis).is_const(1)) step(transforms::Unroll<int>{axis});
}

void ScheduleBuilder::vectorize(int axis) {
  if (!extent(axis).is_const(1)) step(transforms::Vectorize<int>{axis});
}

bool ScheduleBuilder::bind(int axis, Bind place) {
  return step_if_legal(transforms::Bind<int>{axis, place});
}

std::pair<int, int> ScheduleBuilder::group(int axis, int64_t threads) {
  return halves(step(transforms::Group<int>{axis, threads}), axis);
}

void ScheduleBuilder::tensorize(int m, int n, int k, int64_t threads, int64_t across) {
  step(transforms::Tensorize<int>{m, n, k, threads, across});
}

bool ScheduleBuilder::stage(const transforms::Stage<int>& stage) { return step_if_legal(stage); }

bool ScheduleBuilder::stage(const KValueRef& load, int axis, std::optional<int> inner,
                            int64_t pad) {
  const std::vector<KValueRef> loads = distinct_loads(kernel, axis, load->buffer);
  const auto load_number = std::ranges::find_if(
      loads, [&](const KValueRef& other) { return reads_same(*other, *load); });
  if (load_number == loads.end()) return false;
  BufferWay source{load->buffer, std::nullopt};
  if (loads.size() > 1) source.way = static_cast<int>(load_number - loads.begin());
  return stage({.source = source, .at = axis, .pad = pad, .inner = inner});
}

bool ScheduleBuilder::multi_buffer(int axis, int64_t stages) {
  return step_if_legal(transforms::MultiBuffer<int>{axis, stages});
}

void ScheduleBuilder::dot(int axis) { step(transforms::Dot<int>{axis}); }

bool ScheduleBuilder::compute_at(int reduce_axis, int at) {
  return step_if_legal(transforms::ComputeAt<int>{reduce_axis, at});
}

bool ScheduleBuilder::online_softmax(const transforms::OnlineSoftmax<int>& softmax) {
  return step_if_legal(softmax);
}

bool ScheduleBuilder::cooperative_load(int axis) {
  return step_if_legal(transforms::CooperativeLoad<int>{axis});
}

bool ScheduleBuilder::scan(int reduce_axis, int axis) {
  return step_if_legal(transforms::Scan<int>{reduce_axis, axis});
}

bool ScheduleBuilder::precompute(int reduce_axis, int64_t block, int at) {
  return step_if_legal(transforms::Precompute<int>{reduce_axis, block, at});
}

bool ScheduleBuilder::cache_reduction(int reduce_axis, int later_axis) {
  const CachedValues cached = find_cached(kernel, reduce_axis, later_axis);
  int64_t bytes = 0;
  bool pays = false;
  for (const KValueRef& value : cached.values) {
    bytes += static_cast<int64_t>(dtype_size(value->dtype));
    visit(value, [&](const KValueRef& v) { pays |= is_expensive(*v); });
  }
  // Half of the private cache is for the row, the rest for streams.
  const int64_t cache = caps.l2_bytes ? static_cast<int64_t>(caps.l2_bytes) / 2 : 128 << 10;
  const int64_t room =
      caps.max_scratch_bytes ? std::min<int64_t>(cache, caps.max_scratch_bytes) : cache;
  if (!pays || extent(reduce_axis).max() > room / bytes) return false;
  return step_if_legal(transforms::CacheReduction<int>{reduce_axis, later_axis});
}

int64_t ScheduleBuilder::choose(std::string_view point, int64_t rule,
                                std::initializer_list<int64_t> others) const {
  if (!decide_) return rule;
  std::vector<int64_t> options{rule};
  for (const int64_t other : others)
    if (std::ranges::find(options, other) == options.end()) options.push_back(other);
  return options[std::min(decide_(point, options), options.size() - 1)];
}

bool ScheduleBuilder::attempt(const std::function<bool(ScheduleBuilder&)>& schedule) {
  ScheduleBuilder trial(kernel, caps, decide_);
  if (!schedule(trial) || trial.refusal_) return false;
  kernel = std::move(trial.kernel);
  list.insert(list.end(), trial.list.begin(), trial.list.end());
  return true;
}

int64_t ScheduleBuilder::size(int axis) const {
  const Expr& e = extent(axis);
  return e.is_const() ? e.value() : std::min(e.max(), kAssumedSize);
}

std::vector<int> ScheduleBuilder::perfect_nest(const Statement& loop) const {
  std::vector<int> axes;
  const Statement* s = &loop;
  while (s->kind == Statement::Kind::kLoop) {
    axes.push_back(s->axis);
    if (s->body.size() != 1) break;
    s = &s->body[0];
  }
  return axes;
}

std::vector<KValueRef> ScheduleBuilder::loads(const Statement& s) const {
  std::vector<KValueRef> out;
  std::unordered_set<const KValue*> seen;
  const auto see = [&](const KValueRef& v) {
    if (v->kind == KValueKind::kLoad && seen.insert(v.get()).second) out.push_back(v);
  };
  const auto one = [&](const Statement& t) {
    if (t.value) visit(t.value, see);
    for (const ReduceState& state : t.states) visit(state.value, see);
  };
  one(s);
  walk(s.body, one);
  return out;
}

std::vector<const Statement*> ScheduleBuilder::stores(const Statement& s) const {
  std::vector<const Statement*> out;
  if (s.kind == Statement::Kind::kStore) out.push_back(&s);
  walk(s.body, [&](const Statement& t) {
    if (t.kind == Statement::Kind::kStore) out.push_back(&t);
  });
  return out;
}

std::vector<const Statement*> ScheduleBuilder::reductions(const Statement& s) const {
  std::vector<const Statement*> out;
  if (s.kind == Statement::Kind::kReduce) out.push_back(&s);
  walk(s.body, [&](const Statement& t) {
    if (t.kind == Statement::Kind::kReduce) out.push_back(&t);
  });
  return out;
}

std::optional<int64_t> ScheduleBuilder::stride(const Expr& index, int axis) const {
  const std::string& name = kernel.axes[axis].name;
  for (const Let& let : kernel.lets)
    if (index.depends_on(let.symbol) && Dependence(kernel).of(let.value)[axis]) return std::nullopt;
  if (!index.depends_on(name)) return 0;
  int64_t coefficient = 0;
  Expr rest;
  if (index.linear_in(name, coefficient, rest)) return coefficient;
  return std::nullopt;
}

int64_t ScheduleBuilder::lanes(const Statement& s) const {
  size_t bytes = 1;
  AxisSet inside;
  const auto loops = [&](const Statement& t) {
    if (t.kind == Statement::Kind::kLoop) inside.set(static_cast<size_t>(t.axis));
  };
  loops(s);
  walk(s.body, loops);
  Dependence dependence(kernel);
  const auto see = [&](const KValueRef& v) {
    // Neither index arithmetic of a gather nor uniform values count.
    if (v->kind != KValueKind::kIndex && dtype_size(v->dtype) > bytes &&
        (dependence.of(v) & inside).any())
      bytes = dtype_size(v->dtype);
  };
  const auto one = [&](const Statement& t) {
    if (t.value) visit(t.value, see);
    for (const ReduceState& state : t.states) visit(state.value, see);
  };
  one(s);
  walk(s.body, one);
  return std::clamp<int64_t>(static_cast<int64_t>(caps.vector_bytes / bytes), 1, 64);
}

int64_t ScheduleBuilder::bytes_moved(const Statement& s) const {
  int64_t bytes = 0;
  for (const KValueRef& v : loads(s)) bytes += static_cast<int64_t>(dtype_size(v->dtype));
  for (const Statement* t : stores(s)) bytes += static_cast<int64_t>(dtype_size(t->value->dtype));
  return std::max<int64_t>(1, bytes);
}

int ScheduleBuilder::fuse_if(int outer, int inner, const std::function<bool(int fused)>& keeps) {
  Kernel before = kernel;
  if (!step_if_legal(transforms::Fuse<int>{outer, inner})) return -1;
  const int fused = static_cast<int>(kernel.axes.size()) - 1;
  if (keeps(fused)) return fused;
  kernel = std::move(before);
  list.pop_back();
  return -1;
}

int ScheduleBuilder::fuse_all(const std::vector<int>& axes) {
  int fused = axes[0];
  for (size_t i = 1; i < axes.size(); ++i) fused = fuse(fused, axes[i]);
  return fused;
}

std::vector<int> ScheduleBuilder::fuse_contiguous(std::vector<int> axes) {
  int before = divisions(kernel);
  for (size_t i = 0; i + 1 < axes.size();) {
    const bool parallel = kernel.axes[axes[i]].kind == AxisKind::kParallel &&
                          kernel.axes[axes[i + 1]].kind == AxisKind::kParallel;
    // A few more divisions cost less than short inner loops, if indices have many already.
    const auto keeps = [&](int) { return divisions(kernel) <= before + before / 8; };
    const int fused = parallel ? fuse_if(axes[i], axes[i + 1], keeps) : -1;
    if (fused < 0) {
      ++i;
      continue;
    }
    before = divisions(kernel);
    axes[i] = fused;
    axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
  return axes;
}

int transposed_axis(const ScheduleBuilder& builder, const std::vector<int>& axes,
                    const KValue& load, int64_t least) {
  const auto along_n = builder.stride(load.index, axes.back());
  if (!load.mask.is_const(1) || !along_n || std::abs(*along_n) <= least) return -1;
  for (const int a : axes)
    if (a != axes.back() && builder.stride(load.index, a) == 1) return a;
  return -1;
}

void bind_grid(ScheduleBuilder& builder, int axis, int64_t per_item, Bind place) {
  uint32_t limit =
      builder.caps.max_grid[static_cast<size_t>(place) - static_cast<size_t>(Bind::kGridX)];
  // Sections share the workgroups along x.
  const auto sections = static_cast<uint32_t>(builder.kernel.sections.size());
  if (limit != 0 && sections > 1 && place == Bind::kGridX) limit = std::max(1U, limit / sections);
  // A power of two likely divides the extent.
  auto factor =
      static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(1, per_item))));
  if (limit != 0) {
    const int64_t most = builder.extent(axis).max();
    factor = std::max(factor, (most + limit - 1) / limit);
  }
  if (builder.extent(axis).is_const() && builder.extent(axis).value() <= factor) return;
  builder.bind(factor == 1 ? axis : builder.split(axis, factor).first, place);
}

std::vector<KValueRef> ScheduleBuilder::loads_of_pass(int axis) {
  const std::vector<Statement*> path = path_to(kernel, axis);
  for (size_t i = path.size(); i-- > 0;)
    if (path[i]->kind == Statement::Kind::kReduce) return loads(*path[i]);
  return loads(*path.back());
}

int64_t ScheduleBuilder::lanes_of(DType dtype) const {
  const bool is_packed = static_cast<int64_t>(dtype_size(dtype)) < caps.storage_bytes;
  return is_packed ? 1 : caps.of(dtype).vector_lanes;
}

int64_t ScheduleBuilder::short_vector(const Statement& s, int axis) const {
  int64_t lanes = short_vector_of(loads(s), axis);
  for (const Statement* t : stores(s)) {
    const bool contiguous = stride(t->index, axis) == 1 && t->mask.is_const(1);
    const Expr base = t->index.substitute({{kernel.axes[axis].name, Expr(0)}});
    lanes = std::min<int64_t>(lanes, contiguous ? lanes_of(t->value->dtype) : 1);
    while (lanes > 1 && !base.divisible_by(lanes)) lanes /= 2;
  }
  return lanes;
}

int64_t ScheduleBuilder::short_vector_of(const std::vector<KValueRef>& loads, int axis) const {
  if (!caps.has(Op::BROADCAST)) return 1;
  int64_t lanes = 16;
  for (const KValueRef& v : loads) {
    const auto step = stride(v->index, axis);
    if (step == 0) continue;
    const Expr base = v->index.substitute({{kernel.axes[axis].name, Expr(0)}});
    lanes = std::min<int64_t>(lanes, step == 1 ? lanes_of(v->dtype) : 1);
    while (lanes > 1 && !base.divisible_by(lanes)) lanes /= 2;
  }
  const Expr& count = extent(axis);
  if (count.is_const())
    while (lanes > 1 && count.value() < lanes) lanes /= 2;
  return floor_pow2(lanes);
}

int64_t ScheduleBuilder::placed(Bind place) const {
  for (const KernelAxis& a : kernel.axes)
    if (a.bind == place) return a.extent.value();
  return 0;
}

int64_t ScheduleBuilder::threads_on_x(int64_t wanted) const {
  int64_t most = caps.max_workgroup_threads;
  if (caps.max_workgroup[0]) most = std::min<int64_t>(most, caps.max_workgroup[0]);
  return floor_pow2(std::min(wanted, most));
}

int64_t ScheduleBuilder::threads_on_y(int64_t x, int64_t wanted) const {
  int64_t most = caps.max_workgroup_threads / std::max<int64_t>(1, x);
  if (caps.max_workgroup[1]) most = std::min<int64_t>(most, caps.max_workgroup[1]);
  return floor_pow2(std::min(wanted, most));
}

int64_t ScheduleBuilder::subgroup_threads() const {
  const bool fixed = caps.subgroup_min == caps.subgroup_max && caps.subgroup_max > 1;
  return fixed && caps.has(Op::SUBGROUP_SHUFFLE) ? floor_pow2(caps.subgroup_max) : 1;
}

int64_t ScheduleBuilder::register_threads() const {
  constexpr int64_t kRegister = 8;  // if the device reports no subgroups
  if (const int64_t there = placed(Bind::kBlockX)) return there;
  const int64_t subgroup = subgroup_threads();
  return subgroup > 1 ? subgroup : threads_on_x(kRegister);
}

}  // namespace tenon
