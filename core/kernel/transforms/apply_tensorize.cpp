// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tensorize: a tile of a sum of products becomes matrix atoms.
#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "core/kernel/transforms/apply.hpp"
#include "core/kernel/transforms/tile_loops.hpp"
#include "core/kernel/tree/matrix.hpp"
#include "core/kernel/tree/shared_tiles.hpp"

namespace tenon {
namespace {

constexpr int64_t kMaxTile = 1 << 15;  ///< elements
constexpr int64_t kBanks = 32, kRoom = 8;

class Tensorize {
 public:
  explicit Tensorize(const StepOf<transforms::Tensorize>& step)
      : step_(step),
        kernel_(step.kernel),
        m_(step.transform.m),
        n_(step.transform.n),
        k_(step.transform.k) {}

  Refused run() {
    for (const int a : {m_, n_})
      if (kernel_.axes[a].bind != Bind::kUnroll)
        if (Refused no = step_.check_free(a)) return no;
    if (Refused no = find_loops()) return no;
    if (Refused no = find_reduction()) return no;
    zero_fill_operands();
    const std::string wrong = check_matrix(kernel_, *reduction_, m_, n_, k_);
    if (!wrong.empty()) return step_.refuse(wrong, "another sum");
    if (Refused no = check_threads()) return no;
    if (only_stores_sums()) return store_to_workgroup();
    if (continues()) return carry_accumulators();
    return store_to_tile();
  }

 private:
  std::string name(int axis) const { return kernel_.axes[axis].name; }

  int64_t across() const {
    return step_.transform.across ? step_.transform.across : step_.transform.threads;
  }
  bool is_of_subgroup(Bind bind) const {
    return bind == Bind::kBlockX || (bind == Bind::kBlockY && across() < step_.transform.threads);
  }

  Refused find_loops() {
    const std::vector<Statement*> path = path_to(kernel_, n_);
    for (const Statement* s : path) {
      if (s->kind != Statement::Kind::kLoop)
        return step_.refuse("loops around " + name(n_), "a reduction");
      const KernelAxis& axis = kernel_.axes[s->axis];
      const bool scatters = axis.kind == AxisKind::kOrdered && !has_shared_tiles(kernel_);
      if (scatters || axis.bind == Bind::kVector || axis.bind == Bind::kMatrix ||
          is_of_subgroup(axis.bind))
        return step_.refuse("no vector, no threads of a subgroup and no order around " + name(n_),
                            axis.name);
      const bool inside = !between_.empty() || s->axis == m_;
      if (inside && s->axis != n_ && s->body.size() != 1)
        return step_.refuse(name(n_) + " alone inside " + name(m_), "other statements");
      if (inside && s->axis != m_ && s->axis != n_ && axis.bind != Bind::kUnroll)
        return step_.refuse("only unrolled loops between " + name(m_) + " and " + name(n_),
                            axis.name);
      if (inside) between_.push_back(s->axis);
      if (s->axis == m_) outer_ = path;
    }
    if (outer_.empty()) return step_.refuse(name(m_) + " around " + name(n_), "another nesting");
    between_.erase(between_.begin());
    between_.pop_back();
    for (const int a : {m_, n_}) {
      const KernelAxis& axis = kernel_.axes[a];
      if (axis.kind != AxisKind::kParallel || !axis.extent.is_const())
        return step_.refuse("parallel axes of constant extents", axis.name);
    }
    for (const KernelBuffer& b : kernel_.buffers)
      if (b.space == BufferSpace::kGlobal && b.read && b.written)
        return step_.refuse("a kernel without in-place updates", b.name);
    return {};
  }

