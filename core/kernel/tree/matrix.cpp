// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/tree/matrix.hpp"

#include <algorithm>
#include <utility>

#include "core/kernel/tree/shared_tiles.hpp"

namespace tenon {
namespace {

/// Offsets of an index along an axis of constant extent, from position 0. Empty if they depend on
/// other axes.
std::vector<int64_t> steps_along(const Kernel& kernel, const Expr& index, int axis) {
  const std::string& name = kernel.axes[axis].name;
  const Expr first = index.substitute({{name, Expr(0)}});
  std::vector<int64_t> steps;
  for (int64_t i = 0; i < kernel.axes[axis].extent.value(); ++i) {
    const Expr step = index.substitute({{name, Expr(i)}}) - first;
    if (!step.is_const()) return {};
    steps.push_back(step.value());
  }
  return steps;
}

/// True for a swizzled operand: `row` steps from line to line, `element` steps within a line and,
/// every line, by `stride`. Its first element begins a piece of a line with identity swizzle.
bool is_in_lines(const Kernel& kernel, const KValue& load, int row, int element,
                 MatrixOperand& out) {
  const auto size = static_cast<int64_t>(dtype_size(load.dtype));
  const int64_t line = kLineBytes / size, pattern = kPatternBytes / size;
  const std::vector<int64_t> rows = steps_along(kernel, load.index, row),
                             elements = steps_along(kernel, load.index, element);
  const auto count = static_cast<int64_t>(elements.size());
  if (rows.empty() || elements.empty() || (count > line && count % line != 0)) return false;
  out.stride = count > line ? elements[static_cast<size_t>(line)] : pattern;
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i] != static_cast<int64_t>(i) * line) return false;
  for (int64_t i = 0; i < count; ++i)
    if (elements[static_cast<size_t>(i)] != i / line * out.stride + i % line) return false;
  const Expr first = load.index.substitute(
      {{kernel.axes[row].name, Expr(0)}, {kernel.axes[element].name, Expr(0)}});
  out.lines = mod(floor_div(first, line), pattern / line).is_const(0) &&
              out.stride % pattern == 0 && first.divisible_by(kPieceBytes / size);
  return out.lines;
}

/// Fills `out` for a load that is a matrix with these row and column axes; false if it is none.
bool is_matrix(const Kernel& kernel, const KValueRef& load, int row, int column,
               MatrixOperand& out) {
  int64_t across = 0, down = 0;
  Expr rest, base;
  out = {load};
  if (kernel.buffers[load->buffer].swizzled) {
    if (is_in_lines(kernel, *load, row, column, out)) return true;
    out.transposed = true;
    return is_in_lines(kernel, *load, column, row, out);
  }
  if (load->index.linear_in(kernel.axes[row].name, down, rest) &&
      rest.linear_in(kernel.axes[column].name, across, base)) {
    out.stride = across == 1 ? down : across;
    out.transposed = across != 1;
    return down >= 1 && across >= 1 && (across == 1 || down == 1);
  }
  return false;
}

bool find_product(const Kernel& kernel, const Statement& reduction, int m, int n, int k,
                  MatrixProduct& out) {
  if (reduction.states.size() != 1 || reduction.states[0].op != Op::ADD) return false;
  const KValueRef& value = reduction.states[0].value;
  if (value->kind != KValueKind::kOp || value->op != Op::MUL) return false;
  KValueRef x = widened_load(value->operands[0]), y = widened_load(value->operands[1]);
  if (!x || !y) return false;
  const auto uses = [&](const KValueRef& v, int axis) {
    return v->index.depends_on(kernel.axes[axis].name);
  };
  if (!uses(x, m)) std::swap(x, y);
  if (!uses(x, m) || uses(x, n) || !uses(y, n) || uses(y, m)) return false;
  return is_matrix(kernel, x, m, k, out.a) && is_matrix(kernel, y, k, n, out.b);
}

/// The load that fills the tile of `load`; null if it is not a tile.
const KValue* fill_load(const Kernel& kernel, const KValueRef& load) {
  const KValue* from = nullptr;
  walk(kernel.body, [&](const Statement& s) {
    if (s.kind == Statement::Kind::kStore && s.buffer == load->buffer &&
        s.value->kind == KValueKind::kLoad)
      from = s.value.get();
  });
  return from;
}

}  // namespace

bool can_zero_fill(const Kernel& kernel, int tile) {
  bool can = true;
  walk(kernel.body, [&](const Statement& s) {
    if (s.kind != Statement::Kind::kStore || s.buffer != tile) return;
    can &= is_one_to_one(s.index) && s.mask.is_const(1) && s.index.min() >= 0 &&
           s.index.max() < kernel.buffers[tile].count.value();
  });
  return can;
}

