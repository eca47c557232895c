// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// online_softmax: a maximum and the sums that depend on it run in one pass over their axis, by
// blocks.
#include <algorithm>
#include <limits>

#include "core/ir/scalar_op.hpp"
#include "core/kernel/transforms/apply.hpp"
#include "core/kernel/transforms/block_tiles.hpp"
#include "core/kernel/transforms/masked_blocks.hpp"
#include "core/kernel/transforms/running_maximum.hpp"

namespace tenon {
namespace {

class OnlineSoftmax {
 public:
  explicit OnlineSoftmax(const StepOf<transforms::OnlineSoftmax>& step)
      : step_(step), kernel_(step.kernel), r_(step.transform.reduce), a_(step.transform.at) {
    block_tiles_.steps_inner = step.transform.inner.has_value();
  }

  Refused run() {
    if (block_tiles_.steps_inner && *step_.transform.inner != r_)
      return step_.refuse("inner " + name(r_) + ", or nothing", name(*step_.transform.inner));
    if (Refused no = find_maximum()) return no;
    if (Refused no = find_tile()) return no;
    if (Refused no = find_sums()) return no;
    if (Refused no = add_maximum_tiles()) return no;
    if (Refused no = split_terms()) return no;
    change();
    return {};
  }

 private:
  const std::string& name(int axis) const { return kernel_.axes[axis].name; }
  const Expr& extent(int axis) const { return kernel_.axes[axis].extent; }
  Expr at(int axis) const { return kernel_.axes[axis].symbol(); }
  bool is_guarded(int axis) const { return tenon::is_guarded(kernel_, axis); }

  /// A reduction over one loop, with nothing but reductions before its step.
  static bool is_row(const Statement& reduction) {
    if (reduction.body.size() != 1 || !is_loop(reduction.body[0])) return false;
    const std::vector<Statement>& body = reduction.body[0].body;
    return body.back().kind == Statement::Kind::kStep &&
           std::all_of(body.begin(), body.end() - 1, is_reduce);
  }

  Refused find_maximum() {
    path_ = path_to(kernel_, r_);
    if (path_.size() < 2 || !is_reduce(*path_[path_.size() - 2]) ||
        !is_row(*path_[path_.size() - 2]))
      return step_.refuse("the loop of a reduction over " + name(r_) + " alone", "another");
    maximum_ = path_[path_.size() - 2];
    maximum_id_ = maximum_->id;
    const ReduceState& state = maximum_->states[0];
    dtype_ = state.dtype;
    term_ = with_positions(state.value);
    if (maximum_->states.size() != 1 || state.op != Op::MAX || !is_float(dtype_) ||
        dtype_bits(dtype_) < 32)
      return step_.refuse("one maximum of floats over " + name(r_), "another reduction");
    if (extent(r_).min() < 1 || is_guarded(r_))
      return step_.refuse("an axis of one element or more, not padded", name(r_));
    for (const KernelAxis& axis : kernel_.axes)
      if (axis.bind == Bind::kMatrix)
        return step_.refuse("online_softmax before tensorize", axis.name);
    if (!step_.transform.sums) return {};
    const std::vector<Statement>& row = maximum_->body[0].body;
    if (row.size() != 2 || row[0].states.size() != 1 || row[0].states[0].dtype != dtype_)
      return step_.refuse("one reduction in each step over " + name(r_), "others");
    sum_ = row[0].id;
    return {};
  }

  /// Sets outer_ (loop A), tile_ (the loops below it) and inner_ (the innermost of these).
  Refused find_tile() {
    const auto loops = find_tile_loops(step_, path_, a_);
    if (const auto* no = std::get_if<Refusal>(&loops)) return *no;
    const TileLoops& found = std::get<TileLoops>(loops);
    outer_ = found.outer;
    inner_ = found.inner;
    tile_ = found.inside;
    if (&inner_->body.front() != maximum_)
      return step_.refuse("the maximum first inside " + name(inner_->axis), "other statements");
    return {};
  }

  Refused find_sums() {
    std::vector<int> own;
    for (size_t i = 1; i < inner_->body.size(); ++i)
      if (Refused no = find_sums(inner_->body[i], own)) return no;
    if (!sums_.empty()) return {};
    return step_.refuse("sums that depend on the maximum over " + name(r_), "none");
  }

