// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/tree/register_tiles.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "core/kernel/tree/matrix.hpp"
#include "core/kernel/tree/shared_tiles.hpp"

namespace tenon {
namespace {

constexpr int64_t kMostElements = 128;  ///< of a thread

/// The elements of a tile that an access touches: the first, a step for each thread number along x,
/// y and z, and the elements that one thread walks.
struct Touched {
  int64_t first = 0;
  std::array<int64_t, 3> threads{};
  std::vector<TileDigit> own;
};

struct Use {
  int tile = -1;
  std::optional<Touched> touched;  ///< nothing: threads may share elements
};

class Uses {
 public:
  Uses(const Kernel& kernel, const Capabilities& capabilities)
      : kernel_(kernel), capabilities_(capabilities) {
    for (const KernelAxis& axis : kernel.axes) {
      if (is_block(axis.bind) && axis.extent.is_const()) {
        int64_t& extent = threads_[place(axis.bind)];
        extent = std::max(extent, axis.extent.value());
      }
      axes_[axis.name] = &axis;
    }
    walk(kernel.body, [&](const Statement& s) {
      if (s.kind != Statement::Kind::kMatrix) return;
      matrix_ = &s;
      threads_[0] = s.across;
      if (s.across < s.threads) threads_[1] = s.threads / s.across;
    });
    for (const Let& let : kernel.lets)
      visit(let.value, [&](const KValueRef& v) {
        if (is_tile(*v)) uses_.push_back({v->buffer, {}});
      });
    walk(kernel.body, [&](const Statement& s) { add(s); });
  }

  const std::vector<Use>& all() const { return uses_; }
  const std::array<int64_t, 3>& threads() const { return threads_; }

 private:
  static size_t place(Bind bind) {
    return static_cast<size_t>(bind) - static_cast<size_t>(Bind::kBlockX);
  }
  bool is_tile(const KValue& v) const {
    return v.kind == KValueKind::kLoad && is_shared_tile(kernel_.buffers[v.buffer]);
  }

  void add(const Statement& s) {
    if (s.kind == Statement::Kind::kReduce) return add_reduction(s);
    if (s.value) add_loads(s.value);
    if (s.kind == Statement::Kind::kStore && is_shared_tile(kernel_.buffers[s.buffer]))
      uses_.push_back({s.buffer, touched(s.index)});
    if (s.kind != Statement::Kind::kMatrix || !is_shared_tile(kernel_.buffers[s.buffer])) return;
    walk(kernel_.body, [&](const Statement& r) {
      if (r.kind != Statement::Kind::kReduce || r.id != s.id) return;
      const int64_t across = s.transposed ? s.pitch : 1, down = s.transposed ? 1 : s.pitch;
      uses_.push_back({s.buffer, of_fragment(s.index, layouts(r)[2], down, across)});
    });
  }

  void add_loads(const KValueRef& value) {
    visit(value, [&](const KValueRef& v) {
      if (is_tile(*v)) uses_.push_back({v->buffer, touched(v->index)});
    });
  }

  void add_reduction(const Statement& s) {
    const auto [m, n, k] = matrix_axes(kernel_, s);
    if (k < 0) {
      for (const ReduceState& state : s.states) add_loads(state.value);
      if (s.value) add_loads(s.value);
      return;
    }
    const MatrixProduct product = matrix_product(kernel_, s, m, n, k);
    const Layouts told = layouts(s);
    const auto operand = [&](const MatrixOperand& o, size_t role) {
      if (!is_tile(*o.load)) return;
      const std::optional<Touched> of =
          o.lines ? std::nullopt : of_fragment(o.load->index, told[role], o.down(), o.across());
      uses_.push_back({o.load->buffer, of});
    };
    operand(product.a, 0);
    operand(product.b, 1);
    // A scale for each row, the same in all columns.
    if (s.continues && is_tile(*s.value))
      uses_.push_back({s.value->buffer, of_fragment(s.value->index, told[2], 1, 0)});
  }

  /// Layouts of a product's operands and sums, if its atom has them.
  using Layouts = std::array<std::optional<AtomLayout>, 3>;
  Layouts layouts(const Statement& reduction) const {
    if (!matrix_) return {};
    const auto [m, n, k] = matrix_axes(kernel_, reduction);
    const MatrixProduct product = matrix_product(kernel_, reduction, m, n, k);
    const MatrixAtom* atom =
        find_atom(kernel_, reduction, product, m, n, k, matrix_->threads, capabilities_);
    return atom && !atom->tiles ? std::to_array(atom->layouts) : Layouts();
  }

