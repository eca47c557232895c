// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/transforms/tile_loops.hpp"

#include <algorithm>
#include <set>

namespace tenon {

AxisCopies copy_axes(Kernel& kernel, const std::vector<int>& axes, std::string_view suffix) {
  AxisCopies out;
  for (const int a : axes) {
    std::string name = kernel.axes[a].name + std::string(suffix);
    while (kernel.axis(name) >= 0) name += "_";
    out.axes.push_back(
        kernel.add_axis(std::move(name), kernel.axes[a].extent, AxisKind::kParallel));
    out.rename.emplace(kernel.axes[a].name, kernel.axes[out.axes.back()].symbol());
  }
  return out;
}

void copy_guards(Kernel& kernel, const std::map<std::string, Expr>& rename) {
  std::vector<Guard> more;
  for (const Guard& g : kernel.guards) {
    const Guard copy{g.lower.substitute(rename), g.upper.substitute(rename), g.fills};
    if (!(copy.lower == g.lower && copy.upper == g.upper)) more.push_back(copy);
  }
  kernel.guards.insert(kernel.guards.end(), more.begin(), more.end());
}

std::vector<Statement> in_loops(const std::vector<int>& axes, std::vector<Statement> inner) {
  for (size_t i = axes.size(); i-- > 0;) {
    Statement loop;
    loop.axis = axes[i];
    loop.body = std::move(inner);
    inner.clear();
    inner.push_back(std::move(loop));
  }
  return inner;
}

int64_t tile_positions(const Kernel& kernel, const std::vector<int>& axes) {
  int64_t count = 1;
  for (const int a : axes) {
    const Expr& extent = kernel.axes[a].extent;
    if (!extent.is_const()) return -1;
    count *= std::max<int64_t>(1, extent.value());
    if (count > kMostOfTile) return -1;
  }
  return count;
}

Expr tile_place(const Kernel& kernel, const std::vector<int>& axes) {
  Expr at = 0;
  for (const int a : axes)
    at = at * std::max<int64_t>(1, kernel.axes[a].extent.value()) + kernel.axes[a].symbol();
  return at;
}

int add_tile(Kernel& kernel, const std::string& what, DType dtype, int64_t elements) {
  const int tile = static_cast<int>(kernel.buffers.size());
  KernelBuffer buffer{what + std::to_string(tile), dtype, elements, BufferSpace::kScratch};
  buffer.read = buffer.written = buffer.materialised = true;
  kernel.buffers.push_back(std::move(buffer));
  return tile;
}

Statement make_store(int buffer, const Expr& index, KValueRef value) {
  Statement s;
  s.kind = Statement::Kind::kStore;
  s.buffer = buffer;
  s.index = index;
  s.value = std::move(value);
  return s;
}

bool is_guarded(const Kernel& kernel, int axis) {
  const std::string& name = kernel.axes[axis].name;
  return std::ranges::any_of(kernel.guards, [&](const Guard& g) {
    return g.lower.depends_on(name) || g.upper.depends_on(name);
  });
}

void append(std::vector<Statement>& to, std::vector<Statement> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

namespace {

class TileLoader {
 public:
  TileLoader(Kernel& kernel, const AxisCopies& copies, int reduction,
             const std::vector<KValueRef>& states)
      : kernel_(kernel),
        rename_(copies.rename),
        reduction_(reduction),
        rewrite_([this](const KValueRef& v) { return changed(v); }) {
    for (const KValueRef& state : states) states_.push_back(rewrite_(state));
  }

  void statement(Statement& s) {
    s.index = expr(s.index);
    s.mask = expr(s.mask);
    if (s.value) s.value = rewrite_(s.value);
    for (ReduceState& state : s.states) state.value = rewrite_(state.value);
  }

 private:
  KValueRef changed(const KValueRef& v) {
    if (v->kind == KValueKind::kResult)
      return v->reduction == reduction_ ? states_[static_cast<size_t>(v->state)] : v;
    if (v->kind != KValueKind::kIndex && v->kind != KValueKind::kLoad) return v;
    Expr index = expr(v->index), mask = expr(v->mask);
    if (index == v->index && mask == v->mask) return v;
    if (v->kind == KValueKind::kIndex) return make_index(std::move(index), v->dtype);
    return make_load(v->buffer, v->dtype, std::move(index), std::move(mask), v->constant);
  }

  Expr expr(const Expr& e) {
    std::map<std::string, Expr> symbols;
    e.collect_symbols(symbols);
    for (const auto& [name, symbol] : symbols) let(name, symbol);
    return e.substitute(rename_);
  }

  /// Copies a let whose value depends on the renamed axes.
  void let(const std::string& name, const Expr& symbol) {
    if (!seen_.insert(name).second) return;
    const auto found = std::ranges::find(kernel_.lets, name, &Let::symbol);
    if (found == kernel_.lets.end()) return;
    const KValueRef before = found->value, value = rewrite_(before);
    if (value == before) return;
    std::string copy = name + ".c";
    while (is_taken(copy)) copy += "_";
    rename_.insert_or_assign(name, Expr::symbol(copy, symbol.min(), symbol.max()));
    kernel_.lets.push_back({std::move(copy), value});
  }

  bool is_taken(const std::string& name) const {
    return kernel_.axis(name) >= 0 ||
           std::ranges::any_of(kernel_.symbols, [&](const Expr& s) { return s.name() == name; }) ||
           std::ranges::count(kernel_.lets, name, &Let::symbol) > 0;
  }

  Kernel& kernel_;
  std::map<std::string, Expr> rename_;
  int reduction_;
  std::vector<KValueRef> states_;
  std::set<std::string> seen_;
  KValueRewriter rewrite_;
};

}  // namespace

void load_from_tiles(Kernel& kernel, std::vector<Statement>& statements, const AxisCopies& copies,
                     int reduction, const std::vector<KValueRef>& states) {
  TileLoader taker(kernel, copies, reduction, states);
  walk(statements, [&](Statement& s) { taker.statement(s); });
}

}  // namespace tenon
