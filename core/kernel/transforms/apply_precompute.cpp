// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// precompute: computes the nested reductions in a reduction's terms block by block, once for all
// loops that only the other factor depends on.
#include <algorithm>
#include <set>

#include "core/ir/scalar_op.hpp"
#include "core/kernel/transforms/apply.hpp"
#include "core/kernel/transforms/masked_blocks.hpp"
#include "core/kernel/transforms/tile_loops.hpp"

namespace tenon {
namespace {

/// The mask under which a factor is zero. `seen`: the values without one.
std::optional<Masked> masked_in(const KValueRef& v, std::set<const KValue*>& seen) {
  if (!seen.insert(v.get()).second) return std::nullopt;
  const auto is_zero = [](const KValueRef& x) {
    return x->kind == KValueKind::kConst && x->constant.as_double() == 0;
  };
  if (is_op(v, Op::WHERE)) {
    if (is_zero(v->operands[2])) return Masked{v->operands[0], false, v->operands[2]->constant};
    if (is_zero(v->operands[1])) return Masked{v->operands[0], true, v->operands[1]->constant};
  }
  if (!is_op(v, Op::MUL)) return std::nullopt;
  const std::optional<Masked> first = masked_in(v->operands[0], seen);
  return first ? first : masked_in(v->operands[1], seen);
}

class Precompute {
 public:
  explicit Precompute(const StepOf<transforms::Precompute>& step)
      : step_(step), kernel_(step.kernel), r_(step.transform.reduce), a_(step.transform.at) {}

  Refused run() {
    if (Refused no = find_reduction()) return no;
    if (Refused no = find_loops()) return no;
    if (Refused no = find_tile()) return no;
    if (Refused no = find_terms()) return no;
    if (Refused no = check_sizes()) return no;
    find_unmasked();
    change();
    return {};
  }

 private:
  const std::string& name(int axis) const { return kernel_.axes[axis].name; }
  const Expr& extent(int axis) const { return kernel_.axes[axis].extent; }
  Expr at(int axis) const { return kernel_.axes[axis].symbol(); }
  int64_t factor() const { return step_.transform.factor; }

  /// True if the reduction holds only loops and its step.
  static bool is_plain(const Statement& reduction) {
    bool plain = true;
    walk(reduction.body,
         [&](const Statement& s) { plain &= is_loop(s) || s.kind == Statement::Kind::kStep; });
    return plain;
  }

  Refused find_reduction() {
    path_ = path_to(kernel_, r_);
    const auto other = [&](std::string_view got) {
      return step_.refuse("a reduction over " + name(r_) + " of reductions", got);
    };
    if (path_.size() < 3 || !is_reduce(*path_[path_.size() - 2])) return other("another loop");
    reduction_ = path_[path_.size() - 2];
    const std::vector<Statement>& body = path_.back()->body;
    if (reduction_->body.size() != 1 || body.back().kind != Statement::Kind::kStep)
      return other("one with more loops");
    for (const Statement& s : std::span(body).first(body.size() - 1)) {
      if (!is_reduce(s) || !is_plain(s)) return other("other statements in it");
      nested_.push_back({s.id, {}, {}});
    }
    if (nested_.empty()) return other("one of none");
    for (const Guard& g : kernel_.guards)
      if (g.lower.depends_on(name(r_)) || g.upper.depends_on(name(r_)))
        return step_.refuse("an axis that is not padded", name(r_));
    for (const KernelAxis& axis : kernel_.axes)
      if (axis.bind == Bind::kMatrix) return step_.refuse("precompute before tensorize", axis.name);
    return {};
  }

  /// Finds the loops between A and the reduction.
  Refused find_loops() {
    const auto loops = find_tile_loops(step_, path_, a_);
    if (const auto* no = std::get_if<Refusal>(&loops)) return *no;
    const TileLoops& found = std::get<TileLoops>(loops);
    outer_ = found.outer;
    inner_ = found.inner;
    between_ = found.inside;
    const bool stores =
        std::all_of(inner_->body.begin() + 1, inner_->body.end(),
                    [](const Statement& s) { return s.kind == Statement::Kind::kStore; });
    if (&inner_->body.front() == reduction_ && stores) return {};
    return step_.refuse("the reduction and stores inside " + name(inner_->axis),
                        "other statements");
  }

  /// Splits the loops between into those that nested reductions depend on (tile_) and others
  /// (own_).
  Refused find_tile() {
    Dependence dependence(kernel_);
    AxisSet used;
    for (Nested& nested : nested_) {
      const AxisSet& follows = dependence.of_reduction(nested.id);
      for (const int a : between_)
        if (follows[a]) nested.axes.push_back(a);
      used |= follows;
    }
    for (const int a : between_) (used[a] ? tile_ : own_).push_back(a);
    for (const Let& let : kernel_.lets)
      if (has_nested(let.value))
        return step_.refuse("positions that depend on no data", "one from a reduction");
    return {};
  }

