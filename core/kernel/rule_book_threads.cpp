// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Questions of the recipes for devices with workgroups.
#include <algorithm>
#include <bit>

#include "core/kernel/rule_book.hpp"

namespace tenon {
namespace {

int64_t floor_pow2(int64_t n) {
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(1, n))));
}

}  // namespace

std::vector<KValueRef> RuleBook::loads_of_pass(int axis) {
  const std::vector<Statement*> path = path_to(kernel, axis);
  for (size_t i = path.size(); i-- > 0;)
    if (path[i]->kind == Statement::Kind::kReduce) return loads(*path[i]);
  return loads(*path.back());
}

int64_t RuleBook::short_vector(const Statement& s, int axis) const {
  int64_t lanes = short_vector_of(loads(s), axis);
  for (const Statement* t : stores(s)) {
    const bool contiguous = stride(t->index, axis) == 1 && t->mask.is_const(1);
    const Expr base = t->index.substitute({{kernel.axes[axis].name, Expr(0)}});
    lanes = std::min<int64_t>(lanes, contiguous ? caps.of(t->value->dtype).vector_lanes : 1);
    while (lanes > 1 && !base.divisible_by(lanes)) lanes /= 2;
  }
  return lanes;
}

int64_t RuleBook::short_vector_of(const std::vector<KValueRef>& loads, int axis) const {
  if (!caps.has(Op::BROADCAST) || caps.storage_bytes > 1) return 1;
  int64_t lanes = 16;
  for (const KValueRef& v : loads) {
    const auto step = stride(v->index, axis);
    if (step == 0) continue;
    const Expr base = v->index.substitute({{kernel.axes[axis].name, Expr(0)}});
    lanes = std::min<int64_t>(lanes, step == 1 ? caps.of(v->dtype).vector_lanes : 1);
    while (lanes > 1 && !base.divisible_by(lanes)) lanes /= 2;
  }
  const Expr& count = extent(axis);
  if (count.is_const())
    while (lanes > 1 && count.value() < lanes) lanes /= 2;
  return floor_pow2(lanes);
}

int64_t RuleBook::placed(Bind place) const {
  for (const KernelAxis& a : kernel.axes)
    if (a.bind == place) return a.extent.value();
  return 0;
}

int64_t RuleBook::threads_on_x(int64_t wanted) const {
  int64_t most = caps.max_workgroup_threads;
  if (caps.max_workgroup[0]) most = std::min<int64_t>(most, caps.max_workgroup[0]);
  return floor_pow2(std::min(wanted, most));
}

int64_t RuleBook::threads_on_y(int64_t x, int64_t wanted) const {
  int64_t most = caps.max_workgroup_threads / std::max<int64_t>(1, x);
  if (caps.max_workgroup[1]) most = std::min<int64_t>(most, caps.max_workgroup[1]);
  return floor_pow2(std::min(wanted, most));
}

int64_t RuleBook::subgroup_threads() const {
  const bool fixed = caps.subgroup_min == caps.subgroup_max && caps.subgroup_max > 1;
  return fixed && caps.has(Op::SUBGROUP_SHUFFLE) ? floor_pow2(caps.subgroup_max) : 1;
}

}  // namespace tenon