  Refused find_reduction() {
    std::vector<Statement>& body = path_to(kernel_, n_).back()->body;
    if (body.size() < 2 || body[0].kind != Statement::Kind::kReduce ||
        std::ranges::any_of(body.begin() + 1, body.end(),
                            [](const Statement& s) { return s.kind != Statement::Kind::kStore; }))
      return step_.refuse("a reduction and stores inside " + name(n_), "other statements");
    reduction_ = &body[0];
    const std::vector<Statement*> path = path_to(kernel_, k_);
    const auto at = std::ranges::find(path, reduction_);
    if (at == path.end()) return step_.refuse(name(k_) + " in the reduction", "another axis");
    for (auto s = at + 1; s != path.end(); ++s)
      if ((*s)->kind != Statement::Kind::kLoop || (kernel_.axes[(*s)->axis].bind != Bind::kLoop &&
                                                   kernel_.axes[(*s)->axis].bind != Bind::kUnroll))
        return step_.refuse("loops that are not bound around " + name(k_), "others");
    const std::vector<Statement>& inner = path.back()->body;
    if (inner.size() != 1 || inner[0].kind != Statement::Kind::kStep)
      return step_.refuse("the steps alone inside " + name(k_), "other statements");
    if (!kernel_.axes[k_].extent.is_const())
      return step_.refuse("a constant extent of " + name(k_), to_string(kernel_.axes[k_].extent));
    return {};
  }

  Refused check_threads() const {
    const int64_t threads = step_.transform.threads;
    if (threads > 1024) return step_.refuse("at most 1024 threads", std::to_string(threads));
    if (threads % across() != 0)
      return step_.refuse("a part of the " + std::to_string(threads) + " threads across",
                          std::to_string(across()));
    for (const KernelAxis& a : kernel_.axes)
      if (is_of_subgroup(a.bind))
        if (const int64_t most = a.bind == Bind::kBlockX ? across() : threads / across();
            !a.extent.is_const(most))
          return step_.refuse("the extent of " + a.name + ", " + to_string(a.extent),
                              std::to_string(most));
    bool same = true;
    walk(std::as_const(kernel_).body, [&](const Statement& s) {
      same &= s.kind != Statement::Kind::kMatrix || (s.threads == threads && s.across == across());
    });
    if (!same) return step_.refuse("subgroups of one size", std::to_string(threads));
    return {};
  }

  /// Zero-fills the operands that are materialised tiles: an atom loads out-of-range points too.
  void zero_fill_operands() {
    for (const ReduceState& state : reduction_->states)
      visit(state.value, [&](const KValueRef& v) {
        if (v->kind == KValueKind::kLoad && is_shared_tile(kernel_.buffers[v->buffer]) &&
            can_zero_fill(kernel_, v->buffer))
          zero_fill(v->buffer);
      });
  }

  void zero_fill(int tile) {
    KernelBuffer& buffer = kernel_.buffers[tile];
    if (std::exchange(buffer.zero_filled, true)) return;
    Dependence dependence(kernel_);
    walk(kernel_.body, [&](Statement& s) {
      if (s.kind != Statement::Kind::kStore || s.buffer != tile) return;
      for (const Guard& g : kernel_.guards)
        if (!g.fills &&
            ((dependence.of(g.lower) | dependence.of(g.upper)) & dependence.of(s.index)).any())
          s.value = make_op(
              Op::WHERE, buffer.dtype,
              {make_index(g.condition(), DType::kBool), s.value, make_const(zero(buffer.dtype))});
    });
  }

  /// Layout of the product in a tile of the workgroup.
  struct Place {
    Expr first;
    int64_t pitch = 0;
    bool transposed = false;
  };
  /// Nothing if neither rows nor columns of the product are contiguous in the tile.
  std::optional<Place> place_in(int tile, const Expr& index) const {
    int64_t down = 0, across = 0;
    Expr rest, first;
    if (!is_shared_tile(kernel_.buffers[tile]) || !is_one_to_one(index) || index.min() < 0 ||
        index.max() >= kernel_.buffers[tile].count.value() ||
        !index.linear_in(name(m_), down, rest) || !rest.linear_in(name(n_), across, first) ||
        (down != 1 && across != 1))
      return {};
    return Place{first, across == 1 ? down : across, across != 1};
  }