  bool has_nested(const KValueRef& value) const {
    bool found = false;
    visit(value, [&](const KValueRef& v) {
      found |=
          v->kind == KValueKind::kResult && std::ranges::count(nested_, v->reduction, &Nested::id);
    });
    return found;
  }

  /// A state's term: the precomputed factor and the one that depends on own_.
  struct Term {
    KValueRef weight, other;
    int total = -1, weights = -1;  ///< tiles
  };

  Refused find_terms() {
    Dependence dependence(kernel_);
    const auto depends_on_own = [&](const KValueRef& v) {
      const AxisSet& used = dependence.of(v);
      return std::ranges::any_of(own_, [&](int a) { return used[a]; });
    };
    for (const ReduceState& state : reduction_->states) {
      Term term{state.value, nullptr};
      if (depends_on_own(state.value)) {
        const std::vector<KValueRef>& factors = state.value->operands;
        const bool is_product = is_op(state.value, Op::MUL);
        const auto can_split = [&](size_t i) {
          return is_product && !depends_on_own(factors[i]) && !has_nested(factors[1 - i]);
        };
        if (!can_split(0) && !can_split(1))
          return step_.refuse("products of a nested reduction's result and another factor",
                              "others over " + name(r_));
        const size_t weight = can_split(0) ? 0 : 1;
        term = {factors[weight], factors[1 - weight]};
      } else if (!own_.empty()) {
        return step_.refuse("a factor that depends on " + name(own_.front()), "none");
      }
      terms_.push_back(std::move(term));
    }
    return {};
  }

  std::vector<int> with_own() const {
    std::vector<int> axes = tile_;
    axes.insert(axes.end(), own_.begin(), own_.end());
    return axes;
  }
  int64_t count(const std::vector<int>& axes) const {
    int64_t count = 1;
    for (const int a : axes) count = std::min(2 * kMostOfTile, count * size(a));
    return count;
  }
  int64_t size(int axis) const { return std::max<int64_t>(1, extent(axis).value()); }

  Refused check_sizes() const {
    if (factor() <= kMostOfTile && count(tile_) * factor() <= kMostOfTile &&
        count(with_own()) <= kMostOfTile)
      return {};
    return step_.refuse("tiles of at most 4194304 elements", "larger");
  }

  /// Finds the range of blocks outside of which a mask of positions makes all terms zero.
  void find_unmasked() {
    for (size_t i = 0; i < terms_.size(); ++i) {
      std::optional<UnmaskedBlocks> unmasked;
      std::set<const KValue*> seen;
      const bool is_sum = reduction_->states[i].op == Op::ADD;
      if (const auto masked = is_sum ? masked_in(terms_[i].weight, seen) : std::nullopt)
        unmasked = unmasked_blocks(kernel_, *masked, r_, factor(), tile_, path_);
      if (!unmasked) {
        range_.reset();
        return;
      }
      range_ = range_
                   ? LoopRange{min(range_->begin, unmasked->begin), max(range_->end, unmasked->end)}
                   : LoopRange{unmasked->begin, unmasked->end};
    }
  }

  int add_tile(const std::string& what, DType dtype, int64_t elements) {
    const int tile = static_cast<int>(kernel_.buffers.size());
    KernelBuffer buffer{what + std::to_string(tile), dtype, elements, BufferSpace::kScratch};
    buffer.read = buffer.written = buffer.materialised = true;
    kernel_.buffers.push_back(std::move(buffer));
    return tile;
  }
  KValueRef load(int tile, const Expr& index) const {
    const DType dtype = kernel_.buffers[static_cast<size_t>(tile)].dtype;
    return make_load(tile, dtype, index, 1, zero(dtype));
  }

  /// Row-major index in a tile over the axes.
  Expr place(const std::vector<int>& axes) const {
    Expr place = 0;
    for (const int a : axes) place = place * size(a) + at(a);
    return place;
  }

  /// The loops of one part of the work: copies of axes, and of R within a block.
  struct Part {
    AxisCopies copies;
    int block = -1;
  };

