// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/tree/value.hpp"

#include <unordered_set>

namespace tenon {

KValueRef make_const(Scalar value) {
  KValue v;
  v.kind = KValueKind::kConst;
  v.dtype = value.dtype;
  v.constant = value;
  return std::make_shared<const KValue>(std::move(v));
}

KValueRef make_index(Expr index, DType dtype) {
  if (index.is_const()) return make_const(Scalar::of_int(dtype, index.value()));
  KValue v;
  v.kind = KValueKind::kIndex;
  v.dtype = dtype;
  v.index = std::move(index);
  return std::make_shared<const KValue>(std::move(v));
}

KValueRef make_load(int buffer, DType dtype, Expr index, Expr mask, Scalar fill) {
  KValue v;
  v.kind = KValueKind::kLoad;
  v.dtype = dtype;
  v.buffer = buffer;
  v.index = std::move(index);
  v.mask = std::move(mask);
  v.constant = fill;
  return std::make_shared<const KValue>(std::move(v));
}

KValueRef make_op(Op op, DType dtype, std::vector<KValueRef> operands, bool bits) {
  KValue v;
  v.kind = KValueKind::kOp;
  v.dtype = dtype;
  v.op = op;
  v.bits = bits;
  v.operands = std::move(operands);
  return std::make_shared<const KValue>(std::move(v));
}

bool holds(DType dtype, const Expr& index) {
  return is_int(dtype) && lowest(dtype).as_int() <= index.min() &&
         (dtype == DType::kU64 || index.max() <= highest(dtype).as_int());
}

KValueRef make_cast(KValueRef value, DType dtype) {
  if (value->dtype == dtype) return value;
  if (value->kind == KValueKind::kConst) return make_const(cast(value->constant, dtype));
  // An index that did not wrap can be computed in the new dtype.
  if (value->kind == KValueKind::kIndex && holds(value->dtype, value->index) &&
      (is_float(dtype) || holds(dtype, value->index)))
    return make_index(value->index, dtype);
  return make_op(Op::CAST, dtype, {std::move(value)});
}

KValueRef make_result(int reduction, int state, DType dtype) {
  KValue v;
  v.kind = KValueKind::kResult;
  v.dtype = dtype;
  v.reduction = reduction;
  v.state = state;
  return std::make_shared<const KValue>(std::move(v));
}

KValueRef make_select(const Expr& condition, KValueRef x, const Scalar& y) {
  if (condition.is_const(1)) return x;
  if (condition.is_const(0)) return make_const(y);
  if (x->kind == KValueKind::kConst && x->constant == y) return x;
  if (x->kind == KValueKind::kLoad && x->mask == condition)
    return make_load(x->buffer, x->dtype, x->index, x->mask, y);
  // The load's mask implies the condition: its fill is y already.
  if (x->kind == KValueKind::kLoad && x->constant == y &&
      logical_and(x->mask, condition) == x->mask)
    return x;
  if (x->kind == KValueKind::kOp && x->op == Op::CAST && !x->bits) {
    const Scalar narrow = cast(y, x->operands[0]->dtype);
    const KValueRef inside =
        cast(narrow, x->dtype) == y ? make_select(condition, x->operands[0], narrow) : nullptr;
    if (inside && inside->op != Op::WHERE) return make_cast(inside, x->dtype);
  }
  return make_op(Op::WHERE, x->dtype, {make_index(condition, DType::kBool), x, make_const(y)});
}

KValueRef widened_load(const KValueRef& value) {
  const bool widens = value->kind == KValueKind::kOp && value->op == Op::CAST && !value->bits &&
                      dtype_size(value->operands[0]->dtype) <= dtype_size(value->dtype) &&
                      is_float(value->dtype) == is_float(value->operands[0]->dtype);
  const KValueRef& load = widens ? value->operands[0] : value;
  return load->kind == KValueKind::kLoad ? load : nullptr;
}

KValueRef KValueRewriter::operator()(const KValueRef& value) {
  if (const auto found = done_.find(value.get()); found != done_.end()) return found->second;
  KValueRef current = value;
  std::vector<KValueRef> operands;
  bool changed = false;
  for (const KValueRef& operand : value->operands) {
    operands.push_back((*this)(operand));
    changed |= operands.back() != operand;
  }
  if (changed) {
    KValue copy = *value;
    copy.operands = std::move(operands);
    current = std::make_shared<const KValue>(std::move(copy));
  }
  KValueRef result = change_(current);
  keep_.push_back(value);
  done_.emplace(value.get(), result);
  return result;
}

namespace {
void visit_in(const KValueRef& root, const std::function<void(const KValueRef&)>& use,
              std::unordered_set<const KValue*>& seen) {
  if (!seen.insert(root.get()).second) return;
  for (const KValueRef& operand : root->operands) visit_in(operand, use, seen);
  use(root);
}
}  // namespace

void visit(const KValueRef& root, const std::function<void(const KValueRef&)>& use) {
  std::unordered_set<const KValue*> seen;
  visit_in(root, use, seen);
}

}  // namespace tenon