  Refused find_sums(const Statement& s, std::vector<int>& own) {
    if (s.kind == Statement::Kind::kStore) return {};
    if (is_reduce(s)) {
      if (!is_row(s) || !(extent(s.body[0].axis) == extent(r_)) || is_guarded(s.body[0].axis) ||
          kernel_.axes[s.body[0].axis].bind != Bind::kLoop)
        return step_.refuse("reductions over the length of " + name(r_), "another");
      for (const ReduceState& state : s.states)
        if (state.op != Op::ADD || state.dtype != dtype_)
          return step_.refuse("sums of its dtype after the maximum", "another reduction");
      sums_.push_back({s.id, s.body[0].axis, own, s.states, {}, {}, {}});
      return {};
    }
    if (!is_loop(s) || kernel_.axes[s.axis].kind != AxisKind::kParallel ||
        kernel_.axes[s.axis].bind != Bind::kLoop)
      return step_.refuse("parallel loops that are not bound after the maximum", "another");
    own.push_back(s.axis);
    for (const Statement& inner : s.body)
      if (Refused no = find_sums(inner, own)) return no;
    own.pop_back();
    return {};
  }

  std::vector<int> with_tile(const std::vector<int>& own) const {
    std::vector<int> axes = tile_;
    axes.insert(axes.end(), own.begin(), own.end());
    return axes;
  }

  int64_t count(const std::vector<int>& axes) const { return tile_positions(kernel_, axes); }
  Expr place(const std::vector<int>& axes) const { return tile_place(kernel_, axes); }
  int add_tile(const std::string& what, int64_t elements) {
    return tenon::add_tile(kernel_, what, dtype_, elements);
  }

  KValueRef load(int tile, const Expr& index) const {
    return make_load(tile, dtype_, index, 1, zero(dtype_));
  }
  KValueRef load_widened(int tile, const Expr& index) const {
    const DType dtype = kernel_.buffers[tile].dtype;
    return make_cast(make_load(tile, dtype, index, 1, zero(dtype)), dtype_);
  }
  KValueRef op(Op code, KValueRef x, KValueRef y) const {
    return make_op(code, dtype_, {std::move(x), std::move(y)});
  }
  KValueRef number(double value) const { return make_const(Scalar::of(dtype_, value)); }

  Refused add_maximum_tiles() {
    const int64_t positions = count(tile_);
    for (const RunningSum& sum : sums_) {
      const std::vector<int> axes = with_tile(sum.own);
      if (count(axes) < 0) return too_large();
    }
    block_tiles_.across = block_tiles_.steps_inner ? step_.transform.factor : positions;
    block_tiles_.down = block_tiles_.steps_inner ? positions : step_.transform.factor;
    block_tiles_.room = step_.transform.pad * static_cast<int64_t>(dtype_size(dtype_));
    if (positions < 0 || !block_tiles_.fits()) return too_large();
    terms_ = block_tiles_.add(kernel_, "terms", dtype_);
    maxima_ = add_tile("maxima", positions);
    bases_ = add_tile("bases", positions);
    scales_ = add_tile("scales", positions);
    return {};
  }
  Refused too_large() const { return step_.refuse("tiles of at most 4194304 elements", "larger"); }

  /// The loops of one part of the work: copies of the tile's axes, of a sum's own, and of R in a
  /// block.
  struct Part {
    AxisCopies copies;
    std::vector<int> tile, own;
    int block = -1;
    std::map<std::string, Expr>& rename() { return copies.rename; }
  };

  Part part(std::string_view suffix, const std::vector<int>& own = {}) {
    const std::vector<int> axes = with_tile(own);
    Part out{copy_axes(kernel_, axes, suffix), {}, {}, -1};
    const auto split = out.copies.axes.begin() + static_cast<std::ptrdiff_t>(tile_.size());
    out.tile.assign(out.copies.axes.begin(), split);
    out.own.assign(split, out.copies.axes.end());
    copy_guards(kernel_, out.copies.rename);
    return out;
  }

  int add_axis(const std::string& suffix, Expr size, AxisKind kind) {
    std::string wanted = name(r_) + suffix;
    while (kernel_.axis(wanted) >= 0) wanted += "_";
    return kernel_.add_axis(std::move(wanted), std::move(size), kind);
  }

  int add_block_axis(const std::string& suffix, AxisKind kind) {
    const int axis = add_axis(".i" + suffix, step_.transform.factor, kind);
    const Expr position = row_at(axis);
    if (!extent(r_).divisible_by(step_.transform.factor))
      kernel_.guards.push_back({position, extent(r_)});
    return axis;
  }
  Expr row_at(int block_axis) const {
    return at(blocks_) * step_.transform.factor + at(block_axis);
  }
  Expr place_in_block(int block_tile, int block_axis, const std::vector<int>& tile) const {
    return block_tiles_.place(kernel_.buffers[block_tile], at(block_axis), place(tile));
  }

