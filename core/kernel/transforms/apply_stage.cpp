// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// stage: copies the tile of an input that inner loops read, or a factor computed from it, to
// scratch or shared memory.
#include <algorithm>
#include <optional>

#include "core/kernel/transforms/apply.hpp"
#include "core/kernel/transforms/staged_loads.hpp"
#include "core/kernel/transforms/tile_axes.hpp"
#include "core/kernel/transforms/tile_loops.hpp"
#include "sdk/support/scanner.hpp"

namespace tenon {
namespace {

constexpr int64_t kBankBytes = 64;  ///< half the width of all banks of a GPU's shared memory

class Stage {
 public:
  explicit Stage(const StepOf<transforms::Stage>& step)
      : step_(step), kernel_(step.kernel), axis_(step.transform.at) {}

  Refused run() {
    if (Refused no = find_buffer()) return no;
    if (is_jam(kernel_.axes[axis_].bind))
      return step_.refuse("a loop that is not unrolled or a vector", kernel_.axes[axis_].name);
    if (Refused no = step_.transform.computed ? find_factor() : find_load()) return no;
    if (Refused no = find_axes()) return no;
    const int tile = add_tile();
    Statement stage = make_copy(tile);
    add_guards();
    use_tile(tile);
    std::vector<Statement>& body = path_to(kernel_, axis_).back()->body;
    body.insert(body.begin(), std::move(stage));
    return {};
  }

 private:
  Refused find_buffer() {
    const auto& [number, way] = step_.transform.source;
    const std::string name = fmt::format("b{}", number);
    if (number >= static_cast<int>(kernel_.buffers.size()))
      return step_.refuse("a buffer b0 to b" + std::to_string(kernel_.buffers.size() - 1), name);
    const KernelBuffer& buffer = kernel_.buffers[static_cast<size_t>(number)];
    if (buffer.written || buffer.space != BufferSpace::kGlobal)
      return step_.refuse("an input that the kernel does not write", name);
    buffer_ = number;
    if (way) way_ = static_cast<size_t>(*way);
    return {};
  }

  Refused find_load() {
    const std::vector<KValueRef> loads = distinct_loads(kernel_, axis_, buffer_);
    const std::string& place = kernel_.axes[axis_].name;
    if (loads.empty()) return step_.refuse("a load of it inside " + place, "none");
    const std::string name = "b" + std::to_string(buffer_);
    if (!way_ && loads.size() > 1)
      return step_.refuse(
          fmt::format("one way to read it, or {}.0 to {}.{}", name, name, loads.size() - 1),
          "several");
    if (way_.value_or(0) >= loads.size())
      return step_.refuse(fmt::format("one of {} ways to read it inside {}", loads.size(), place),
                          std::to_string(*way_));
    load_ = loads[way_.value_or(0)];
    if (!is_known(*load_))
      return step_.refuse("an index that depends on no data", "one from the data");
    value_ = load_;
    return {};
  }

  /// True if the index and mask depend on no let.
  bool is_known(const KValue& v) const {
    std::map<std::string, Expr> symbols;
    v.index.collect_symbols(symbols);
    v.mask.collect_symbols(symbols);
    return std::ranges::none_of(kernel_.lets,
                                [&](const Let& let) { return symbols.contains(let.symbol); });
  }

  bool reads_buffer(const KValueRef& root) const {
    bool found = false;
    visit(root, [&](const KValueRef& v) {
      found |= v->kind == KValueKind::kLoad && v->buffer == buffer_;
    });
    return found;
  }

  /// Finds the one factor that contains all loads of the buffer, and the load in it that depends on
  /// most axes.
  Refused find_factor() {
    if (way_)
      return step_.refuse("a buffer, of which all loads are computed with", "one of its ways");
    bool one = true;
    each_value_inside(kernel_, axis_, [&](const KValueRef& v) {
      if (!reads_buffer(v)) return;
      const bool is_product = v->kind == KValueKind::kOp && v->op == Op::MUL;
      one &= is_product;
      if (!is_product) return;
      for (const KValueRef& factor : v->operands) {
        if (!reads_buffer(factor)) continue;
        one &= !value_;
        value_ = factor;
      }
    });
    if (!one) return step_.refuse("one factor that reads the buffer", "others that do");
    if (!value_)
      return step_.refuse("a factor that reads it inside " + kernel_.axes[axis_].name, "none");
    Dependence dependence(kernel_);
    bool known = true, inputs = true;
    visit(value_, [&](const KValueRef& v) {
      known &= is_known(*v);
      inputs &= v->kind != KValueKind::kResult;
      if (v->kind != KValueKind::kLoad) return;
      const KernelBuffer& buffer = kernel_.buffers[v->buffer];
      inputs &= !buffer.written && buffer.space == BufferSpace::kGlobal;
      if (v->buffer != buffer_) return;
      if (!load_ || dependence.of(v).count() > dependence.of(load_).count()) load_ = v;
    });
    if (!inputs) return step_.refuse("a factor that is computed from inputs alone", "another");
    if (!known) return step_.refuse("an index that depends on no data", "one from the data");
    return {};
  }