std::string check_matrix(Kernel& kernel, const Statement& reduction, int m, int n, int k) {
  MatrixProduct product;
  if (!find_product(kernel, reduction, m, n, k, product))
    return "a sum of products of two loads along the axes, contiguous along one each";
  Dependence dependence(kernel);
  AxisSet own;  // out-of-range iterations must add nothing
  walk(reduction.body, [&](const Statement& s) {
    if (s.kind == Statement::Kind::kLoop && kernel.axes[s.axis].kind == AxisKind::kReduce)
      own.set(s.axis);
  });
  for (const MatrixOperand* operand : {&product.a, &product.b}) {
    const KValueRef& load = operand->load;
    std::map<std::string, Expr> symbols;
    load->index.collect_symbols(symbols);
    const bool known = std::ranges::none_of(
        kernel.lets, [&](const Let& let) { return symbols.contains(let.symbol); });
    if (!load->mask.is_const(1) || !known)
      return "loads without masks at indices that depend on no data";
    const BufferSpace space = kernel.buffers[load->buffer].space;
    if (is_shared_tile(kernel.buffers[load->buffer])) {
      if (!kernel.buffers[load->buffer].zero_filled || !can_zero_fill(kernel, load->buffer))
        return "zero-filled tiles";
      if (!is_one_to_one(load->index)) return "loads of each element of a tile once";
    } else if (space == BufferSpace::kShared) {
      const KValue* from = fill_load(kernel, load);
      if (!from || from->constant.bits != 0) return "tiles whose fill is 0";
    } else if (space != BufferSpace::kGlobal) {
      return "loads from global or shared memory";
    }
    const AxisSet used = dependence.of(load->index) | own;
    for (const Guard& g : kernel.guards) {
      if (g.fills || ((dependence.of(g.lower) | dependence.of(g.upper)) & used).none()) continue;
      const bool filled = std::ranges::any_of(
          kernel.guards, [&](const Guard& f) { return f.fills && f.upper == g.upper; });
      if (kernel.buffers[load->buffer].zero_filled) continue;
      if (space == BufferSpace::kGlobal || !filled) return "whole matrices or shared tiles";
    }
    const Expr& count = kernel.buffers[load->buffer].count;
    if (space == BufferSpace::kShared && load->index.max() >= count.value())
      return "atoms inside a shared tile";
  }
  return {};
}

MatrixProduct matrix_product(const Kernel& kernel, const Statement& reduction, int m, int n,
                             int k) {
  MatrixProduct product;
  find_product(kernel, reduction, m, n, k, product);
  return product;
}

std::array<int, 3> matrix_axes(const Kernel& kernel, const Statement& reduction) {
  std::array<int, 3> axes{-1, -1, -1};
  const auto is_matrix_loop = [&](const Statement& s) {
    return s.kind == Statement::Kind::kLoop && kernel.axes[s.axis].bind == Bind::kMatrix;
  };
  walk(reduction.body, [&](const Statement& s) {
    if (is_matrix_loop(s)) axes[2] = s.axis;
  });
  if (axes[2] < 0) return axes;
  // The loop of the rows is around that of the columns, which holds the reduction.
  walk(kernel.body, [&](const Statement& s) {
    if (!is_matrix_loop(s)) return;
    bool around = false;
    walk(s.body, [&](const Statement& r) { around |= &r == &reduction; });
    if (around) axes[axes[0] < 0 ? 0 : 1] = s.axis;
  });
  return axes;
}

namespace {

bool carries_out_of_range(const Kernel& kernel, const std::vector<Statement>& body, AxisSet around,
                          Dependence& dependence) {
  for (const Statement& s : body) {
    AxisSet here = around, inside;
    if (s.kind == Statement::Kind::kLoop && kernel.axes[s.axis].kind == AxisKind::kOrdered)
      here.set(static_cast<size_t>(s.axis));
    walk(s.body, [&](const Statement& inner) {
      if (inner.kind == Statement::Kind::kLoop) inside.set(static_cast<size_t>(inner.axis));
    });
    const bool out_of_range = std::ranges::any_of(kernel.guards, [&](const Guard& g) {
      const AxisSet axes = dependence.of(g.lower) | dependence.of(g.upper);
      return (axes & here).any() && (axes & inside).none();
    });
    if (!s.carried.empty() && out_of_range) return true;
    if (carries_out_of_range(kernel, s.body, here, dependence)) return true;
  }
  return false;
}

}  // namespace

bool carries_out_of_range(const Kernel& kernel) {
  Dependence dependence(kernel);
  return carries_out_of_range(kernel, kernel.body, {}, dependence);
}

int loop_around_carried(Kernel& kernel) {
  int found = -1;
  walk(std::as_const(kernel.body), [&](const Statement& s) {
    if (s.kind != Statement::Kind::kReduce || !s.continues) return;
    const std::vector<Statement*> path = path_to(kernel, matrix_axes(kernel, s)[1]);
    for (size_t i = path.size(); i-- > 0 && path[i]->carried.empty();) {
      const KernelAxis& axis = kernel.axes[path[i]->axis];
      if (axis.bind == Bind::kLoop && !axis.extent.is_const(1)) found = path[i]->axis;
    }
  });
  return found;
}

const MatrixAtom* find_atom(const Kernel& kernel, const Statement& reduction,
                            const MatrixProduct& product, int m, int n, int k, int64_t threads,
                            const Capabilities& capabilities) {
  const auto extent = [&](int axis) { return kernel.axes[axis].extent.value(); };
  // Both operands are swizzled, or neither.
  const auto fits = [&](const MatrixAtom& atom, const MatrixOperand& operand) {
    return operand.lines == atom.tiles;
  };
  for (const MatrixAtom& atom : capabilities.atoms)
    if (fits(atom, product.a) && fits(atom, product.b) && atom.m == extent(m) &&
        atom.n == extent(n) && atom.k == extent(k) && atom.a == product.a.load->dtype &&
        atom.b == product.b.load->dtype && atom.accumulator == reduction.states[0].dtype &&
        atom.subgroup == threads &&
        capabilities.keeps_promises(atom, reduction.states[0].precision))
      return &atom;
  return nullptr;
}

}  // namespace tenon