  /// Elements of an index that is a sum of steps along block axes and jammed axes.
  std::optional<Touched> touched(const Expr& index) const {
    Touched out;
    out.first = index.constant();
    for (const auto& [step, term] : index.terms()) {
      if (term.kind() != ExprKind::kSymbol) return {};
      const auto found = axes_.find(term.name());
      if (found == axes_.end()) return {};
      const KernelAxis& axis = *found->second;
      if (!axis.extent.is_const() || step <= 0) return {};
      if (axis.extent.is_const(1) || axis.bind == Bind::kMatrix) continue;
      if (is_block(axis.bind))
        out.threads[place(axis.bind)] += step;
      else if (is_jam(axis.bind))
        out.own.push_back({step, axis.extent.value()});
      else
        return {};
    }
    return out;
  }

  std::optional<Touched> of_fragment(const Expr& index, const std::optional<AtomLayout>& layout,
                                     int64_t down, int64_t across) const {
    std::optional<Touched> out = layout ? touched(index) : std::nullopt;
    if (!out || !add_digits(layout->rows, down, *out) || !add_digits(layout->columns, across, *out))
      return {};
    return out;
  }

  /// Adds a fragment's elements along its rows or columns. A thread's part is its number along x or
  /// y.
  bool add_digits(const FragmentDigits& digits, int64_t step, Touched& out) const {
    if (step == 0) return true;
    if (digits.lanes > 1) out.own.push_back({step, digits.lanes});
    const int64_t along = step * digits.lanes;
    if (digits.more > 1) out.own.push_back({along * digits.threads, digits.more});
    if (digits.threads == 1) return true;
    const int64_t x = threads_[0], y = matrix_->threads / x;
    const bool is_x = digits.thread_step == 1 && digits.threads == x;
    const bool is_y = digits.thread_step == x && digits.threads == y;
    if (is_x == is_y) return false;
    out.threads[is_x ? 0 : 1] += along;
    return true;
  }

  const Kernel& kernel_;
  const Capabilities& capabilities_;
  std::map<std::string, const KernelAxis*> axes_;
  std::array<int64_t, 3> threads_{1, 1, 1};
  const Statement* matrix_ = nullptr;
  std::vector<Use> uses_;
};

/// All offsets that one thread touches, relative to its first element.
std::vector<int64_t> offsets(const Touched& touched) {
  std::vector<int64_t> out{touched.first};
  for (const TileDigit& digit : touched.own) {
    const size_t before = out.size();
    if (before * static_cast<size_t>(digit.count) > kMostElements) return {};
    for (int64_t i = 1; i < digit.count; ++i)
      for (size_t j = 0; j < before; ++j) out.push_back(out[j] + i * digit.step);
  }
  return out;
}

/// The offsets as a mixed-radix number of steps and counts; empty if they are not one.
std::vector<TileDigit> digits_of(std::vector<int64_t> all) {
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());  // clang has no std::ranges::unique
  const auto has = [&](int64_t v) { return std::ranges::binary_search(all, v); };
  if (all.empty() || all[0] != 0) return {};
  std::vector<TileDigit> out;
  int64_t count = 1, reach = 0;  // of the digits so far
  while (true) {
    const auto next = std::ranges::upper_bound(all, reach);
    if (next == all.end()) break;
    TileDigit digit{*next, 2};
    while (has(digit.step * digit.count)) ++digit.count;
    reach += digit.step * (digit.count - 1);
    count *= digit.count;
    out.push_back(digit);
  }
  if (out.empty()) out.push_back({1, 1});
  return count == static_cast<int64_t>(all.size()) && count <= kMostElements
             ? out
             : std::vector<TileDigit>();
}

/// True if threads with different steps touch different elements.
bool are_apart(const std::vector<TileDigit>& digits, const std::array<int64_t, 3>& steps,
               const std::array<int64_t, 3>& threads) {
  std::vector<TileDigit> all = digits;
  for (size_t i = 0; i < 3; ++i)
    if (steps[i] > 0 && threads[i] > 1) all.push_back({steps[i], threads[i]});
  std::ranges::sort(all, {}, &TileDigit::step);
  int64_t reach = 0;
  for (const TileDigit& d : all) {
    if (d.count == 1) continue;
    if (d.step <= reach) return false;
    reach += d.step * (d.count - 1);
  }
  return true;
}

/// True if register_place is additive over the parts of an access.
bool fits(const KernelBuffer& tile, const Touched& touched) {
  struct Pair {
    int64_t offset, place;
  };
  std::vector<Pair> all{{touched.first, register_place(tile, touched.first)}};
  for (const TileDigit& digit : touched.own) {
    const size_t before = all.size();
    const int64_t step = register_place(tile, digit.step);
    for (int64_t i = 1; i < digit.count; ++i)
      for (size_t j = 0; j < before; ++j)
        all.push_back({all[j].offset + i * digit.step, all[j].place + i * step});
  }
  return std::ranges::all_of(
      all, [&](const Pair& p) { return register_place(tile, p.offset) == p.place; });
}

/// Sets a tile's digits if each thread touches only elements of its own.
void set_digits(KernelBuffer& tile, int index, const Uses& uses) {
  std::vector<int64_t> all;
  const Touched* first = nullptr;
  for (const Use& use : uses.all()) {
    if (use.tile != index) continue;
    if (!use.touched) return;
    if (!first) first = &*use.touched;
    for (size_t i = 0; i < 3; ++i)
      if (uses.threads()[i] > 1 && use.touched->threads[i] != first->threads[i]) return;
    const std::vector<int64_t> more = offsets(*use.touched);
    if (more.empty()) return;
    all.insert(all.end(), more.begin(), more.end());
  }
  if (!first) return;
  tile.digits = digits_of(std::move(all));
  const bool is_own = !tile.digits.empty() &&
                      are_apart(tile.digits, first->threads, uses.threads()) &&
                      std::ranges::all_of(uses.all(), [&](const Use& use) {
                        return use.tile != index || fits(tile, *use.touched);
                      });
  if (!is_own) tile.digits.clear();
}

/// Adjacent stores compute their values first. If one of them goes to a shared tile, one thread
/// stores for all, so the others must be shared too. True if a tile lost its digits.
bool propagate_shared(Kernel& kernel, const std::vector<Statement>& body) {
  bool changed = false;
  const auto is_store = [](const Statement& s) { return s.kind == Statement::Kind::kStore; };
  for (auto from = body.begin(); from != body.end();) {
    const auto to = std::find_if_not(from, body.end(), is_store);
    const bool shares = std::any_of(from, to, [&](const Statement& s) {
      const KernelBuffer& b = kernel.buffers[s.buffer];
      return is_read_by_others(b) && !is_register_tile(b);
    });
    for (auto s = from; shares && s != to; ++s) {
      changed |= is_register_tile(kernel.buffers[s->buffer]);
      kernel.buffers[s->buffer].digits.clear();
    }
    from = to == from ? from + 1 : to;
  }
  for (const Statement& s : body) changed |= propagate_shared(kernel, s.body);
  return changed;
}

}  // namespace

