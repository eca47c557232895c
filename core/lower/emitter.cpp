// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/lower/emitter.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/kernel/tree/register_tiles.hpp"
#include "core/lower/index_width.hpp"

namespace tenon {

Emitter::Emitter(const Kernel& kernel, const Capabilities& capabilities)
    : kernel_(kernel),
      ops_(tree_, index_dtype(kernel, capabilities)),
      positions_(kernel),
      launch_(kernel, ops_),
      params_(kernel, ops_),
      exprs_(kernel, capabilities, ops_, positions_, params_,
             [this](const KValueRef& v) { return leaves_.value(v); }),
      guards_(kernel, positions_),
      accesses_(kernel, capabilities, ops_, positions_, guards_, exprs_),
      leaves_(kernel, ops_, positions_, params_, exprs_, accesses_),
      matrix_sums_(kernel, capabilities, ops_, positions_, launch_, params_, exprs_, leaves_),
      dot_sums_(kernel, capabilities, ops_, positions_, guards_, leaves_),
      group_totals_(capabilities, ops_, launch_, params_),
      reductions_(kernel, capabilities, ops_, positions_, launch_, guards_, exprs_, leaves_,
                  matrix_sums_, dot_sums_, group_totals_),
      stores_(kernel, capabilities, ops_, positions_, launch_, params_, guards_, accesses_,
              leaves_),
      tile_barriers_(kernel, launch_),
      has_async_(capabilities.copies_async()),
      in_place_(std::ranges::any_of(kernel.buffers, [](const KernelBuffer& b) {
        return b.read && b.written && b.space == BufferSpace::kGlobal;
      })) {
  for (size_t b = 0; b < kernel.buffers.size(); ++b)
    if (is_register_tile(kernel.buffers[b]))
      tree_.forward_stores(params_.buffer(static_cast<int>(b)));
}

void Emitter::run() {
  if (launch_.sections() == 0) return body(kernel_.body);
  const std::vector<std::span<const Statement>> sections = sections_of(kernel_);
  for (size_t i = 0; i < sections.size(); ++i)
    branch(launch_.is_of_section(i), [&] { launch_.in_section(i, [&] { body(sections[i]); }); });
}

void Emitter::body(std::span<const Statement> statements) {
  const auto is_shared_copy = [&](size_t i) {
    return i < statements.size() && statements[i].kind == Statement::Kind::kStage &&
           !statements[i].ahead &&
           kernel_.buffers[statements[i].buffer].space == BufferSpace::kShared;
  };
  // True if a copy reads a tile of an earlier copy in the same run.
  const auto takes_copies = [&](size_t i) {
    std::set<int> before;
    for (size_t k = i; k-- > 0 && is_shared_copy(k);) before.insert(statements[k].buffer);
    return reads_any(statements[i], before);
  };
  size_t since_barrier = 0;  // first statement since the last barrier
  for (size_t i = 0; i < statements.size(); ++i) {
    const Statement& s = statements[i];
    const size_t first = i;
    if (s.kind == Statement::Kind::kStore)
      while (i + 1 < statements.size() && statements[i + 1].kind == Statement::Kind::kStore) ++i;
    const auto run = statements.subspan(first, i + 1 - first);
    if (tile_barriers_.needed(statements.subspan(since_barrier, first - since_barrier), run,
                              reduction_)) {
      tile_barrier();
      since_barrier = first;
    }
    switch (s.kind) {
      case Statement::Kind::kStore: {
        forget_if_in_place([&] { ahead_ ? stores_.copy_ahead(run) : stores_.store(run); });
        break;
      }
      case Statement::Kind::kLoop:
        positions_.enter_loop(s.axis);
        loop(s);
        positions_.leave_loop(s.axis);
        break;
      case Statement::Kind::kReduce:
        reduce(s);
        break;
      case Statement::Kind::kStep:
        reductions_.step();
        break;
      case Statement::Kind::kStage:
        if (s.ahead) break;  // emitted by its loop
        // Adjacent copies share a pair of barriers.
        if (is_shared_copy(i) && (i == 0 || !is_shared_copy(i - 1) || takes_copies(i))) barrier();
        stage(s);
        if (is_shared_copy(i) && !is_shared_copy(i + 1)) barrier();
        break;
      case Statement::Kind::kMatrix:
        matrix(s);
        break;
    }
  }
}

void Emitter::tile_barrier() {
  barrier();
  leaves_.forget();
  for (size_t b = 0; b < kernel_.buffers.size(); ++b)
    if (is_shared_tile(kernel_.buffers[b])) params_.filled(static_cast<int>(b));
}

void Emitter::forget_if_in_place(const std::function<void()>& emit) {
  if (!in_place_) return emit();
  const Leaves::Scope scope(leaves_);
  emit();
}

void Emitter::loop(const Statement& s) {
  const auto inside = [&] { body(s.body); };
  const auto once = [&] {
    positions_.put_constant(s.axis, 0);
    inside();
    positions_.close(s.axis);
  };
  switch (kernel_.axes[s.axis].bind) {
    case Bind::kLoop:
      return serial_loop(s);
    case Bind::kUnroll:
      if (kernel_.axes[s.axis].extent.is_const(1)) return once();
      return positions_.in_jam(std::span(&s.axis, 1), inside);
    case Bind::kDot:
      return inside();
    case Bind::kMatrix:
      return once();
    case Bind::kVector:
      if (kernel_.axes[s.axis].extent.is_const(1)) return once();
      return positions_.in_vector(s.axis, inside);
    case Bind::kGridX:
    case Bind::kGridY:
    case Bind::kGridZ:
    case Bind::kBlockX:
    case Bind::kBlockY:
    case Bind::kBlockZ:
      return launch_axis(s);
  }
}

/// Peels a loop: a part without masks, whose points are all in range, and a guarded tail.
void Emitter::serial_loop(const Statement& s) {
  if (ahead_in(s)) return multi_buffered_loop(s);
  const Expr& extent = kernel_.axes[s.axis].extent;
  const LoopRange range = s.range.value_or(LoopRange{0, extent});
  const Guards::Peel p = guards_.peel(s.axis);
  if (p.guards.empty()) return counted(s, range.begin, range.end, s.range.has_value());
  const bool ends = p.end == p.full;
  const bool shares = !ends && !s.range && p.full.min() >= 1 &&
                      kernel_.axes[s.axis].kind != AxisKind::kReduce &&
                      std::ranges::none_of(kernel_.axes, [](const KernelAxis& a) {
                        return is_block(a.bind);  // there may be barriers
                      });
  if (shares && extent == p.full + 1 && concerned(s, p) < s.body.size())
    return counted(s, 0, extent, false, [&] { peeled(s, p, positions_.at(s.axis).value); });
  const Expr full = s.range ? min(p.full, range.end) : p.full;
  guards_.with_off(p, [&] { counted(s, range.begin, full, true); });
  if (ends || p.full == extent) return;
  // A loop of one iteration is emitted without a loop and so without the barrier at its end.
  if ((full - range.begin).is_const(1) && tile_barriers_.needed_between_iterations(s, reduction_))
    tile_barrier();
  const Expr rest = s.range ? max(p.full, range.begin) : p.full, end = min(p.end, range.end);
  guards_.without_peeling([&] { counted(s, rest, end, s.range.has_value()); });
}

void Emitter::counted(const Statement& s, const Expr& begin, const Expr& end, bool bare) {
  counted(s, begin, end, bare, [&] { body(s.body); });
}

void Emitter::counted(const Statement& s, const Expr& begin, const Expr& end, bool bare,
                      const std::function<void()>& inside) {
  const Expr count = end - begin;
  if (count.is_const() && count.value() <= 0) return;
  const Leaves::Scope scope(leaves_);
  if (count.is_const(1)) {
    if (begin.is_const())
      positions_.put_constant(s.axis, begin.value());
    else
      positions_.put_value(s.axis, exprs_.integer(begin));
    inside();
  } else {
    const bool carries = kernel_.axes[s.axis].kind == AxisKind::kReduce;
    std::vector<Value> initial;
    if (carries) initial = reductions_.accumulators();
    for (const int id : s.carried) {
      const std::vector<Value>& fragments = matrix_sums_.carried(id);
      initial.insert(initial.end(), fragments.begin(), fragments.end());
    }
    const bool skips = bare && count.min() < 1;
    const Value loop = tree_.begin_loop(exprs_.integer(begin), exprs_.integer(end),
                                        ops_.index_constant(1), initial, skips);
    if (carries)
      for (size_t k = 0; k < initial.size(); ++k)
        reductions_.accumulators()[k] = loop + 1 + static_cast<Value>(k);
    set_carried(s, [&](size_t k) { return loop + 1 + static_cast<Value>(k); });
    positions_.put_value(s.axis, tree_.position(loop));
    inside();
    // A multi-buffered iteration begins with a barrier.
    if (ahead_in(s) == 0 && tile_barriers_.needed_between_iterations(s, reduction_)) tile_barrier();
    if (carries)
      reductions_.accumulators() = tree_.end_loop(reductions_.accumulators());
    else
      end_carried(s);
  }
  positions_.close(s.axis);
}

void Emitter::set_carried(const Statement& loop, const std::function<Value(size_t)>& value) {
  size_t k = 0;
  for (const int id : loop.carried)
    for (Value& fragment : matrix_sums_.carried(id)) fragment = value(k++);
}

void Emitter::end_carried(const Statement& loop) {
  std::vector<Value> next;
  for (const int id : loop.carried) {
    const std::vector<Value>& fragments = matrix_sums_.carried(id);
    next.insert(next.end(), fragments.begin(), fragments.end());
  }
  const std::vector<Value> left = tree_.end_loop(next);
  set_carried(loop, [&](size_t k) { return left[k]; });
}

size_t Emitter::concerned(const Statement& s, const Guards::Peel& p) const {
  size_t end = 0;
  for (size_t i = 0; i < s.body.size(); ++i) {
    if (s.body[i].kind != Statement::Kind::kLoop) return s.body.size();
    AxisSet axes;
    axes.set(static_cast<size_t>(s.body[i].axis));
    bool leaves = false;  // ends a carried reduction
    walk(s.body[i].body, [&](const Statement& inner) {
      if (inner.kind == Statement::Kind::kLoop) axes.set(static_cast<size_t>(inner.axis));
      leaves |= inner.kind == Statement::Kind::kMatrix && inner.use == Statement::MatrixUse::kEnd;
    });
    if (leaves && end > 0) end = i + 1;
    if (guards_.concern(p.guards, axes)) end = i + 1;
  }
  return end == 0 ? s.body.size() : end;  // none: the guards are on outer axes
}

void Emitter::peeled(const Statement& s, const Guards::Peel& p, Value at) {
  const size_t count = concerned(s, p);
  const auto first = std::span(s.body).first(count);
  branch(
      ops_.op(TN_OP_CMPLT, DType::kBool, {at, exprs_.integer(p.full)}),
      [&] { guards_.with_off(p, [&] { body(first); }); },
      [&] {
        // If one iteration is left, its position is a constant.
        if (p.full.is_const() && kernel_.axes[s.axis].extent.is_const(p.full.value() + 1))
          positions_.put_constant(s.axis, p.full.value());
        guards_.without_peeling([&] { body(first); });
      });
  positions_.put_value(s.axis, at);
  const auto rest = std::span(s.body).subspan(count);
  if (!rest.empty() && tile_barriers_.needed(first, rest, reduction_)) tile_barrier();
  body(rest);
}

void Emitter::branch(Value condition, const std::function<void()>& then,
                     const std::function<void()>& other) {
  const auto inside = [&](const std::function<void()>& emit) {
    const Leaves::Scope scope(leaves_);
    emit();
  };
  tree_.begin_if(condition);
  inside(then);
  if (other) {
    tree_.begin_else();
    inside(other);
  }
  tree_.end_if();
}

void Emitter::launch_axis(const Statement& s) {
  const KernelAxis& axis = kernel_.axes[s.axis];
  const Value at = launch_.index(axis.bind);
  positions_.put_value(s.axis, at);
  launch_.open(axis.bind);
  if (launch_.is_uneven(axis.bind))
    branch(ops_.op(TN_OP_CMPLT, DType::kBool, {at, exprs_.integer(axis.extent)}),
           [&] { launched(s, at); });
  else
    launched(s, at);
  launch_.close();
  positions_.close(s.axis);
}

void Emitter::launched(const Statement& s, Value at) {
  const KernelAxis& axis = kernel_.axes[s.axis];
  const Guards::Peel p = guards_.peel(s.axis);
  if (!p.guards.empty() && p.full == axis.extent)
    guards_.with_off(p, [&] { body(s.body); });
  else if (p.guards.empty() || p.full.is_const(0) || is_block(axis.bind))
    body(s.body);  // no branch around possible barriers
  else
    peeled(s, p, at);
}

void Emitter::reduce(const Statement& s) {
  reductions_.begin(s);
  const Statement* around = std::exchange(reduction_, &s);
  forget_if_in_place([&] { body(s.body); });
  reduction_ = around;
  reductions_.end();
}

void Emitter::stage(const Statement& s) {
  const bool around = std::exchange(ahead_, s.ahead != 0);
  // The copy's own axes replace vector lanes and, for a shared tile, threads of the loops around.
  const bool shared = kernel_.buffers[s.buffer].space == BufferSpace::kShared;
  const auto copied = [&](Bind bind) {
    return bind == Bind::kVector || (shared && is_block(bind));
  };
  const auto copy = [&] {
    const Leaves::Scope scope(leaves_);
    body(s.body);
  };
  positions_.outside_loops(copied, [&] { shared ? launch_.without_threads(copy) : copy(); });
  params_.filled(s.buffer);
  ahead_ = around;
}

void Emitter::matrix(const Statement& s) {
  if (s.use == Statement::MatrixUse::kBegin) return matrix_sums_.begin(s);
  if (s.use == Statement::MatrixUse::kEnd) return matrix_sums_.end(s);
  positions_.each_copy([&] {
    matrix_sums_.store(s);
    const Leaves::Scope scope(leaves_);
    body(s.body);
  });
}

}  // namespace tenon
