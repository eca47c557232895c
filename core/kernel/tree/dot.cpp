// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/tree/dot.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace tenon {
namespace {

constexpr int64_t kMost = 16;  ///< adjacent elements of one DOT

/// The two narrower loads of a sum of products; null for other reductions.
std::array<KValueRef, 2> factors_of(const Statement& reduction) {
  if (reduction.running || reduction.states.size() != 1 || reduction.states[0].op != Op::ADD)
    return {};
  const ReduceState& sum = reduction.states[0];
  if (sum.value->kind != KValueKind::kOp || sum.value->op != Op::MUL) return {};
  std::array<KValueRef, 2> out;
  for (size_t i = 0; i < 2; ++i) {
    out[i] = widened_load(sum.value->operands[i]);
    if (!out[i] || dtype_size(out[i]->dtype) >= dtype_size(sum.dtype)) return {};
  }
  return out;
}

/// How a dot product matches dtypes in this order: exactly, or with the first operand biased.
enum class Match : uint8_t { kNone, kBiased, kExact };

Match match(const DotAtom& atom, DType x, DType y) {
  if (atom.b != y) return Match::kNone;
  if (atom.a == x) return Match::kExact;
  const bool biased = is_int(x) && is_signed(x) && is_int(atom.a) && !is_signed(atom.a) &&
                      dtype_size(x) == dtype_size(atom.a);
  return biased ? Match::kBiased : Match::kNone;
}

Match match_either(const DotAtom& atom, DType x, DType y) {
  return std::max(match(atom, x, y), match(atom, y, x));
}

}  // namespace

int dot_axis(const Statement& reduction, const Kernel& kernel) {
  for (const Statement& s : reduction.body) {
    if (s.kind != Statement::Kind::kLoop) continue;  // a reduction in it has its own
    if (kernel.axes[s.axis].bind == Bind::kDot) return s.axis;
    if (const int axis = dot_axis(s, kernel); axis >= 0) return axis;
  }
  return -1;
}

std::string check_dot(Kernel& kernel, const Statement& reduction, int axis) {
  const Expr& extent = kernel.axes[axis].extent;
  if (!extent.is_const() || extent.value() < 2 || extent.value() > kMost ||
      !std::has_single_bit(static_cast<uint64_t>(extent.value())))
    return "2, 4, 8 or 16 elements";
  const std::vector<Statement*> path = path_to(kernel, axis);
  const std::vector<Statement>& inside = path.back()->body;
  if (inside.size() != 1 || inside[0].kind != Statement::Kind::kStep)
    return "the step alone inside " + kernel.axes[axis].name;
  const auto [x, y] = factors_of(reduction);
  if (!x || !y) return "a sum of products of two narrower loads";
  int lanes = -1;
  for (const Statement* s : path)
    if (s->kind == Statement::Kind::kLoop && kernel.axes[s->axis].bind == Bind::kVector)
      lanes = s->axis;
  bool follows = false;
  for (const KValueRef& load : {x, y}) {
    std::map<std::string, Expr> symbols;
    load->index.collect_symbols(symbols);
    const bool known = std::ranges::none_of(
        kernel.lets, [&](const Let& let) { return symbols.contains(let.symbol); });
    if (!load->mask.is_const(1) || !known)
      return "loads without masks at indices that depend on no data";
    int64_t step = 0;
    Expr rest;
    if (!load->index.linear_in(kernel.axes[axis].name, step, rest) || step != 1)
      return "contiguous elements along " + kernel.axes[axis].name;
    if (lanes < 0 || !rest.depends_on(kernel.axes[lanes].name)) continue;
    if (!rest.linear_in(kernel.axes[lanes].name, step, rest) || step != extent.value())
      return "contiguous lanes along " + kernel.axes[lanes].name;
    follows = true;
  }
  if (lanes >= 0 && kernel.axes[lanes].kind == AxisKind::kReduce && !follows)
    return "a factor that depends on " + kernel.axes[lanes].name;
  return {};
}

const DotAtom* find_dot(DType x, DType y, const ReduceState& sum,
                        const Capabilities& capabilities) {
  const DotAtom* best = nullptr;
  if (!capabilities.has(Op::DOT)) return nullptr;
  for (const DotAtom& atom : capabilities.dots)
    if (atom.accumulator == sum.dtype && capabilities.keeps_promises(atom, sum.precision) &&
        match_either(atom, x, y) > (best ? match_either(*best, x, y) : Match::kNone))
      best = &atom;
  return best;
}

std::optional<DotFactors> dot_factors(const Kernel& kernel, const Statement& reduction, int axis,
                                      const Capabilities& capabilities) {
  const auto [x, y] = factors_of(reduction);
  const DotAtom* atom = find_dot(x->dtype, y->dtype, reduction.states[0], capabilities);
  if (!atom || !kernel.axes[axis].extent.is_const(atom->k)) return std::nullopt;
  const Match straight = match(*atom, x->dtype, y->dtype);
  const Match best = match_either(*atom, x->dtype, y->dtype);
  return straight == best ? DotFactors{x, y, best == Match::kBiased}
                          : DotFactors{y, x, best == Match::kBiased};
}

}  // namespace tenon
