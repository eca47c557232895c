// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/transforms/staged_loads.hpp"

#include <algorithm>

namespace tenon {
namespace {

/// True if the step of the enclosing reduction is among these statements.
bool steps_inside(const std::vector<Statement>& body) {
  return std::ranges::any_of(body, [](const Statement& s) {
    return s.kind == Statement::Kind::kStep ||
           (s.kind == Statement::Kind::kLoop && steps_inside(s.body));
  });
}

}  // namespace

bool reads_same(const KValue& a, const KValue& b) {
  return a.index == b.index && a.mask == b.mask && a.constant == b.constant;
}

void each_value_inside(Kernel& kernel, int axis, const std::function<void(KValueRef&)>& use) {
  const std::vector<Statement*> path = path_to(kernel, axis);
  if (steps_inside(path.back()->body)) {
    const auto around = std::ranges::find_if(path.rbegin(), path.rend(), [](const Statement* s) {
      return s->kind == Statement::Kind::kReduce;
    });
    for (ReduceState& state : (*around)->states) use(state.value);
  }
  walk(path.back()->body, [&](Statement& s) {
    if (s.value) use(s.value);
    for (ReduceState& state : s.states) use(state.value);
  });
}

std::vector<KValueRef> distinct_loads(Kernel& kernel, int axis, int buffer) {
  std::vector<KValueRef> out;
  each_value_inside(kernel, axis, [&](const KValueRef& root) {
    visit(root, [&](const KValueRef& v) {
      if (v->kind == KValueKind::kLoad && v->buffer == buffer &&
          std::ranges::none_of(out, [&](const KValueRef& x) { return reads_same(*x, *v); }))
        out.push_back(v);
    });
  });
  return out;
}

}  // namespace tenon