  Part part(std::string_view suffix, const std::vector<int>& axes) {
    Part out{copy_axes(kernel_, axes, suffix), -1};
    copy_guards(kernel_, out.copies.rename);
    return out;
  }
  Part part_of_block(const std::string& suffix, const std::vector<int>& axes, AxisKind kind) {
    Part out = part(suffix, axes);
    out.block = add_axis(suffix, factor(), kind);
    const Expr row = at(blocks_) * factor() + at(out.block);
    if (!extent(r_).divisible_by(factor())) kernel_.guards.push_back({row, extent(r_)});
    out.copies.rename.insert_or_assign(name(r_), row);
    return out;
  }
  std::string free_name(std::string wanted) const {
    while (kernel_.axis(wanted) >= 0) wanted += "_";
    return wanted;
  }
  int add_axis(const std::string& suffix, Expr size, AxisKind kind) {
    return kernel_.add_axis(free_name(name(r_) + suffix), std::move(size), kind);
  }
  Expr place_in_block(int block, const std::vector<int>& axes) const {
    return at(block) * count(axes) + place(axes);
  }

  void change() {
    Statement reduction = std::move(*reduction_);
    std::vector<Statement> rest(std::make_move_iterator(inner_->body.begin() + 1),
                                std::make_move_iterator(inner_->body.end()));
    blocks_ = add_axis(".o", ceil_div(extent(r_), factor()), AxisKind::kOrdered);
    for (size_t i = 0; i < terms_.size(); ++i)
      terms_[i].total = add_tile("totals", reduction.states[i].dtype, count(with_own()));
    std::vector<Statement> parts = identities(reduction.states);
    Statement blocks;
    blocks.axis = blocks_;
    blocks.range = range_;
    std::vector<Statement>& nested = reduction.body[0].body;
    for (size_t i = 0; i < nested_.size(); ++i)
      append(blocks.body, products(nested_[i], nested[i]));
    append(blocks.body, own_.empty() ? totals(reduction.states) : weights());
    if (!own_.empty())
      for (size_t i = 0; i < terms_.size(); ++i) append(blocks.body, sum(i, reduction.states[i]));
    parts.push_back(std::move(blocks));
    append(parts, ending(reduction.id, std::move(rest)));
    outer_->body = std::move(parts);
  }

  std::vector<Statement> identities(const std::vector<ReduceState>& states) {
    const Part all = part(".z", with_own());
    std::vector<Statement> stores;
    for (size_t i = 0; i < terms_.size(); ++i)
      stores.push_back(make_store(terms_[i].total, place(all.copies.axes),
                                  make_const(identity(states[i].op, states[i].dtype))));
    return in_loops(all.copies.axes, std::move(stores));
  }

  struct Nested {
    int id = -1;
    std::vector<int> axes;   ///< of the tile, that it depends on
    std::vector<int> tiles;  ///< of its states
  };

  /// Computes a nested reduction for a block. Each state has loops of its own: together they would
  /// leave few registers for each.
  std::vector<Statement> products(Nested& nested, const Statement& reduction) {
    std::vector<Statement> out;
    for (size_t i = 0; i < reduction.states.size(); ++i) {
      const Part rows = part_of_block(".n", nested.axes, AxisKind::kParallel);
      const DType dtype = reduction.states[i].dtype;
      nested.tiles.push_back(add_tile("products", dtype, count(nested.axes) * factor()));
      std::vector<Statement> inside{alone(reduction, i)};
      const int id = inside[0].id;
      inside.push_back(make_store(nested.tiles[i], place_in_block(rows.block, rows.copies.axes),
                                  make_result(id, 0, dtype)));
      load_from_tiles(kernel_, inside, rows.copies, -1, {});
      std::vector<int> axes = rows.copies.axes;
      axes.push_back(rows.block);
      append(out, in_loops(axes, std::move(inside)));
    }
    return out;
  }

  /// A reduction with one of the states; over new axes, except for the first state.
  Statement alone(const Statement& reduction, size_t state) {
    Statement out = reduction;
    out.states = {reduction.states[state]};
    if (state == 0) return out;
    out.id = kernel_.reductions++;
    AxisCopies copies;
    walk(out.body, [&](Statement& s) {
      if (!is_loop(s)) return;
      KernelAxis axis = kernel_.axes[s.axis];
      const std::string before = axis.name;
      axis.name = free_name(before + ".n");
      s.axis = static_cast<int>(kernel_.axes.size());
      copies.rename.emplace(before, axis.symbol());
      kernel_.axes.push_back(std::move(axis));
    });
    copy_guards(kernel_, copies.rename);
    std::vector<Statement> one{std::move(out)};
    load_from_tiles(kernel_, one, copies, -1, {});
    return std::move(one[0]);
  }

  /// The value in a part's loops, with results of nested reductions loaded from their tiles.
  KValueRef taken(const KValueRef& value, const Part& part) {
    std::vector<Statement> one{make_store(-1, 0, with_positions(value))};
    for (const Nested& nested : nested_) {
      std::vector<int> axes;
      for (const int a : nested.axes)
        axes.push_back(
            part.copies.axes[static_cast<size_t>(std::ranges::find(tile_, a) - tile_.begin())]);
      std::vector<KValueRef> states;
      for (const int tile : nested.tiles)
        states.push_back(load(tile, place_in_block(part.block, axes)));
      load_from_tiles(kernel_, one, part.copies, nested.id, states);
    }
    return one[0].value;
  }

