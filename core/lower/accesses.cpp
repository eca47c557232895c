// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/lower/accesses.hpp"

namespace tenon {

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
  // Threads that are not real would read what a real one stores in place.
  if (buffer.space == BufferSpace::kGlobal && buffer.written)
    for (size_t a = 0; a < kernel_.axes.size(); ++a)
      if (positions_.loops()[a] &&
          (is_grid(kernel_.axes[a].bind) || is_block(kernel_.axes[a].bind)))
        concerned.set(a);
  guards_.with_off(guards_.unfelt(load),
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
    const Value v = exprs_.integer(index);
    if (!spread) return {v};
    return {ops_.broadcast(v, positions_.lanes()), positions_.lanes()};
  }
  const int lanes = positions_.lanes();
  const LaneForm& form = lane_form(index);
  if (!form.contiguous) return {ops_.broadcast(exprs_.integer(index), lanes), lanes};
  return beside(buffer, form.base, lanes);
}

Access Accesses::beside(int buffer, const Expr& first, int lanes) {
  const int64_t bytes = lanes * static_cast<int64_t>(dtype_size(kernel_.buffers[buffer].dtype));
  const bool aligned = alignment(buffer) % bytes == 0 && first.divisible_by(lanes);
  return {exprs_.integer(first), lanes, aligned ? uint32_t{TN_OP_ALIGNED} : 0};
}

int64_t Accesses::alignment(int buffer) const {
  const KernelBuffer& b = kernel_.buffers[buffer];
  return b.space == BufferSpace::kGlobal ? buffer_alignment(b, capabilities_) : kTileAlignment;
}

}  // namespace tenon