  Refused split_terms() {
    blocks_ = add_axis(".o", ceil_div(extent(r_), step_.transform.factor), AxisKind::kOrdered);
    powers_ = part(".p");
    powers_.block = add_block_axis(".p", has_row_sums() ? AxisKind::kReduce : AxisKind::kParallel);
    const KValueRef element = term_at(powers_.block, powers_);
    const KValueRef base = load(bases_, place(powers_.tile));
    KValueRef power;
    const auto powered = [&](const Power& p) {
      if (!power) power = p.of(element, base);
      return power;
    };
    RunningMaximum maximum(kernel_, *maximum_);
    for (RunningSum& sum : sums_) {
      AxisSet own;
      for (const int a : sum.own) own.set(a);
      for (const ReduceState& state : sum.states) {
        auto term = maximum.match(state.value, sum.axis, own, power_, element, powered);
        if (!term || (term->others.size() != 1) != sum.own.empty())
          return step_.refuse("terms exp(x - max) times factors that do not depend on the maximum",
                              "others over " + name(sum.axis));
        sum.terms.push_back(std::move(*term));
      }
    }
    if (const auto& masked = maximum.masked()) skip_masked_blocks(*masked);
    return {};
  }
  bool has_row_sums() const {
    return std::ranges::any_of(sums_, [](const RunningSum& sum) { return sum.own.empty(); });
  }

  /// Skips masked blocks if that does not change results. They count as if they were the first
  /// blocks.
  void skip_masked_blocks(const Masked& masked) {
    const double constant = masked.constant.as_double();
    const bool is_infinite = constant == -std::numeric_limits<double>::infinity();
    if (!is_infinite && !std::isfinite(constant)) return;
    for (const RunningSum& sum : sums_)
      for (const RunningTerm& term : sum.terms)
        if (!term.is_masked && !is_infinite && !(term.is_power && sum.own.empty())) return;
    unmasked_ = unmasked_blocks(kernel_, masked, r_, step_.transform.factor, tile_, path_);
    if (unmasked_) masked_ = masked.constant;
  }

  void change() {
    std::vector<Statement> rest(std::make_move_iterator(inner_->body.begin() + 1),
                                std::make_move_iterator(inner_->body.end()));
    Statement maximum = std::move(*maximum_);
    for (RunningSum& sum : sums_)
      for (size_t i = 0; i < sum.states.size(); ++i) {
        const std::vector<int> axes = with_tile(sum.own);
        sum.totals.push_back(add_tile("totals", count(axes)));
      }
    std::vector<Statement> parts = beginning();
    Statement blocks;
    blocks.axis = blocks_;
    if (unmasked_) blocks.range = LoopRange{unmasked_->begin, unmasked_->end};
    blocks.body = terms_of(std::move(maximum));
    append(blocks.body, maxima());
    append(blocks.body, powers());
    for (const RunningSum& sum : sums_)
      if (!sum.own.empty()) append(blocks.body, sum_of(sum));
    parts.push_back(std::move(blocks));
    append(parts, ending(std::move(rest)));
    outer_->body = std::move(parts);
  }

  std::vector<Statement> beginning() {
    std::vector<Statement> out;
    Part rows = part(".z");
    KValueRef first = make_const(identity(Op::MAX, dtype_));
    if (masked_)
      first = make_op(
          Op::WHERE, dtype_,
          {make_index(less(0, unmasked_->masked), DType::kBool), make_const(*masked_), first});
    std::vector<Statement> stores{make_store(maxima_, place(rows.tile), first)};
    for (const RunningSum& sum : sums_) {
      if (!sum.own.empty()) continue;
      for (size_t i = 0; i < sum.totals.size(); ++i) {
        const bool counts =
            masked_ && std::isfinite(masked_->as_double()) && !sum.terms[i].is_masked;
        stores.push_back(
            make_store(sum.totals[i], place(rows.tile),
                       counts ? make_cast(make_index(unmasked_->masked, DType::kI64), dtype_)
                              : make_const(zero(dtype_))));
      }
    }
    append(out, in_loops(rows.copies.axes, std::move(stores)));
    for (const RunningSum& sum : sums_) {
      if (sum.own.empty()) continue;
      Part all = part(".z", sum.own);
      std::vector<Statement> zeros;
      for (const int total : sum.totals)
        zeros.push_back(make_store(total, place(all.copies.axes), make_const(zero(dtype_))));
      append(out, in_loops(all.copies.axes, std::move(zeros)));
    }
    return out;
  }