  /// Computes the precomputed factors of a block, for sums with loops of their own.
  std::vector<Statement> weights() {
    const Part rows = part_of_block(".p", tile_, AxisKind::kParallel);
    const Expr here = place_in_block(rows.block, rows.copies.axes);
    std::vector<Statement> stores;
    std::vector<int> spare = spare_tiles();
    for (Term& term : terms_) {
      const DType dtype = term.weight->dtype;
      const auto found = std::ranges::find_if(spare, [&](int tile) {
        return kernel_.buffers[static_cast<size_t>(tile)].dtype == dtype;
      });
      if (found != spare.end()) {
        term.weights = *found;
        spare.erase(found);
      } else {
        term.weights = add_tile("weights", dtype, count(tile_) * factor());
      }
      stores.push_back(make_store(term.weights, here, taken(term.weight, rows)));
    }
    std::vector<int> axes = rows.copies.axes;
    axes.push_back(rows.block);
    return in_loops(axes, std::move(stores));
  }

  /// Tiles that a weight can overwrite: their element was read before the weight is stored there.
  std::vector<int> spare_tiles() const {
    std::vector<int> out;
    for (const Nested& nested : nested_)
      if (nested.axes == tile_) out.insert(out.end(), nested.tiles.begin(), nested.tiles.end());
    return out;
  }

  /// Sums a block, if there are no loops that only another factor depends on.
  std::vector<Statement> totals(const std::vector<ReduceState>& states) {
    const Part rows = part_of_block(".p", tile_, AxisKind::kReduce);
    std::vector<ReduceState> taken_states = states;
    for (size_t i = 0; i < terms_.size(); ++i)
      taken_states[i].value = taken(terms_[i].weight, rows);
    return merged(rows, std::move(taken_states), 0);
  }

  std::vector<Statement> sum(size_t i, ReduceState state) {
    const Part all = part_of_block(".f", with_own(), AxisKind::kReduce);
    const auto own = all.copies.axes.begin() + static_cast<std::ptrdiff_t>(tile_.size());
    const std::vector<int> tile(all.copies.axes.begin(), own);
    std::vector<Statement> other{make_store(-1, 0, terms_[i].other)};
    load_from_tiles(kernel_, other, all.copies, -1, {});
    state.value =
        make_op(Op::MUL, state.value->dtype,
                {load(terms_[i].weights, place_in_block(all.block, tile)), other[0].value});
    return merged(all, {std::move(state)}, i);
  }

  /// A reduction over the block, added to the totals from number `first` on.
  std::vector<Statement> merged(const Part& part, std::vector<ReduceState> states, size_t first) {
    Statement step;
    step.kind = Statement::Kind::kStep;
    Statement reduction;
    reduction.kind = Statement::Kind::kReduce;
    reduction.id = kernel_.reductions++;
    reduction.body = in_loops({part.block}, {step});
    const Expr here = place(part.copies.axes);
    std::vector<Statement> stores;
    for (size_t i = 0; i < states.size(); ++i) {
      const DType dtype = states[i].dtype;
      const int total = terms_[first + i].total;
      stores.push_back(make_store(
          total, here,
          make_op(states[i].op, dtype,
                  {load(total, here), make_result(reduction.id, static_cast<int>(i), dtype)})));
    }
    reduction.states = std::move(states);
    std::vector<Statement> inside{std::move(reduction)};
    append(inside, std::move(stores));
    return in_loops(part.copies.axes, std::move(inside));
  }

  std::vector<Statement> ending(int id, std::vector<Statement> rest) {
    const Part last = part(".c", with_own());
    std::vector<KValueRef> totals;
    for (const Term& term : terms_) totals.push_back(load(term.total, place(with_own())));
    load_from_tiles(kernel_, rest, last.copies, id, totals);
    return in_loops(last.copies.axes, std::move(rest));
  }

  const StepOf<transforms::Precompute>& step_;
  Kernel& kernel_;
  int r_, a_;
  std::vector<Statement*> path_;
  Statement *reduction_ = nullptr, *outer_ = nullptr, *inner_ = nullptr;
  std::vector<int> between_, tile_, own_;
  std::vector<Nested> nested_;
  std::vector<Term> terms_;
  std::optional<LoopRange> range_;  ///< of blocks
  int blocks_ = -1;
};

}  // namespace

Refused apply_precompute(const StepOf<transforms::Precompute>& step) {
  return Precompute(step).run();
}

}  // namespace tenon
