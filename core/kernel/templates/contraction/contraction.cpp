// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/templates/contraction/contraction.hpp"

#include <algorithm>

namespace tenon {

bool uses(const ScheduleBuilder& builder, const KValueRef& v, int axis) {
  const std::string& name = builder.kernel.axes[axis].name;
  return v->index.depends_on(name) || v->mask.depends_on(name);
}

namespace {

/// The largest constant below `most` by which the expression divides the symbol; 1 if there is
/// none.
int64_t divisor_of(const Expr& e, const std::string& symbol, int64_t most) {
  if (!e.depends_on(symbol)) return 1;
  int64_t largest = 1;
  if (e.kind() == ExprKind::kSum) {
    for (const auto& [coefficient, term] : e.terms())
      largest = std::max(largest, divisor_of(term, symbol, most));
    return largest;
  }
  if (e.kind() == ExprKind::kSymbol) return 1;
  const bool divides = e.kind() == ExprKind::kDiv || e.kind() == ExprKind::kMod;
  if (divides && e.operands()[1].is_const() && e.operands()[1].value() < most)
    largest = e.operands()[1].value();
  for (const Expr& operand : e.operands())
    largest = std::max(largest, divisor_of(operand, symbol, most));
  return largest;
}

/// A factor and its loads.
struct Factor {
  std::vector<KValueRef> loads;
  KValueRef value;

  /// The load that depends on most axes; null if the value depends on another parallel axis too.
  KValueRef principal(const ScheduleBuilder& builder, const std::vector<int>& parallel) const {
    if (loads.size() == 1) return loads[0];
    Dependence dependence(builder.kernel);
    KValueRef most;
    for (const KValueRef& v : loads)
      if (!most || dependence.of(v).count() > dependence.of(most).count()) most = v;
    const AxisSet missed = dependence.of(value) & ~dependence.of(most);
    return std::ranges::any_of(parallel, [&](int a) { return missed[a]; }) ? nullptr : most;
  }
};

/// Sets the values; false if the loads of one are not exactly those of a factor of the product.
bool find_values(const KValueRef& product, Factor& row, Factor& column) {
  if (row.loads.empty() || column.loads.empty()) return false;
  row.value = row.loads[0];
  column.value = column.loads[0];
  if (row.loads.size() == 1 && column.loads.size() == 1) return true;
  if (product->kind != KValueKind::kOp || product->op != Op::MUL) return false;
  for (const KValueRef& factor : product->operands) {
    size_t rows = 0, columns = 0;
    visit(factor, [&](const KValueRef& v) {
      rows += std::ranges::count(row.loads, v);
      columns += std::ranges::count(column.loads, v);
    });
    if (rows == row.loads.size() && columns == 0 && rows > 1) row.value = factor;
    if (columns == column.loads.size() && rows == 0 && columns > 1) column.value = factor;
    if ((rows > 0) == (columns > 0)) return false;
  }
  return true;
}

}  // namespace

int64_t divisor_of(const ScheduleBuilder& builder, const std::vector<KValueRef>& loads, int axis) {
  int64_t divisor = 1;
  for (const KValueRef& v : loads)
    for (const Expr& e : {v->index, v->mask})
      divisor =
          std::max(divisor, divisor_of(e, builder.kernel.axes[axis].name, builder.size(axis)));
  return divisor;
}

std::optional<Contraction> find_contraction(const ScheduleBuilder& builder, const Statement& nest) {
  Contraction out;
  const std::vector<int> axes = builder.perfect_nest(nest);
  const std::vector<const Statement*> reductions = builder.reductions(nest);
  if (axes.size() < 2 || reductions.size() != 1) return std::nullopt;
  const Statement& r = *reductions[0];
  if (r.states.size() != 1 || r.states[0].op != Op::ADD || r.body.size() != 1) return std::nullopt;
  for (const int a : axes)
    if (builder.kernel.axes[a].kind != AxisKind::kParallel) return std::nullopt;
  out.sum = builder.perfect_nest(r.body[0]);
  if (out.sum.empty()) return std::nullopt;
  Factor row, column;
  for (const KValueRef& v : builder.loads(r))
    (uses(builder, v, axes.back()) ? column : row).loads.push_back(v);
  if (!find_values(r.states[0].value, row, column)) return std::nullopt;
  out.row = row.principal(builder, axes);
  out.column = column.principal(builder, axes);
  if (!out.row || !out.column) return std::nullopt;
  out.row_value = row.value;
  out.column_value = column.value;
  for (const int a : axes) {
    const bool row = uses(builder, out.row, a), column = uses(builder, out.column, a);
    (row == column ? out.batch : row ? out.rows : out.columns).push_back(a);
  }
  return out;
}

std::optional<Matmul> find_matmul(const ScheduleBuilder& builder, const Statement& nest,
                                  bool with_edges) {
  const std::optional<Contraction> c = find_contraction(builder, nest);
  if (!c || c->rows.empty()) return std::nullopt;
  const bool whole = c->row->mask.is_const(1) && c->column->mask.is_const(1);
  if (!whole && !with_edges) return std::nullopt;
  Matmul out;
  out.rows = c->row;
  out.columns = c->column;
  out.rows_dtype = c->row_value->dtype;
  out.columns_dtype = c->column_value->dtype;
  out.rows_computed = c->row_value != c->row;
  out.columns_computed = c->column_value != c->column;
  const std::vector<int> axes = builder.perfect_nest(nest);
  out.n = axes.back();
  out.m = c->rows.back();
  out.k = c->sum.back();
  out.sum = c->sum;
  for (const int a : axes)
    if (a != out.m && a != out.n) out.batch.push_back(a);
  for (const Statement* s : builder.stores(nest))
    if (builder.stride(s->index, out.n) != 1) return std::nullopt;
  const bool large = builder.size(out.n) >= 8 && builder.size(out.k) >= 4;
  if (builder.size(out.m) < 2 || !large || !uses(builder, out.rows, out.k) ||
      !uses(builder, out.columns, out.k))
    return std::nullopt;
  return out;
}

void split_divided(ScheduleBuilder& builder, size_t place, Divided which) {
  std::optional<Contraction> c = find_contraction(builder, builder.kernel.body[place]);
  if (!c) return;
  std::vector<int> axes = which == Divided::kSum ? c->sum : c->columns;
  while (!axes.empty()) {
    const int a = axes.back();
    axes.pop_back();
    if (!builder.extent(a).is_const()) continue;
    const int64_t divisor = divisor_of(builder, {c->row, c->column}, a);
    if (divisor == 1 || builder.size(a) % divisor != 0) continue;
    const auto [outer, inner] = builder.split(a, divisor);
    axes.push_back(outer);
    axes.push_back(inner);
    c = find_contraction(builder, builder.kernel.body[place]);  // the split made new loads
    if (!c) return;
  }
}

}  // namespace tenon