  /// Computes the maximum's terms, or the sums they are made of, for a block.
  std::vector<Statement> terms_of(Statement maximum) {
    const int block = add_block_axis("", AxisKind::kParallel);
    std::vector<Statement>& inside = maximum.body[0].body;
    inside.pop_back();  // the step
    const KValueRef value = sum_ < 0 ? term_ : make_result(sum_, 0, dtype_);
    inside.push_back(make_store(terms_, place_in_block(terms_, block, tile_), value));
    AxisCopies copies{{}, {{name(r_), row_at(block)}}};
    load_from_tiles(kernel_, inside, copies, -1, {});
    std::vector<int> axes = tile_;
    axes.push_back(block);
    return in_loops(axes, std::move(inside));
  }

  Statement reduction(int block, std::vector<ReduceState> states, std::vector<Statement> more) {
    Statement step;
    step.kind = Statement::Kind::kStep;
    Statement loop;
    loop.axis = block;
    loop.body.push_back(std::move(step));
    append(loop.body, std::move(more));
    Statement out;
    out.kind = Statement::Kind::kReduce;
    out.id = kernel_.reductions++;
    out.states = std::move(states);
    out.body.push_back(std::move(loop));
    return out;
  }

  std::vector<Statement> maxima() {
    Part rows = part(".m");
    rows.block = add_block_axis(".m", AxisKind::kReduce);
    std::vector<Statement> out;
    out.push_back(reduction(rows.block, {{Op::MAX, dtype_, term_at(rows.block, rows)}}, {}));
    const Expr here = place(rows.tile);
    const KValueRef before = load(maxima_, here);
    const KValueRef now = op(Op::MAX, before, make_result(out[0].id, 0, dtype_));
    const KValueRef base = clamp_above_infinity(now);
    out.push_back(make_store(scales_, here, power_->of(clamp_above_infinity(before), base)));
    out.push_back(make_store(bases_, here, base));
    out.push_back(make_store(maxima_, here, now));
    return in_loops(rows.copies.axes, std::move(out));
  }

  KValueRef scaled(int total, const Expr& index, const Expr& row, KValueRef more) const {
    return op(Op::ADD, op(Op::MUL, load(total, index), load(scales_, row)), std::move(more));
  }

  /// Computes the weights of a block for sums with own loops, and the sums without own loops.
  std::vector<Statement> powers() {
    std::vector<Statement> weights, totals;
    std::vector<ReduceState> states;
    const auto here = [&](int tile) { return place_in_block(tile, powers_.block, powers_.tile); };
    const Expr row = place(powers_.tile);
    bool is_first = true;
    for (RunningSum& sum : sums_) {
      for (size_t i = 0; i < sum.terms.size(); ++i) {
        const KValueRef weight = weight_of(sum, i);
        if (sum.own.empty()) {
          states.push_back({Op::ADD, dtype_, weight, sum.states[i].precision});
          continue;
        }
        // A rounded weight is stored in the narrow dtype.
        if (const KValueRef narrow = strip_widening(weight)) {
          sum.weights.push_back(block_tiles_.add(kernel_, "weights", narrow->dtype));
          weights.push_back(make_store(sum.weights.back(), here(sum.weights.back()), narrow));
          continue;
        }
        // The first weight overwrites the terms: its term was read before.
        sum.weights.push_back(is_first ? terms_ : block_tiles_.add(kernel_, "weights", dtype_));
        is_first = false;
        weights.push_back(make_store(sum.weights.back(), here(sum.weights.back()), weight));
      }
    }
    if (states.empty()) {
      std::vector<int> axes = powers_.tile;
      axes.push_back(powers_.block);
      return in_loops(axes, std::move(weights));
    }
    std::vector<Statement> out{reduction(powers_.block, std::move(states), std::move(weights))};
    approximate_powers(kernel_, bases_, out);
    int state = 0;
    for (const RunningSum& sum : sums_)
      if (sum.own.empty())
        for (const int total : sum.totals)
          totals.push_back(make_store(
              total, row, scaled(total, row, row, make_result(out[0].id, state++, dtype_))));
    append(out, std::move(totals));
    return in_loops(powers_.tile, std::move(out));
  }