  Statement matrix_of(int tile, const Place& place, Statement::MatrixUse use) const {
    Statement s;
    s.kind = Statement::Kind::kMatrix;
    s.use = use;
    s.id = reduction_->id;
    s.buffer = tile;
    s.index = place.first;
    s.pitch = place.pitch;
    s.transposed = place.transposed;
    s.threads = step_.transform.threads;
    s.across = across();
    return s;
  }

  const Statement& store() const { return path_to(kernel_, n_).back()->body[1]; }
  bool is_result(const KValueRef& v) const {
    return v->kind == KValueKind::kResult && v->reduction == reduction_->id;
  }

  /// True if the sums are only stored to a tile of the workgroup.
  bool only_stores_sums() const {
    const std::vector<Statement>& body = path_to(kernel_, n_).back()->body;
    return body.size() == 2 && is_result(store().value) && store().mask.is_const(1) &&
           place_in(store().buffer, store().index).has_value();
  }

  Refused store_to_workgroup() {
    const Statement stored = store();
    Statement matrix = matrix_of(stored.buffer, *place_in(stored.buffer, stored.index),
                                 Statement::MatrixUse::kPut);
    path_to(kernel_, n_).back()->body.pop_back();
    bind_and_follow(std::move(matrix));
    return {};
  }

  /// Binds the atom's axes and inserts a statement after their loops.
  void bind_and_follow(std::optional<Statement> matrix) {
    for (const int a : {m_, n_, k_}) kernel_.axes[a].bind = Bind::kMatrix;
    if (!matrix) return;
    std::vector<Statement>* body = &kernel_.body;
    const std::vector<Statement*> path = path_to(kernel_, m_);
    if (path.size() > 1) body = &path[path.size() - 2]->body;
    const auto at = std::ranges::find_if(*body, [&](const Statement& s) {
      return s.kind == Statement::Kind::kLoop && s.axis == m_;
    });
    body->insert(at + 1, std::move(*matrix));
  }

  /// A total that an ordered loop scales by row and adds to: t = t * scale + sum.
  struct Total {
    int tile = -1;
    Place place;
    KValueRef scale;
    int loop = -1;            ///< axis of the ordered loop
    std::vector<int> around;  ///< axes of the loops between it and the columns
  };

  bool continues() {
    const std::vector<Statement>& body = path_to(kernel_, n_).back()->body;
    if (body.size() != 2 || !store().mask.is_const(1)) return false;
    const KValueRef sum = store().value;
    const auto is_op = [](const KValueRef& v, Op op) {
      return v->kind == KValueKind::kOp && v->op == op;
    };
    if (!is_op(sum, Op::ADD) || !is_result(sum->operands[1]) || !is_op(sum->operands[0], Op::MUL))
      return false;
    const KValueRef &before = sum->operands[0]->operands[0], &scale = sum->operands[0]->operands[1];
    const std::optional<Place> place = place_in(store().buffer, store().index);
    int64_t step = 0;
    Expr rest;
    const bool is_total = place && before->kind == KValueKind::kLoad &&
                          before->buffer == store().buffer && before->index == store().index;
    const bool is_of_rows = scale->kind == KValueKind::kLoad && scale->dtype == before->dtype &&
                            is_shared_tile(kernel_.buffers[scale->buffer]) &&
                            is_one_to_one(scale->index) && scale->index.min() >= 0 &&
                            scale->index.max() < kernel_.buffers[scale->buffer].count.value() &&
                            scale->index.linear_in(name(m_), step, rest) && step == 1 &&
                            !rest.depends_on(name(n_));
    if (!is_total || !is_of_rows) return false;
    total_ = {store().buffer, *place, scale, -1, {}};
    return find_carrying_loop();
  }

