// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/tree/evaluate_at.hpp"

#include <algorithm>

#include "core/ir/scalar_op.hpp"
#include "core/support/error.hpp"
#include "core/support/hash.hpp"

namespace tenon {
namespace {

/// Nodes of an index expression. A larger one becomes a let, so that views of it stay small.
constexpr uint32_t kMostIndex = 32;
constexpr int64_t kFar = int64_t{1} << 62;  // above every size; differences fit 64 bits

}  // namespace

size_t IndexEvaluator::KeyHash::operator()(const Key& key) const {
  uint64_t h = hash_mix(reinterpret_cast<uintptr_t>(key.node), key.guard.hash());
  for (const Expr& e : key.index) h = hash_mix(h, e.hash());
  return h;
}

std::string IndexEvaluator::fresh(const std::string& prefix, int& counter) const {
  for (;;) {
    std::string name = prefix + std::to_string(counter++);
    const bool taken =
        kernel_.axis(name) >= 0 ||
        std::ranges::any_of(kernel_.symbols, [&](const Expr& s) { return s.name() == name; });
    if (!taken) return name;
  }
}

KValueRef IndexEvaluator::at(const NodeRef& node, const IndexTuple& index, const Expr& guard) {
  Key key{node.get(), index, guard};
  if (const auto found = memo_.find(key); found != memo_.end()) return found->second;
  KValueRef value = evaluate(node, index, guard);
  return memo_[std::move(key)] = value;
}

KValueRef IndexEvaluator::evaluate(const NodeRef& node, const IndexTuple& index,
                                   const Expr& guard) {
  switch (node->op) {
    case Op::CONST:
      return make_const(node->as<ConstAttr>().value);
    case Op::PARAM:
      return param(node, linearise(index, node->shape), guard);
    case Op::INDEX:
      return make_index(index[node->as<IndexAttr>().axis], node->dtype);
    case Op::VIEW:
      return view(node, index, guard);
    case Op::REDUCE:
      return reduce(node, index, guard);
    case Op::TAKE:
      return take(node, index, guard);
    case Op::CAST: {
      const KValueRef x = at(node->sources[0], index, guard);
      if (node->as<CastAttr>().bits) return make_op(Op::CAST, node->dtype, {x}, true);
      return make_cast(x, node->dtype);
    }
    default:
      break;
  }
  if (!is_elementwise(node->op))
    fail(ErrorKind::kInvalid, "[kernel] expected only ops of one kernel, got {}",
         op_info(node->op).text);
  std::vector<KValueRef> operands;
  for (const NodeRef& source : node->sources) operands.push_back(at(source, index, guard));
  return make_op(node->op, node->dtype, std::move(operands));
}

KValueRef IndexEvaluator::param(const NodeRef& node, const Expr& element, const Expr& guard) {
  const auto& attr = node->as<ParamAttr>();
  if (attr.is_dim) return make_index(attr.dim, DType::kI64);
  const auto buffer = buffers_.find(node.get());
  TN_REQUIRE(buffer != buffers_.end(), "[kernel] expected param {} among the graph's, got none",
             attr.name);
  kernel_.buffers[buffer->second].read = true;
  return make_load(buffer->second, node->dtype, element, guard, zero(node->dtype));
}

KValueRef IndexEvaluator::view(const NodeRef& node, const IndexTuple& index, const Expr& guard) {
  const auto& attr = node->as<ViewAttr>();
  const NodeRef& source = node->sources[0];
  // A reshape of a buffer keeps the order of its elements.
  if (attr.kind == ViewKind::kReshape && source->op == Op::PARAM && !source->as<ParamAttr>().is_dim)
    return param(source, linearise(index, node->shape), guard);
  SourceIndex from = view_index(*node, index);
  for (Expr& e : from.index) e = named(e);
  if (attr.kind != ViewKind::kPad) return at(source, from.index, guard);
  if (from.in_bounds.is_const(0)) return make_const(attr.fill);
  const KValueRef inside = at(source, from.index, logical_and(guard, from.in_bounds));
  return make_select(from.in_bounds, inside, attr.fill);
}

/// Names a large index by a let. Several views in sequence may use an index more than once each;
/// without a name its size would grow exponentially.
Expr IndexEvaluator::named(const Expr& index) {
  if (index.size() <= kMostIndex) return index;
  const auto known = named_.find(index);
  if (known != named_.end()) return known->second;
  const std::string name = fresh("t", next_let_);
  kernel_.lets.push_back(
      {name, make_index(index, holds(DType::kI32, index) ? DType::kI32 : DType::kI64)});
  return named_[index] = Expr::symbol(name, index.min(), index.max());
}

Expr not_empty(const Dim& size) {
  return size.min() >= 1 || size.max() > 1 ? Expr(1) : less(0, size);
}

KValueRef IndexEvaluator::reduce(const NodeRef& node, const IndexTuple& index, const Expr& guard) {
  const auto& attr = node->as<ReduceAttr>();
  const NodeRef& source = node->sources[0];
  const DType accumulator = attr.accumulator == DType::kVoid ? source->dtype : attr.accumulator;
  IndexTuple from = index;
  std::vector<int> axes;
  Expr inside = guard;
  for (const int d : attr.axes) {
    if (source->shape[d].is_const(0))
      return make_const(cast(identity(attr.op, accumulator), node->dtype));
    inside = logical_and(inside, not_empty(source->shape[d]));
    from[d] = 0;
    if (source->shape[d].is_const(1)) continue;
    axes.push_back(kernel_.add_axis(fresh("r", next_reduce_), source->shape[d], AxisKind::kReduce));
    from[d] = kernel_.axes[axes.back()].symbol();
  }
  const KValueRef term = make_cast(at(source, from, inside), accumulator);
  if (axes.empty()) return make_cast(term, node->dtype);

  Statement reduction;
  reduction.kind = Statement::Kind::kReduce;
  reduction.states = {{attr.op, accumulator, term, attr.precision}};
  Statement inner;
  inner.kind = Statement::Kind::kStep;
  for (size_t i = axes.size(); i-- > 0;) {
    Statement loop;
    loop.axis = axes[i];
    loop.body.push_back(std::move(inner));
    inner = std::move(loop);
  }
  reduction.body.push_back(std::move(inner));
  reduction.id = kernel_.reductions++;
  const int id = reduction.id;
  kernel_.body.push_back(std::move(reduction));
  return make_cast(make_result(id, 0, accumulator), node->dtype);
}

IndexEvaluator::Position IndexEvaluator::position(const KValueRef& value, const Expr& size) {
  const auto near = [](const Expr& i) { return i.min() >= -kFar && i.max() <= kFar; };
  if (value->kind == KValueKind::kConst) {
    const Expr i(value->constant.as_int());
    return near(i) ? Position{i, logical_and(less(-1, i), less(i, size))} : Position{0, 0};
  }
  if (value->kind == KValueKind::kIndex && holds(value->dtype, value->index) && near(value->index))
    return {value->index, logical_and(less(-1, value->index), less(value->index, size))};
  // Computed in the narrowest of i32, u32 and i64 that holds the index and the size.
  const bool small = size.max() <= INT32_MAX;
  DType dtype = DType::kI64;
  if (small && value->dtype == DType::kU32) dtype = DType::kU32;
  if (small && (dtype_bits(value->dtype) < 32 || value->dtype == DType::kI32)) dtype = DType::kI32;
  const KValueRef i = make_cast(value, dtype);
  const auto below = [](KValueRef a, KValueRef b) {
    return make_op(Op::CMPLT, DType::kBool, {std::move(a), std::move(b)});
  };
  KValueRef inside = below(i, make_index(size, dtype));
  if (is_signed(dtype))
    inside =
        make_op(Op::AND, DType::kBool, {below(make_const(Scalar::of_int(dtype, -1)), i), inside});
  const KValueRef clamped = make_op(Op::WHERE, dtype, {inside, i, make_const(zero(dtype))});
  const std::string name = fresh("t", next_let_);
  kernel_.lets.push_back({name, clamped});
  kernel_.lets.push_back({name + ".in", inside});
  return {Expr::symbol(name, size), Expr::symbol(name + ".in", 0, 1)};
}

KValueRef IndexEvaluator::take(const NodeRef& node, const IndexTuple& index, const Expr& guard) {
  const int axis = node->as<TakeAttr>().axis;
  const NodeRef& source = node->sources[0];
  const Position p = position(at(node->sources[1], index, guard), source->shape[axis]);
  if (p.in_bounds.is_const(0)) return make_const(zero(node->dtype));
  IndexTuple from = index;
  from[axis] = p.index;
  KValueRef value = at(source, from, logical_and(guard, p.in_bounds));
  if (value->kind == KValueKind::kLoad && value->constant.bits == 0 &&
      value->mask == logical_and(guard, p.in_bounds))
    return value;
  return make_select(p.in_bounds, value, zero(node->dtype));
}

}  // namespace tenon
