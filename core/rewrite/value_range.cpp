// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/rewrite/value_range.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::rewrite {
namespace {

constexpr double kMost = 9007199254740992;  // 2^53: beyond it doubles skip integers

Range make(double low, double high) {
  return {low, high, std::abs(low) <= kMost && std::abs(high) <= kMost};
}

/// The range of a dtype.
Range whole(DType dtype) {
  if (dtype == DType::kBool) return make(0, 1);
  if (!is_int(dtype) || dtype_size(dtype) > 4) return {};
  return make(static_cast<double>(lowest(dtype).as_int()),
              static_cast<double>(highest(dtype).as_int()));
}

Range hull(std::initializer_list<double> values) {
  return make(std::min(values), std::max(values));
}
Range either(const Range& a, const Range& b) {
  return a.known && b.known ? hull({a.low, a.high, b.low, b.high}) : Range{};
}

/// Range of bitwise ops: all two's complement numbers with the bits that both operands need.
Range bits(const Range& a, const Range& b) {
  double limit = 1;
  while (limit <= std::max(a.high, b.high) || -limit > std::min(a.low, b.low)) limit *= 2;
  return make(std::min(a.low, b.low) < 0 ? -limit : 0, limit - 1);
}

Range remainder(const Range& a, const Range& b) {
  double most = std::max(std::abs(a.low), std::abs(a.high));
  if (b.low > 0) most = std::min(most, b.high - 1);
  return make(a.low < 0 ? -most : 0, a.high > 0 ? most : 0);
}

Range of_const(const Scalar& value) {
  if (is_float(value.dtype) || (value.dtype == DType::kU64 && value.as_int() < 0)) return {};
  return make(static_cast<double>(value.as_int()), static_cast<double>(value.as_int()));
}

}  // namespace

bool fits(const Range& range, DType dtype) {
  const Range all = whole(dtype);
  return range.known && all.known && all.low <= range.low && range.high <= all.high;
}

Range Ranges::of(const NodeRef& node) {
  std::vector<NodeRef> stack{node};
  while (!stack.empty()) {
    const NodeRef top = stack.back();
    const size_t before = stack.size();
    if (!known_.contains(top.get()))
      for (const NodeRef& source : top->sources)
        if (!known_.contains(source.get())) stack.push_back(source);
    if (stack.size() > before) continue;
    stack.pop_back();
    if (known_.contains(top.get())) continue;
    const Range range = exact(*top);
    // A range that does not fit the dtype wraps.
    const bool holds = range.known && (fits(range, top->dtype) || dtype_size(top->dtype) > 4);
    const bool negative = top->dtype == DType::kU64 && range.low < 0;
    known_[top.get()] = holds && !negative ? range : whole(top->dtype);
    keep_.push_back(top);
  }
  return known_.at(node.get());
}

/// The range without wrapping.
Range Ranges::exact(const Node& node) const {
  switch (node.op) {
    case Op::CONST:
      return of_const(node.as<ConstAttr>().value);
    case Op::PARAM: {
      const auto& attr = node.as<ParamAttr>();
      return attr.is_dim
                 ? make(static_cast<double>(attr.dim.min()), static_cast<double>(attr.dim.max()))
                 : Range{};
    }
    case Op::INDEX: {
      const Dim& extent = node.shape[static_cast<size_t>(node.as<IndexAttr>().axis)];
      return make(0, std::max(0.0, static_cast<double>(extent.max()) - 1));
    }
    case Op::CAST:
      return node.as<CastAttr>().bits ? Range{} : at(node.sources[0]);
    case Op::WHERE:
      return either(at(node.sources[1]), at(node.sources[2]));
    case Op::NEG: {
      const Range x = at(node.sources[0]);
      return x.known ? make(-x.high, -x.low) : Range{};
    }
    case Op::VIEW: {
      const auto& attr = node.as<ViewAttr>();
      const Range x = at(node.sources[0]);
      return attr.kind == ViewKind::kPad ? either(x, of_const(attr.fill)) : x;
    }
    case Op::TAKE:
      return either(at(node.sources[0]), make(0, 0));
    case Op::REDUCE:
      return reduce(node);
    default:
      return node.sources.size() == 2 && is_elementwise(node.op) && is_int(node.dtype)
                 ? binary(node)
                 : Range{};
  }
}

Range Ranges::reduce(const Node& node) const {
  const auto& attr = node.as<ReduceAttr>();
  const NodeRef& source = node.sources[0];
  const Range x = at(source);
  if (!x.known || (attr.accumulator != node.dtype && attr.accumulator != DType::kVoid)) return {};
  double count = 1;
  bool may_be_empty = false;
  for (const int axis : attr.axes) {
    count *= static_cast<double>(source->shape[static_cast<size_t>(axis)].max());
    may_be_empty |= source->shape[static_cast<size_t>(axis)].min() == 0;
  }
  if (attr.op == Op::ADD) return hull({0, count * x.low, count * x.high});
  if (attr.op == Op::MUL) return x.low >= 0 && x.high <= 1 ? make(0, 1) : Range{};
  return may_be_empty ? Range{} : x;
}

Range Ranges::binary(const Node& node) const {
  const Range a = at(node.sources[0]), b = at(node.sources[1]);
  if (!a.known || !b.known) return {};
  const double most = std::max(std::abs(a.low), std::abs(a.high));
  switch (node.op) {
    case Op::ADD:
      return make(a.low + b.low, a.high + b.high);
    case Op::SUB:
      return make(a.low - b.high, a.high - b.low);
    case Op::MUL:
      return hull({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
    case Op::IDIV:
      return make(a.low < 0 || b.low < 0 ? -most : 0, most);
    case Op::MOD:
      return remainder(a, b);
    case Op::MAX:
      return make(std::max(a.low, b.low), std::max(a.high, b.high));
    case Op::MIN:
      return make(std::min(a.low, b.low), std::min(a.high, b.high));
    case Op::AND:
      if (a.low >= 0 && b.low >= 0) return make(0, std::min(a.high, b.high));
      if (a.low >= 0 || b.low >= 0) return make(0, a.low >= 0 ? a.high : b.high);
      return bits(a, b);
    case Op::OR:
    case Op::XOR:
      return bits(a, b);
    case Op::SHL:
      if (b.low < 0 || b.high > 31) return {};
      return hull({0, std::ldexp(a.low, static_cast<int>(b.high)),
                   std::ldexp(a.high, static_cast<int>(b.high))});
    case Op::SHR:
      return make(std::min(a.low, 0.0), std::max(a.high, 0.0));
    default:
      return {};
  }
}

}  // namespace tenon::rewrite