  /// Finds the ordered loop. Only loops of threads and unrolled ones may be between it and the
  /// atom, and nothing else inside may use the total.
  bool find_carrying_loop() {
    const std::vector<Statement*> path = path_to(kernel_, n_);
    for (size_t i = path.size(); i-- > 0;) {
      const KernelAxis& axis = kernel_.axes[path[i]->axis];
      if (axis.kind == AxisKind::kOrdered) {
        total_.loop = path[i]->axis;
        break;
      }
      const bool is_atom = path[i]->axis == m_ || path[i]->axis == n_;
      if (is_atom || axis.extent.is_const(1)) continue;
      if (!is_block(axis.bind) && axis.bind != Bind::kUnroll) return false;
      total_.around.insert(total_.around.begin(), path[i]->axis);
    }
    if (total_.loop < 0) return false;
    Statement& loop = *path_to(kernel_, total_.loop).back();
    loop.carried.push_back(reduction_->id);
    const bool out_of_range = carries_out_of_range(kernel_);
    loop.carried.pop_back();
    if (out_of_range) return false;
    const std::vector<TileAccess> inside =
        shared_tile_accesses(kernel_, path_to(kernel_, total_.loop).back()->body);
    return std::ranges::count(inside, total_.tile, &TileAccess::tile) == 2;
  }

  Refused carry_accumulators() {
    reduction_->continues = true;
    reduction_->value = total_.scale;
    path_to(kernel_, n_).back()->body.pop_back();
    bind_and_follow({});
    path_to(kernel_, total_.loop).back()->carried.push_back(reduction_->id);
    Statement begin = around_loop(".b", Statement::MatrixUse::kBegin);
    Statement end = around_loop(".e", Statement::MatrixUse::kEnd);
    std::vector<Statement>* body = &kernel_.body;
    const std::vector<Statement*> path = path_to(kernel_, total_.loop);
    if (path.size() > 1) body = &path[path.size() - 2]->body;
    const auto at = std::ranges::find_if(*body, [&](const Statement& s) {
      return s.kind == Statement::Kind::kLoop && s.axis == total_.loop;
    });
    const auto loop = body->insert(at, std::move(begin)) + 1;
    body->insert(loop + 1, std::move(end));
    // With a subgroup on block.x and block.y the total's tile may become a register tile.
    if (across() == step_.transform.threads) share_memory();
    return {};
  }

  /// The total's tile is unused while the loop runs: it shares memory with the largest tile that
  /// only the loop uses.
  void share_memory() {
    KernelBuffer& total = kernel_.buffers[total_.tile];
    const std::vector<TileAccess> inside =
        shared_tile_accesses(kernel_, path_to(kernel_, total_.loop).back()->body);
    const std::vector<TileAccess> all = shared_tile_accesses(kernel_, kernel_.body);
    int largest = -1;
    for (const TileAccess& access : inside) {
      const KernelBuffer& tile = kernel_.buffers[access.tile];
      const bool is_inside = std::ranges::count(all, access.tile, &TileAccess::tile) ==
                             std::ranges::count(inside, access.tile, &TileAccess::tile);
      if (is_inside && tile.dtype == total.dtype && !tile.zero_filled &&
          (largest < 0 || tile.count.value() > kernel_.buffers[largest].count.value()))
        largest = access.tile;
    }
    if (largest < 0) return;
    KernelBuffer& tile = kernel_.buffers[largest];
    tile.count = max(tile.count, total.count);
    move_tile(total_.tile, largest);
  }

  void move_tile(int from, int to) {
    rewrite_values(kernel_, [&](const KValueRef& v) {
      return v->kind == KValueKind::kLoad && v->buffer == from
                 ? make_load(to, v->dtype, v->index, v->mask, v->constant)
                 : v;
    });
    walk(kernel_.body, [&](Statement& s) {
      if ((s.kind == Statement::Kind::kStore || s.kind == Statement::Kind::kMatrix) &&
          s.buffer == from)
        s.buffer = to;
    });
    kernel_.buffers[from].read = kernel_.buffers[from].written = false;
  }

