// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/lower/dot_sums.hpp"

#include <array>
#include <utility>

#include "core/support/error.hpp"

namespace tenon {

std::optional<DotProduct> DotSums::product(const Statement& reduction) const {
  const int axis = dot_axis(reduction, kernel_);
  if (axis < 0) return {};
  std::optional<DotFactors> factors = dot_factors(kernel_, reduction, axis, capabilities_);
  TN_ASSERT(factors);
  // If both have one dtype, bias the one whose partner has fewer instances: each is an extra sum.
  const auto count = [&](const KValueRef& v) {
    return positions_.count_instances(positions_.axes_of(v));
  };
  if (factors->biased && factors->x->dtype == factors->y->dtype &&
      count(factors->x) < count(factors->y))
    std::swap(factors->x, factors->y);
  return DotProduct{axis, *std::move(factors), reduction.states[0].dtype};
}

bool DotSums::is_whole(const DotProduct& p, const AxisSet& own) const {
  if (!guards_.conditions(own, false).empty()) return false;
  for (const KValueRef& load : {p.factors.x, p.factors.y}) {
    const bool lanes = positions_.in_lanes(positions_.axes_of(load->index));
    if (lanes && kernel_.buffers[load->buffer].space == BufferSpace::kGlobal &&
        guards_.ask(positions_.axes_of(load->index), positions_.lane_axis()))
      return false;
  }
  return true;
}

DotSums::Value DotSums::step(const DotProduct& p, Value sum) {
  Value x = leaves_.dot_operand(p.factors.x, p.axis);
  if (p.factors.biased) {
    const DType plain = unsigned_of(p.factors.x->dtype);
    x = ops_.op(TN_OP_CAST, plain, {x}, TN_CAST_BITS);
    x = ops_.op(TN_OP_XOR, plain, {x, ops_.constant(plain, bias(p))});
  }
  const std::array operands{x, leaves_.dot_operand(p.factors.y, p.axis), sum};
  return ops_.tree().pure(TN_OP_DOT, static_cast<tn_dtype>(p.sum),
                          static_cast<uint16_t>(ops_.lanes(sum)), operands);
}

DotSums::Value DotSums::step_of_excess(const DotProduct& p, Value excess) {
  const int lanes = ops_.lanes(excess) * static_cast<int>(kernel_.axes[p.axis].extent.value());
  const std::array operands{ops_.constant(unsigned_of(p.factors.x->dtype), bias(p), lanes),
                            leaves_.dot_operand(p.factors.y, p.axis), excess};
  return ops_.tree().pure(TN_OP_DOT, static_cast<tn_dtype>(p.sum),
                          static_cast<uint16_t>(ops_.lanes(excess)), operands);
}

DotSums::Value DotSums::without_excess(const DotProduct& p, Value sum, Value excess) {
  const Value minus = ops_.op(TN_OP_MUL, p.sum, {excess, ops_.constant(p.sum, ~uint64_t{0})});
  return ops_.op(TN_OP_ADD, p.sum, {sum, minus});
}

/// The sign bit: it maps signed to unsigned numbers in order.
uint64_t DotSums::bias(const DotProduct& p) const {
  return uint64_t{1} << (dtype_bits(p.factors.x->dtype) - 1);
}

DType DotSums::unsigned_of(DType dtype) {
  switch (dtype) {
    case DType::kI8:
      return DType::kU8;
    case DType::kI16:
      return DType::kU16;
    default:
      TN_ASSERT(dtype == DType::kI32);
      return DType::kU32;
  }
}

}  // namespace tenon
