// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/tree/shared_tiles.hpp"

#include <algorithm>

namespace tenon {

bool is_one_to_one(const Expr& index) {
  struct Term {
    int64_t step, reach;
  };
  std::vector<Term> terms;
  for (const auto& [step, term] : index.terms()) {
    if (term.kind() != ExprKind::kSymbol || step <= 0) return false;
    terms.push_back({step, step * (term.max() - term.min())});
  }
  std::ranges::sort(terms, {}, &Term::step);
  int64_t reach = 0;
  for (const Term& t : terms) {
    if (t.step <= reach) return false;
    reach += t.reach;
  }
  return true;
}

bool has_shared_tiles(const Kernel& kernel) {
  return std::ranges::any_of(kernel.buffers, is_shared_tile);
}

std::vector<TileAccess> shared_tile_accesses(const Kernel& kernel,
                                             std::span<const Statement> statements,
                                             const Statement* around) {
  std::vector<TileAccess> out;
  const auto reads = [&](const KValueRef& value) {
    visit(value, [&](const KValueRef& v) {
      if (v->kind == KValueKind::kLoad && is_shared_tile(kernel.buffers[v->buffer]))
        out.push_back({v->buffer, v->index, false});
    });
  };
  const auto see = [&](const Statement& s) {
    if (s.value) reads(s.value);
    for (const ReduceState& state : s.states) reads(state.value);
    if (s.kind == Statement::Kind::kStore && is_shared_tile(kernel.buffers[s.buffer]))
      out.push_back({s.buffer, s.index, true});
    if (s.kind == Statement::Kind::kMatrix && is_shared_tile(kernel.buffers[s.buffer]))
      out.push_back({s.buffer, s.index, s.use != Statement::MatrixUse::kBegin});
  };
  for (const Statement& s : statements) {
    if (s.kind == Statement::Kind::kStep && around)
      for (const ReduceState& state : around->states) reads(state.value);
    see(s);
    walk(s.body, see);
  }
  return out;
}

bool are_disjoint(const TileAccess& a, const TileAccess& b, const KernelAxis& axis) {
  int64_t step_a = 0, step_b = 0;
  Expr rest_a, rest_b;
  if (!a.index.linear_in(axis.name, step_a, rest_a) ||
      !b.index.linear_in(axis.name, step_b, rest_b) || step_a != step_b || step_a <= 0)
    return false;
  if (a.index == b.index && is_one_to_one(a.index)) return true;
  const int64_t low = std::min(rest_a.min(), rest_b.min());
  const int64_t high = std::max(rest_a.max(), rest_b.max());
  return low >= 0 && high < step_a;
}

}  // namespace tenon