  /// Moves the totals between tile and fragments, in loops bound to the same threads.
  Statement around_loop(std::string_view suffix, Statement::MatrixUse use) {
    const AxisCopies copies = copy_axes(kernel_, total_.around, suffix);
    for (size_t i = 0; i < copies.axes.size(); ++i)
      kernel_.axes[copies.axes[i]].bind = kernel_.axes[total_.around[i]].bind;
    Statement matrix = matrix_of(total_.tile, total_.place, use);
    matrix.index = matrix.index.substitute(copies.rename);
    std::vector<Statement> inner;
    inner.push_back(std::move(matrix));
    return std::move(in_loops(copies.axes, std::move(inner))[0]);
  }

  Refused store_to_tile() {
    const int64_t m = kernel_.axes[m_].extent.value(), n = kernel_.axes[n_].extent.value();
    int64_t pitch = n;
    for (const int a : between_) pitch *= kernel_.axes[a].extent.value();
    // Padded against bank conflicts between rows.
    if (pitch % kBanks == 0) pitch += kRoom;
    // Each subgroup has its own tile.
    Expr first = 0;
    int64_t tiles = 1;
    for (const Statement* s : outer_) {
      if (s->kind != Statement::Kind::kLoop || !is_block(kernel_.axes[s->axis].bind)) continue;
      first = first * kernel_.axes[s->axis].extent + kernel_.axes[s->axis].symbol();
      tiles *= kernel_.axes[s->axis].extent.value();
    }
    if (m * pitch > kMaxTile || tiles > kMaxTile / (m * pitch))
      return step_.refuse("a tile of at most 32768 elements", "a larger one");
    const DType dtype = reduction_->states[0].dtype;
    const int id = reduction_->id, tile = static_cast<int>(kernel_.buffers.size());
    KernelBuffer buffer{"sums" + std::to_string(tile), dtype, tiles * m * pitch,
                        BufferSpace::kShared};
    buffer.read = buffer.written = true;
    kernel_.buffers.push_back(std::move(buffer));

    Statement matrix;
    matrix.kind = Statement::Kind::kMatrix;
    matrix.id = id;
    matrix.buffer = tile;
    matrix.pitch = pitch;
    matrix.threads = step_.transform.threads;
    matrix.across = across();
    const Expr begin = first * (m * pitch);
    Expr column = 0;
    for (const int a : between_)
      column = column * kernel_.axes[a].extent + kernel_.axes[a].symbol();
    matrix.index = begin + column * n;
    matrix.body = users_over_tile(begin, pitch, tile, dtype, id);

    bind_and_follow(std::move(matrix));
    return {};
  }

  /// The statements after the reduction, in loops over the tile.
  std::vector<Statement> users_over_tile(const Expr& begin, int64_t pitch, int tile, DType dtype,
                                         int id) {
    std::vector<int> axes{m_};
    axes.insert(axes.end(), between_.begin(), between_.end());
    axes.push_back(n_);
    Expr column = 0;
    for (const int a : std::span(axes).subspan(1))
      column = column * kernel_.axes[a].extent + kernel_.axes[a].symbol();
    const Expr at = kernel_.axes[m_].symbol() * pitch + column;
    const AxisCopies copies = copy_axes(kernel_, axes, ".c");
    copy_guards(kernel_, copies.rename);
    std::vector<Statement>& body = path_to(kernel_, n_).back()->body;
    std::vector<Statement> inner(std::make_move_iterator(body.begin() + 1),
                                 std::make_move_iterator(body.end()));
    body.erase(body.begin() + 1, body.end());
    load_from_tiles(kernel_, inner, copies, id,
                    {make_load(tile, dtype, begin + at, 1, zero(dtype))});
    return in_loops(copies.axes, std::move(inner));
  }

  const StepOf<transforms::Tensorize>& step_;
  Kernel& kernel_;
  int m_, n_, k_;
  std::vector<Statement*> outer_;
  std::vector<int> between_;
  Statement* reduction_ = nullptr;
  Total total_;
};

}  // namespace

Refused apply_tensorize(const StepOf<transforms::Tensorize>& step) { return Tensorize(step).run(); }

}  // namespace tenon
