// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Intervals of elementwise nodes: floats by apply(); elements that straddle a boundary are in
// doubt.
#include <algorithm>
#include <cmath>

#include "core/interval/nodes.hpp"
#include "core/support/error.hpp"

namespace tenon::reference {
namespace {

struct Element {
  Interval range;
  bool doubt = false;
};

Element unknown() { return {anything(), true}; }
/// False or true.
Element undecided() { return {{0, 1, false, false}, true}; }

Element compare(Op op, const Interval& a, const Interval& b, double value) {
  if (a.any || b.any) return undecided();
  const Element as_value{point(value), false};
  if (is_empty(a) || is_empty(b)) return as_value;
  const bool nan = a.nan || b.nan;
  if (op == Op::CMPLT) {
    if (a.low >= b.high) return as_value;  // false, as with NaN
    return a.high < b.low && !nan ? as_value : undecided();
  }
  if (a.low > b.high || b.low > a.high) return as_value;          // differ, as with NaN
  const bool equal = a.low == a.high && b.low == b.high && !nan;  // zeros of any sign
  return equal ? as_value : undecided();
}

/// The device promises nothing for such operands.
bool unspecified(const Interval& x, const Profile& profile) {
  return (x.nan && (profile.numerics & kNoNan)) || (has_infinity(x) && (profile.numerics & kNoInf));
}

Element to_float(const Interval& x, DType from, DType to, const Profile& profile) {
  if (x.any) return unknown();
  Interval in = x;
  if (is_float(from)) {
    if (unspecified(x, profile)) return unknown();
    if (profile.numerics & kFlushInput) in = flush(in, from);
  }
  in = nearest(in, to);
  if (profile.numerics & kFlushOutput) in = flush(in, to);
  if (unspecified(in, profile)) return unknown();
  return {in, false};
}

Element from_float(const Interval& x, DType to, double value) {
  if (x.any) return to == DType::kBool ? undecided() : unknown();
  if (is_empty(x)) return {point(value), false};
  if (to == DType::kBool) {
    if (!contains(x, 0)) return {point(1), false};
    return x.low == 0 && x.high == 0 && !x.nan ? Element{point(0), false} : undecided();
  }
  const Scalar low = Scalar::of(to, x.low), high = Scalar::of(to, x.high);
  if (low == high && (!x.nan || low.bits == 0)) return {point(value), false};
  Interval range{low.as_double(), high.as_double(), false, false};
  if (x.nan) range = hull(range, point(0));
  return {range, true};
}

Element cast_element(const Node& node, const Interval& x, bool doubt, DType from, double value,
                     const Profile& profile) {
  const bool floats = is_float(from);
  if (node.as<CastAttr>().bits) {
    const bool unsure =
        doubt || (floats ? !is_point(x) || (x.low == 0 && profile.numerics) : false);
    return unsure ? unknown() : Element{point(value), false};
  }
  if (floats && is_float(node.dtype)) return to_float(x, from, node.dtype, profile);
  if (floats) {
    const bool flushes = profile.numerics & kFlushInput;
    if (!x.any && unspecified(x, profile))
      return node.dtype == DType::kBool ? undecided() : unknown();
    return from_float(flushes ? flush(x, from) : x, node.dtype, value);
  }
  if (!doubt) return {point(value), false};
  if (is_float(node.dtype)) return to_float(x, from, node.dtype, profile);
  return node.dtype == DType::kBool ? undecided() : unknown();
}

/// True if the node's bits are those of an input, including NaN; NEG flips the sign bit only.
bool only_moves(const Node& node) {
  if (node.op == Op::NEG && is_float(node.dtype)) return only_moves(*node.sources[0]);
  if (node.op == Op::PARAM) return !node.as<ParamAttr>().is_dim;
  const bool moves =
      node.op == Op::VIEW ? node.as<ViewAttr>().kind != ViewKind::kPad : node.op == Op::TAKE;
  return moves && only_moves(*node.sources[0]);
}

}  // namespace

void elementwise_intervals(const Node& node, const IntervalOperands& operands,
                           const Profile& profile, IntervalArray& out) {
  const DType from = operands[node.op == Op::WHERE ? 1 : 0]->value.dtype;
  // A device may know that nothing was done, as in min(x, x): then a sum adds the product itself.
  for (const IntervalArray* x : operands)
    out.rounded |= x->rounded && (node.op == Op::NEG || x->value == out.value);
  bool exact = true;
  for (const IntervalArray* x : operands) exact &= x->exact();
  const bool bits = node.op == Op::CAST && node.as<CastAttr>().bits;
  if (exact && bits && profile.numerics == 0 && only_moves(*node.sources[0])) return;
  if (exact && !(bits && is_float(from)) && is_pinned(node.op, from, node.dtype, profile) &&
      !(node.op == Op::MUL && is_float(from)))
    return;
  open(out);
  const bool widens = node.op == Op::WHERE && is_float(from) && profile.numerics != 0 &&
                      compute_dtype(from, profile) != from;
  const int64_t count = out.value.count();
  for (int64_t i = 0; i < count; ++i) {
    Interval x[3];
    bool doubt[3] = {};
    for (size_t k = 0; k < operands.size(); ++k) {
      x[k] = operands[k]->at(i);
      doubt[k] = !operands[k]->exact() && operands[k]->doubt[i];
    }
    const double value = out.range[i].low;
    Element e{out.range[i], false};
    if (node.op == Op::CAST) {
      e = cast_element(node, x[0], doubt[0], from, out.value.at(i).as_double(), profile);
    } else if (node.op == Op::WHERE) {
      for (int k = 1; k < 3 && widens; ++k) {
        const Element side = to_float(x[k], from, from, profile);
        x[k] = side.range;
        doubt[k] |= side.doubt;
      }
      const bool taken = operands[0]->value.at(i).bits;
      const Scalar a = operands[1]->value.at(i), b = operands[2]->value.at(i);
      if (!doubt[0])
        e = taken ? Element{x[1], doubt[1]} : Element{x[2], doubt[2]};
      else if (a != b || doubt[1] || doubt[2] || !operands[1]->exact() || !operands[2]->exact())
        e = {hull(x[1], x[2]), true};
    } else if (op_info(node.op).kind == OpKind::COMPARE) {
      if (is_float(from)) {
        if (profile.numerics & kFlushInput)
          for (Interval& operand : x) operand = flush(operand, from);
        e = unspecified(x[0], profile) || unspecified(x[1], profile)
                ? undecided()
                : compare(node.op, x[0], x[1], value);
      } else if (doubt[0] || doubt[1]) {
        e = undecided();
      }
    } else if (is_float(node.dtype)) {
      e = {apply(node.op, node.dtype, x, profile), false};
      // The reference's value is always accepted; the image was computed in double.
      e.range = hull(e.range, point(out.value.at(i).as_double()));
      if (!out.rounded) out.rounded = ends_in_rounded_product(node.op, node.dtype, x, profile);
    } else if (doubt[0] || doubt[1]) {
      e = unknown();
    }
    out.range[i] = e.range;
    out.doubt[i] = e.doubt;
  }
}

}  // namespace tenon::reference