  Refused find_axes() {
    Dependence dependence(kernel_);
    const AxisSet used = dependence.of(value_);
    const bool shared = std::ranges::any_of(kernel_.axes, [](const KernelAxis& a) {
      return is_block(a.bind) || a.bind == Bind::kMatrix;
    });
    space_ = shared ? BufferSpace::kShared : BufferSpace::kScratch;
    const std::vector<Statement*> path = path_to(kernel_, axis_);
    std::vector<int> loops;
    const auto take = [&](int a) {
      if (used[a]) loops.push_back(a);
    };
    for (const Statement* s : path) {
      if (s->kind != Statement::Kind::kLoop) continue;
      const Bind bind = kernel_.axes[s->axis].bind;
      if (is_jam(bind) || bind == Bind::kMatrix || (shared && is_block(bind))) take(s->axis);
    }
    walk(path.back()->body, [&](Statement& s) {
      if (s.kind == Statement::Kind::kLoop) take(s.axis);
    });
    const int inner = step_.transform.inner.value_or(-1);
    if (inner >= 0 && !std::ranges::count(loops, inner))
      return step_.refuse("a loop that the tile depends on", kernel_.axes[inner].name);
    tile_ = step_.transform.computed ? tile_axes_apart(kernel_, *load_, loops, inner)
                                     : tile_axes(kernel_, *load_, loops, inner);
    int64_t count = 1;
    bool row = true;  // the axes inside form one row of the source
    const bool is_run = follow_one_another();
    const bool in_kinds = shared && (is_run ? are_by_kind() : sort_by_kind());
    const int64_t unit = std::max<int64_t>(1, tile_.empty() ? 1 : tile_.back().order);
    for (size_t i = tile_.size(); i-- > 0;) {
      const bool other_kind = !in_kinds || kind_of(tile_[i]) != kind_of(tile_.back());
      const bool far =
          is_run ? count > 1 && fills_banks(count) : in_kinds || tile_[i].order > count * unit;
      if (row && other_kind && far) {
        row = false;
        if (Refused no = end_row(i, count)) return no;
      }
      tile_[i].pitch = count;
      if (tile_[i].size() > kMostOfTile || (count *= tile_[i].size()) > kMostOfTile)
        return step_.refuse("a tile of at most 4194304 elements", "a larger one");
    }
    if (lines() && row) return step_.refuse("rows to cut into lines", "one row");
    if (lines()) {
      if (!shared) return step_.refuse("a tile in shared memory", "one of a thread");
      const int64_t whole = elements_of(kPatternBytes);
      column_ = (count + step_.transform.pad + whole - 1) / whole * whole;
      count = column_ * (row_ / line());
      if (count > kMostOfTile)
        return step_.refuse("a tile of at most 4194304 elements", "a larger one");
    }
    count_ = count;
    return {};
  }

  AxisKind kind_of(const TileAxis& axis) const { return kernel_.axes[axis.members[0].axis].kind; }

  /// True if reduce axes and parallel axes form two groups.
  bool are_by_kind() const {
    const auto changes = [&](const TileAxis& a, const TileAxis& b) {
      return kind_of(a) != kind_of(b);
    };
    const auto first = std::ranges::adjacent_find(tile_, changes);
    return first != tile_.end() &&
           std::adjacent_find(first + 1, tile_.end(), changes) == tile_.end();
  }

  /// If strides are not constant, as at the edges of an image, the source does not give the order:
  /// axes of the innermost one's kind, reduce or parallel, go inside. Returns false and does
  /// nothing if all are constant.
  bool sort_by_kind() {
    if (std::ranges::all_of(tile_, &TileAxis::even)) return false;
    const AxisKind inner = kind_of(tile_.back());
    std::stable_partition(tile_.begin(), tile_.end(),
                          [&](const TileAxis& t) { return kind_of(t) != inner; });
    return true;
  }

  /// True if the tile is contiguous in the source.
  bool follow_one_another() const {
    int64_t count = 1;
    for (size_t i = tile_.size(); i-- > 0; count *= tile_[i].size())
      if (tile_[i].order > count) return false;
    return true;
  }
  /// True if consecutive rows of `count` elements would begin in few banks: then the tile has rows
  /// even if the source is contiguous.
  bool fills_banks(int64_t count) const {
    const bool wants_rows = step_.transform.pad > 0 || lines();
    return wants_rows && count * static_cast<int64_t>(dtype_size(value_->dtype)) % kBankBytes == 0;
  }

  bool lines() const { return step_.transform.lines; }
  int64_t elements_of(int64_t bytes) const {
    return bytes / static_cast<int64_t>(dtype_size(value_->dtype));
  }
  int64_t line() const { return elements_of(kLineBytes); }