  /// A term of the maximum, from the tile of a block.
  KValueRef term_at(int block, const Part& part) {
    KValueRef value = load(terms_, place_in_block(terms_, block, part.tile));
    if (sum_ < 0) return value;
    AxisCopies copies = part.copies;
    copies.rename.insert_or_assign(name(r_), row_at(block));
    std::vector<Statement> one{make_store(terms_, 0, term_)};
    load_from_tiles(kernel_, one, copies, sum_, {value});
    return one[0].value;
  }

  /// The weight of a sum at the axes of powers_.
  KValueRef weight_of(const RunningSum& sum, size_t i) {
    AxisCopies copies = powers_.copies;
    copies.rename.insert_or_assign(name(sum.axis), row_at(powers_.block));
    std::vector<Statement> one{make_store(terms_, 0, with_positions(sum.terms[i].weight))};
    load_from_tiles(kernel_, one, copies, -1, {});
    return one[0].value;
  }

  std::vector<Statement> sum_of(const RunningSum& sum) {
    Part all = part(".f", sum.own);
    all.block = add_block_axis(".f", AxisKind::kReduce);
    AxisCopies copies = all.copies;
    copies.rename.insert_or_assign(name(sum.axis), row_at(all.block));
    std::vector<ReduceState> states;
    for (size_t i = 0; i < sum.terms.size(); ++i) {
      const KValueRef weight =
          load_widened(sum.weights[i], place_in_block(sum.weights[i], all.block, all.tile));
      std::vector<Statement> other{make_store(terms_, 0, sum.terms[i].others[0])};
      load_from_tiles(kernel_, other, copies, -1, {});
      states.push_back(
          {Op::ADD, dtype_, op(Op::MUL, weight, other[0].value), sum.states[i].precision});
    }
    std::vector<Statement> out;
    out.push_back(reduction(all.block, std::move(states), {}));
    const Expr here = place(all.copies.axes), row = place(all.tile);
    for (size_t i = 0; i < sum.totals.size(); ++i)
      out.push_back(make_store(
          sum.totals[i], here,
          scaled(sum.totals[i], here, row, make_result(out[0].id, static_cast<int>(i), dtype_))));
    return in_loops(all.copies.axes, std::move(out));
  }

  /// The statements after the reductions, in loops over the tiles.
  std::vector<Statement> ending(std::vector<Statement> rest) {
    Part last = part(".c");
    remove_sums(rest);
    const KValueRef maximum = load(maxima_, place(tile_));
    for (size_t i = sums_.size(); i-- > 0;) {
      const RunningSum& sum = sums_[i];
      const std::vector<int> axes = with_tile(sum.own);
      std::vector<KValueRef> totals;
      for (size_t k = 0; k < sum.totals.size(); ++k) {
        // A row of -inf alone has the sum NaN.
        const KValueRef is_finite =
            make_op(Op::CMPNE, DType::kBool, {maximum, make_const(identity(Op::MAX, dtype_))});
        KValueRef total = make_op(Op::WHERE, dtype_,
                                  {is_finite, load(sum.totals[k], place(axes)),
                                   number(std::numeric_limits<double>::quiet_NaN())});
        for (const auto& [code, value] : sum.terms[k].outer) total = op(code, total, value);
        totals.push_back(std::move(total));
      }
      load_from_tiles(kernel_, rest, last.copies, sum.id, totals);
    }
    load_from_tiles(kernel_, rest, last.copies, maximum_id_, {maximum});
    return in_loops(last.copies.axes, std::move(rest));
  }

  void remove_sums(std::vector<Statement>& statements) {
    std::erase_if(statements, is_reduce);
    for (Statement& s : statements) remove_sums(s.body);
  }

  const StepOf<transforms::OnlineSoftmax>& step_;
  Kernel& kernel_;
  int r_, a_;
  std::vector<Statement*> path_;
  Statement *maximum_ = nullptr, *outer_ = nullptr, *inner_ = nullptr;
  int maximum_id_ = -1;
  DType dtype_ = DType::kVoid;
  std::vector<int> tile_;
  std::vector<RunningSum> sums_;
  BlockTiles block_tiles_;
  KValueRef term_;  ///< of the maximum
  int sum_ = -1;    ///< the reduction in each step whose results are tiled; -1: the terms are
  int terms_ = -1, maxima_ = -1, bases_ = -1, scales_ = -1;
  int blocks_ = -1;
  Part powers_;
  std::optional<Power> power_;
  std::optional<UnmaskedBlocks> unmasked_;
  std::optional<Scalar> masked_;
};

}  // namespace

Refused apply_online_softmax(const StepOf<transforms::OnlineSoftmax>& step) {
  return OnlineSoftmax(step).run();
}

}  // namespace tenon