int64_t register_place(const KernelBuffer& tile, int64_t offset) {
  int64_t place = 0, size = 1;
  for (const TileDigit& d : tile.digits) size *= d.count;
  for (size_t i = tile.digits.size(); i-- > 0;) {
    const TileDigit& d = tile.digits[i];
    size /= d.count;
    place += offset / d.step * size;
    offset %= d.step;
  }
  return place;
}

Expr register_place(const Kernel& kernel, const KernelBuffer& tile, const Expr& index) {
  Expr place = register_place(tile, index.constant());
  for (const auto& [step, term] : index.terms()) {
    const KernelAxis& axis = kernel.axes[kernel.axis(term.name())];
    if (!axis.extent.is_const(1) && is_jam(axis.bind))
      place = place + axis.symbol() * register_place(tile, step);
  }
  return place;
}

std::vector<int64_t> lane_offsets(const AtomLayout& layout, int lanes, int64_t row_step,
                                  int64_t column_step) {
  const auto element = [](const FragmentDigits& d, int lane) {
    return int64_t{lane / d.lane_step % d.lanes} +
           int64_t{d.lanes} * d.threads * (lane / d.more_step % d.more);
  };
  std::vector<int64_t> out;
  for (int l = 0; l < lanes; ++l)
    out.push_back(element(layout.rows, l) * row_step + element(layout.columns, l) * column_step);
  return out;
}

std::optional<Kernel> with_register_tiles(const Kernel& kernel, const Capabilities& capabilities) {
  if (!has_shared_tiles(kernel)) return {};
  Kernel out = kernel;
  const Uses uses(kernel, capabilities);
  for (size_t b = 0; b < out.buffers.size(); ++b)
    if (is_shared_tile(out.buffers[b])) set_digits(out.buffers[b], static_cast<int>(b), uses);
  while (propagate_shared(out, out.body)) {
  }
  bool found = false;
  for (KernelBuffer& tile : out.buffers) {
    if (!is_register_tile(tile)) continue;
    tile.space = BufferSpace::kScratch;
    int64_t count = 1;
    for (const TileDigit& d : tile.digits) count *= d.count;
    tile.count = count;
    found = true;
  }
  if (!found) return {};
  const auto is_of_atom = [&](const Expr& index) {
    return std::ranges::any_of(out.axes, [&](const KernelAxis& axis) {
      return axis.bind == Bind::kMatrix && index.depends_on(axis.name);
    });
  };
  rewrite_values(out, [&](const KValueRef& v) {
    if (v->kind != KValueKind::kLoad || !is_register_tile(out.buffers[v->buffer]) ||
        is_of_atom(v->index))
      return v;
    return make_load(v->buffer, v->dtype, register_place(out, out.buffers[v->buffer], v->index),
                     v->mask, v->constant);
  });
  walk(out.body, [&](Statement& s) {
    if (s.kind == Statement::Kind::kStore && is_register_tile(out.buffers[s.buffer]))
      s.index = register_place(out, out.buffers[s.buffer], s.index);
  });
  return out;
}

}  // namespace tenon
