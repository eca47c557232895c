// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/lower/accesses.hpp"

namespace tenon {

namespace {

/// Elements of a line and of a piece, and pieces of a line, of a swizzled tile.
struct Line {
  int64_t elements, piece, pieces;
};
Line line_of(DType dtype) {
  const auto size = static_cast<int64_t>(dtype_size(dtype));
  return {kLineBytes / size, kPieceBytes / size, kLineBytes / kPieceBytes};
}

}  // namespace

std::optional<Accesses::Value> Accesses::mask(const Expr& index, const Expr& own,
                                              const AxisSet& concerned) {
  std::optional<Value> mask;
  const auto more = [&](const Expr& condition) {
    const Value v = exprs_.condition(condition);
    int64_t known = 0;
    if (ops_.is_constant(v, known) && known) return;
    mask = mask ? ops_.both(*mask, v) : v;
  };
  if (exprs_.any_false(guards_.conditions(concerned, true))) return ops_.constant(DType::kBool, 0);
  if (!own.is_const(1)) more(own);
  const bool uniform = !positions_.in_lanes(positions_.axes_of(own)) &&
                       !positions_.in_lanes(positions_.axes_of(index));
  for (const Expr& condition : guards_.conditions(concerned, uniform)) more(condition);
  return mask;
}

std::optional<Accesses::Value> Accesses::mask(const KValue& load) {
  std::optional<Value> mask;
  AxisSet concerned = positions_.axes_of(load.index);
  const KernelBuffer& buffer = kernel_.buffers[load.buffer];
  // Out-of-range threads would read what another thread stores in place.
  if (buffer.space == BufferSpace::kGlobal && buffer.written)
    for (size_t a = 0; a < kernel_.axes.size(); ++a)
      if (positions_.loops()[a] &&
          (is_grid(kernel_.axes[a].bind) || is_block(kernel_.axes[a].bind)))
        concerned.set(a);
  guards_.with_off(guards_.ignorable(load),
                   [&] { mask = this->mask(load.index, load.mask, concerned); });
  return mask;
}

const Accesses::LaneForm& Accesses::lane_form(const Expr& index) {
  const int axis = positions_.lane_axis();
  const auto [found, is_new] = lane_forms_[axis].try_emplace(index.node());
  LaneForm& form = found->second;
  if (is_new) {
    int64_t coefficient = 0;
    form.contiguous = index.linear_in(kernel_.axes[axis].name, coefficient, form.base) &&
                      coefficient == 1 && !positions_.in_lanes(positions_.axes_of(form.base));
  }
  return form;
}

Access Accesses::at(int buffer, const Expr& index, bool spread) {
  if (!positions_.in_lanes(positions_.axes_of(index))) {
    const Value v = place(buffer, index);
    if (!spread) return {v};
    return {ops_.broadcast(v, positions_.lanes()), positions_.lanes()};
  }
  const int lanes = positions_.lanes();
  const LaneForm& form = lane_form(index);
  if (!form.contiguous) return {ops_.broadcast(place(buffer, index), lanes), lanes};
  return contiguous(buffer, form.base, lanes);
}

Access Accesses::contiguous(int buffer, const Expr& first, int lanes) {
  const KernelBuffer& b = kernel_.buffers[buffer];
  const int64_t bytes = lanes * static_cast<int64_t>(dtype_size(b.dtype));
  const bool aligned = alignment(buffer) % bytes == 0 && first.divisible_by(lanes);
  // The swizzle separates the pieces of a line.
  if (b.swizzled && (!aligned || bytes > kPieceBytes))
    return {swizzled(b, ops_.add(exprs_.integer(first), ops_.lane_index(lanes))), lanes};
  return {place(buffer, first), lanes, aligned ? uint32_t{TN_OP_ALIGNED} : 0};
}

Accesses::Value Accesses::swizzled(const KernelBuffer& b, Value index) {
  const auto [line, piece, pieces] = line_of(b.dtype);
  const DType type = ops_.index_dtype();
  const auto op = [&](tn_opcode code, Value x, int64_t y) {
    return ops_.op(code, type, {x, ops_.index_constant(y)});
  };
  const Value number = op(TN_OP_MOD, op(TN_OP_IDIV, index, line), pieces);
  return ops_.op(TN_OP_XOR, type, {index, op(TN_OP_MUL, number, piece)});
}

Accesses::Value Accesses::place(int buffer, const Expr& index) {
  const KernelBuffer& b = kernel_.buffers[buffer];
  if (!b.swizzled || b.space != BufferSpace::kShared) return exprs_.integer(index);
  const auto [line, piece, pieces] = line_of(b.dtype);
  // The swizzle repeats after a pattern: multiples of patterns are added after it.
  Expr near = index, far = 0;
  std::map<std::string, Expr> symbols;
  index.collect_symbols(symbols);
  for (const auto& [name, symbol] : symbols) {
    int64_t step = 0;
    Expr rest;
    if (!near.linear_in(name, step, rest) || step % (pieces * line) != 0) continue;
    far = far + symbol * step;
    near = rest;
  }
  const Expr turn = mod(floor_div(near, line), pieces) * piece;
  Value at = exprs_.integer(near);
  if (!turn.is_const(0)) at = ops_.op(TN_OP_XOR, ops_.index_dtype(), {at, exprs_.integer(turn)});
  return far.is_const(0) ? at : ops_.add(at, exprs_.integer(far));
}

int64_t Accesses::alignment(int buffer) const {
  const KernelBuffer& b = kernel_.buffers[buffer];
  return b.space == BufferSpace::kGlobal ? buffer_alignment(b, capabilities_) : kTileAlignment;
}

}  // namespace tenon
