// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tensorize: a tile of a sum of products becomes a matrix atom.
#include <algorithm>
#include <span>

#include "core/kernel/transforms/apply.hpp"
#include "core/kernel/transforms/tile_loops.hpp"
#include "core/kernel/tree/matrix.hpp"

namespace tenon {
namespace {

constexpr int64_t kMaxTile = 1 << 15;  ///< elements
constexpr int64_t kBanks = 32, kRoom = 8;

class Tensorize {
 public:
  explicit Tensorize(const TransformStep& step)
      : step_(step), kernel_(step.kernel), m_(step.axes[0]), n_(step.axes[1]), k_(step.axes[2]) {}

  Refused run() {
    for (const int a : {m_, n_})
      if (kernel_.axes[a].bind != Bind::kUnroll)
        if (Refused no = step_.check_free(a)) return no;
    if (Refused no = find_loops()) return no;
    if (Refused no = find_reduction()) return no;
    const std::string wrong = check_matrix(kernel_, *reduction_, m_, n_, k_);
    if (!wrong.empty()) return step_.refuse(wrong, "another sum");
    if (Refused no = check_threads()) return no;
    return change();
  }

 private:
  std::string name(int axis) const { return kernel_.axes[axis].name; }

  Refused find_loops() {
    const std::vector<Statement*> path = path_to(kernel_, n_);
    for (const Statement* s : path) {
      if (s->kind != Statement::Kind::kLoop)
        return step_.refuse("loops around " + name(n_), "a reduction");
      const KernelAxis& axis = kernel_.axes[s->axis];
      if (axis.kind == AxisKind::kOrdered || axis.bind == Bind::kVector ||
          axis.bind == Bind::kMatrix || axis.bind == Bind::kBlockX)
        return step_.refuse("no vector, no block.x and no order around " + name(n_), axis.name);
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
        return step_.refuse("a kernel that changes nothing in place", b.name);
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
      if ((*s)->kind != Statement::Kind::kLoop || kernel_.axes[(*s)->axis].bind != Bind::kLoop)
        return step_.refuse("loops that are not bound around " + name(k_), "others");
    const std::vector<Statement>& inner = path.back()->body;
    if (inner.size() != 1 || inner[0].kind != Statement::Kind::kStep)
      return step_.refuse("the steps alone inside " + name(k_), "other statements");
    if (!kernel_.axes[k_].extent.is_const())
      return step_.refuse("a constant extent of " + name(k_), to_string(kernel_.axes[k_].extent));
    return {};
  }

  Refused check_threads() const {
    const int64_t threads = step_.transform.factor;
    if (threads > 1024) return step_.refuse("at most 1024 threads", std::to_string(threads));
    for (const KernelAxis& a : kernel_.axes)
      if (a.bind == Bind::kBlockX && !a.extent.is_const(threads))
        return step_.refuse("the extent of " + a.name + ", " + to_string(a.extent),
                            std::to_string(threads));
    bool same = true;
    walk(std::as_const(kernel_).body, [&](const Statement& s) {
      same &= s.kind != Statement::Kind::kMatrix || s.threads == threads;
    });
    if (!same) return step_.refuse("subgroups of one size", std::to_string(threads));
    return {};
  }

  Refused change() {
    const int64_t m = kernel_.axes[m_].extent.value(), n = kernel_.axes[n_].extent.value();
    int64_t pitch = n;
    for (const int a : between_) pitch *= kernel_.axes[a].extent.value();
    // Rows that begin in one bank would be written one after the other.
    if (pitch % kBanks == 0) pitch += kRoom;
    // Each subgroup has a tile of its own.
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
    matrix.threads = step_.transform.factor;
    const Expr begin = first * (m * pitch);
    Expr column = 0;
    for (const int a : between_)
      column = column * kernel_.axes[a].extent + kernel_.axes[a].symbol();
    matrix.index = begin + column * n;
    matrix.body = take_elements(begin, pitch, tile, dtype, id);

    for (const int a : {m_, n_, k_}) kernel_.axes[a].bind = Bind::kMatrix;
    std::vector<Statement>* body = &kernel_.body;
    const std::vector<Statement*> path = path_to(kernel_, m_);
    if (path.size() > 1) body = &path[path.size() - 2]->body;
    const auto at = std::ranges::find_if(*body, [&](const Statement& s) {
      return s.kind == Statement::Kind::kLoop && s.axis == m_;
    });
    body->insert(at + 1, std::move(matrix));
    return {};
  }

  /// The statements after the reduction, in loops over the tile.
  std::vector<Statement> take_elements(const Expr& begin, int64_t pitch, int tile, DType dtype,
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
    take_from_tiles(kernel_, inner, copies, id,
                    {make_load(tile, dtype, begin + at, 1, zero(dtype))});
    return in_loops(copies.axes, std::move(inner));
  }

  const TransformStep& step_;
  Kernel& kernel_;
  int m_, n_, k_;
  std::vector<Statement*> outer_;
  std::vector<int> between_;
  Statement* reduction_ = nullptr;
};

}  // namespace

Refused apply_tensorize(const TransformStep& step) { return Tensorize(step).run(); }

}  // namespace tenon
