// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/lower/leaves.hpp"

#include "core/kernel/tree/register_tiles.hpp"
#include "core/support/error.hpp"

namespace tenon {

const Leaves::Value* Leaves::find(const Key& key) const {
  for (size_t i = scopes_.size(); i-- > 0;)
    if (const auto found = scopes_[i].find(key); found != scopes_[i].end()) return &found->second;
  return nullptr;
}

Leaves::Value Leaves::value(const KValueRef& v) {
  const Key key{v.get(), positions_.instance(v)};
  if (const Value* known = find(key)) return *known;
  return scopes_.back()[key] = emit(v);
}

Leaves::Value Leaves::fragment(const MatrixOperand& operand, const MatrixAtom& atom,
                               uint64_t role) {
  const KValue& load = *operand.load;
  const Key key{&load, positions_.instance(operand.load)};
  if (const Value* known = find(key)) return *known;
  const int lanes = role == TN_MATRIX_A ? atom.a_lanes : atom.b_lanes;
  if (is_register_tile(kernel_.buffers[load.buffer])) {
    const AtomLayout& layout = *atom.layouts[role == TN_MATRIX_A ? 0 : 1];
    return scopes_.back()[key] =
               from_registers(load.buffer, load.index,
                              lane_offsets(layout, lanes, operand.down(), operand.across()));
  }
  const std::vector<Value> operands{params_.buffer(load.buffer), exprs_.integer(load.index),
                                    ops_.index_constant(operand.stride)};
  const uint64_t imm = atom.id | role | (operand.transposed ? TN_MATRIX_TRANSPOSED : 0) |
                       (operand.lines ? TN_MATRIX_LINES : 0);
  // A materialised tile has new contents in each iteration of the loops around.
  const uint32_t floor =
      kernel_.buffers[load.buffer].materialised ? ops_.tree().region() : params_.floor(load.buffer);
  return scopes_.back()[key] = ops_.tree().matrix_load(
             static_cast<tn_dtype>(load.dtype), static_cast<uint16_t>(lanes), operands, imm, floor);
}

Leaves::Value Leaves::from_registers(int tile, const Expr& index,
                                     const std::vector<int64_t>& offsets) {
  const KernelBuffer& b = kernel_.buffers[tile];
  const auto dtype = static_cast<tn_dtype>(b.dtype);
  const Value first = exprs_.integer(register_place(kernel_, b, index));
  std::vector<Value> lanes;
  for (const int64_t offset : offsets) {
    const std::vector<Value> place{params_.buffer(tile),
                                   ops_.add(first, ops_.index_constant(register_place(b, offset)))};
    lanes.push_back(ops_.tree().load(dtype, 1, place, 0, params_.floor(tile), true));
  }
  return ops_.tree().pure(TN_OP_COMPOSE, dtype, static_cast<uint16_t>(lanes.size()), lanes);
}

Leaves::Value Leaves::dot_operand(const KValueRef& load, int axis) {
  const Key key{load.get(), positions_.instance(load), true};
  if (const Value* known = find(key)) return *known;
  const AxisSet axes = positions_.axes_of(load->index);
  std::map<std::string, Expr> first{{kernel_.axes[axis].name, Expr(0)}};
  auto lanes = static_cast<int>(kernel_.axes[axis].extent.value());
  if (positions_.in_lanes(axes)) {
    first.emplace(kernel_.axes[positions_.lane_axis()].name, Expr(0));
    lanes *= positions_.lanes();
  }
  const KernelBuffer& b = kernel_.buffers[load->buffer];
  const Access access = accesses_.contiguous(load->buffer, load->index.substitute(first), lanes);
  std::vector<Value> operands{params_.buffer(load->buffer), access.index};
  // Out-of-range points are within the tile, and no stored result depends on them.
  const bool whole = b.space != BufferSpace::kGlobal;
  const std::optional<Value> mask =
      whole ? std::nullopt : accesses_.mask(load->index, load->mask, axes);
  int64_t is_on = 0;
  if (mask && ops_.is_constant(*mask, is_on) && !is_on)
    return scopes_.back()[key] = ops_.constant(load->dtype, load->constant.bits, lanes);
  if (mask) {
    TN_ASSERT(ops_.lanes(*mask) == 1);
    operands.push_back(*mask);
    operands.push_back(ops_.constant(load->dtype, load->constant.bits, lanes));
  }
  const bool fixed = b.materialised || (b.space == BufferSpace::kGlobal && b.written);
  return scopes_.back()[key] =
             ops_.tree().load(static_cast<tn_dtype>(load->dtype), static_cast<uint16_t>(lanes),
                              operands, access.flags, params_.floor(load->buffer), fixed);
}

void Leaves::set_result(int reduction, int state, Value v) {
  const uint64_t instance = positions_.instance(positions_.axes_of_reduction(reduction));
  results_[{reduction, state, instance}] = v;
}

Leaves::Value Leaves::emit(const KValueRef& v) {
  switch (v->kind) {
    case KValueKind::kConst:
      return ops_.constant(v->dtype, v->constant.bits);
    case KValueKind::kIndex:
      if (v->dtype == DType::kBool) return exprs_.condition(v->index);
      return ops_.cast(exprs_.integer(v->index), v->dtype);
    case KValueKind::kLoad:
      return load(*v);
    case KValueKind::kOp:
      return elementwise(*v);
    case KValueKind::kResult: {
      const uint64_t instance = positions_.instance(positions_.axes_of_reduction(v->reduction));
      const auto found = results_.find({v->reduction, v->state, instance});
      TN_ASSERT(found != results_.end());
      return found->second;
    }
  }
  TN_ASSERT(false);
}

Leaves::Value Leaves::elementwise(const KValue& v) {
  std::vector<Value> operands;
  for (const KValueRef& operand : v.operands) operands.push_back(value(operand));
  return ops_.op(static_cast<tn_opcode>(v.op), v.dtype, std::move(operands),
                 v.bits ? TN_CAST_BITS : 0, v.approximate ? TN_OP_APPROXIMATE : 0);
}

Leaves::Value Leaves::load(const KValue& v) {
  const std::optional<Value> mask = accesses_.mask(v);
  int64_t known = 0;
  if (mask && ops_.is_constant(*mask, known) && !known)
    return ops_.constant(v.dtype, v.constant.bits);
  std::vector<Value> operands{params_.buffer(v.buffer)};
  const Access access = accesses_.at(v.buffer, v.index, mask && ops_.lanes(*mask) > 1);
  operands.push_back(access.index);
  if (mask) {
    operands.push_back(*mask);
    operands.push_back(ops_.constant(v.dtype, v.constant.bits, access.lanes));
  }
  const KernelBuffer& b = kernel_.buffers[v.buffer];
  const bool fixed = b.materialised || (b.space == BufferSpace::kGlobal && b.written);
  return ops_.tree().load(static_cast<tn_dtype>(v.dtype), static_cast<uint16_t>(access.lanes),
                          operands, access.flags, params_.floor(v.buffer), fixed);
}

}  // namespace tenon