  /// Ends the rows: axes 0 to `i` count rows of `count` elements.
  Refused end_row(size_t i, int64_t& count) {
    if (!lines()) {
      count += step_.transform.pad;
      return {};
    }
    if (count % line() != 0)
      return step_.refuse("rows of whole lines of " + std::to_string(line()),
                          std::to_string(count));
    row_ = count;
    rows_ = i + 1;
    count = line();
    return {};
  }

  /// Index in the tile of an element of a row.
  Expr in_tile(const Expr& row, const Expr& element) const {
    if (!lines()) return row + element;
    return row + floor_div(element, line()) * column_ + mod(element, line());
  }

  int add_tile() {
    const DType dtype = value_->dtype;
    const std::string base = "b" + std::to_string(buffer_);
    int number = 0;
    const auto taken = [&](const std::string& name) {
      return kernel_.axis(name + ".c0") >= 0 ||
             std::ranges::any_of(kernel_.buffers,
                                 [&](const KernelBuffer& b) { return b.name == name + "_tile"; });
    };
    std::string name = base;
    while (taken(name)) name = base + "_" + std::to_string(++number);
    for (size_t i = 0; i < tile_.size(); ++i)
      tile_[i].copy =
          kernel_.add_axis(name + ".c" + std::to_string(i), tile_[i].extent, AxisKind::kParallel);
    kernel_.buffers.push_back({name + "_tile", dtype, count_, space_, -1, -1, true, true});
    kernel_.buffers.back().swizzled = lines();
    return static_cast<int>(kernel_.buffers.size()) - 1;
  }

  Expr position_of_copy() const {
    Expr row = 0, element = 0;
    for (size_t i = 0; i < tile_.size(); ++i) {
      Expr& at = i < rows_ ? row : element;
      at = at + kernel_.axes[tile_[i].copy].symbol() * tile_[i].pitch;
    }
    return in_tile(row, element);
  }

  Expr position() const {
    Expr row = 0, element = 0;
    for (size_t i = 0; i < tile_.size(); ++i) {
      Expr& at = i < rows_ ? row : element;
      for (const TileAxis::Member& m : tile_[i].members)
        at = at + kernel_.axes[m.axis].symbol() * (m.step * tile_[i].pitch);
    }
    return in_tile(row, element);
  }

  Statement make_copy(int tile) {
    const std::map<std::string, Expr> names = names_of_copy(kernel_, tile_);
    Statement inner;
    inner.kind = Statement::Kind::kStore;
    inner.buffer = tile;
    inner.index = position_of_copy();
    KValueRewriter move([&](const KValueRef& v) {
      if (v->kind == KValueKind::kIndex) return make_index(v->index.substitute(names), v->dtype);
      if (v->kind != KValueKind::kLoad) return v;
      return make_load(v->buffer, v->dtype, v->index.substitute(names), v->mask.substitute(names),
                       v->constant);
    });
    inner.value = move(value_);
    for (size_t i = tile_.size(); i-- > 0;) {
      Statement loop;
      loop.axis = tile_[i].copy;
      loop.body.push_back(std::move(inner));
      inner = std::move(loop);
    }
    Statement stage;
    stage.kind = Statement::Kind::kStage;
    stage.buffer = tile;
    stage.body.push_back(std::move(inner));
    return stage;
  }

  /// Guards the copy loops by the guards of the axes that they replace.
  void add_guards() {
    std::vector<Guard> more;
    for (const Guard& g : kernel_.guards) {
      const Guard copy = guard_of_copy(kernel_, g, tile_);
      if (!(copy.lower == g.lower && copy.upper == g.upper)) more.push_back(copy);
    }
    kernel_.guards.insert(kernel_.guards.end(), more.begin(), more.end());
  }

  void use_tile(int tile) {
    const Scalar fill = step_.transform.computed ? zero(value_->dtype) : load_->constant;
    const KValueRef from_tile = make_load(tile, value_->dtype, position(), 1, fill);
    KValueRewriter rewrite([&](const KValueRef& v) {
      if (step_.transform.computed) return v == value_ ? from_tile : v;
      const bool staged =
          v->kind == KValueKind::kLoad && v->buffer == buffer_ && reads_same(*v, *load_);
      return staged ? from_tile : v;
    });
    each_value_inside(kernel_, axis_, [&](KValueRef& v) { v = rewrite(v); });
  }

  const StepOf<transforms::Stage>& step_;
  Kernel& kernel_;
  int axis_, buffer_ = -1;
  std::optional<size_t> way_;  ///< index into distinct_loads, if given
  KValueRef load_, value_;     ///< the load that gives the layout, and the value in the tile
  BufferSpace space_ = BufferSpace::kScratch;
  std::vector<TileAxis> tile_;
  int64_t count_ = 1;
  int64_t row_ = 1, column_ = 1;  ///< elements of a row, and of a column of lines
  size_t rows_ = 0;               ///< number of tile axes that count rows
};

}  // namespace

Refused apply_stage(const StepOf<transforms::Stage>& step) { return Stage(step).run(); }

}  // namespace tenon
