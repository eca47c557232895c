// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/autodiff/trip_sum.hpp"

#include <algorithm>

#include "core/support/error.hpp"

namespace tenon::autodiff {
namespace {

bool is_move(const Node& node) {
  return node.op == Op::VIEW || (node.op == Op::CAST && !node.as<CastAttr>().bits);
}

bool is_sum(const Node& node) {
  return node.op == Op::REDUCE && node.as<ReduceAttr>().op == Op::ADD;
}

void add_factor(NodeRef x, std::vector<NodeRef>& out) {
  while (is_move(*x)) x = x->sources[0];
  if (std::ranges::find(out, x) == out.end()) out.push_back(std::move(x));
}

/// `seen`: sums whose factors are in `out`.
bool add_factors(const NodeRef& x, std::vector<NodeRef>& out, FlatMap<const Node*, char>& seen) {
  if (!seen.try_emplace(x.get()).second) return true;
  if (is_move(*x)) return add_factors(x->sources[0], out, seen);
  if (x->op == Op::ADD)
    return add_factors(x->sources[0], out, seen) && add_factors(x->sources[1], out, seen);
  if (!is_sum(*x) || x->sources[0]->op != Op::MUL) return false;
  for (const NodeRef& factor : x->sources[0]->sources) add_factor(factor, out);
  return true;
}

class StackedOverTrips {
 public:
  StackedOverTrips(const FlatMap<const Node*, NodeRef>& factors, Builder& builder)
      : factors_(factors), builder_(builder) {}

  /// The node with an axis of iterations in front, of size 1 where they are summed.
  NodeRef of(const NodeRef& x) {
    if (const NodeRef* factor = factors_.find(x.get())) return *factor;
    if (const NodeRef* known = made_.find(x.get())) return *known;
    NodeRef out = make(x);
    made_.try_emplace(x.get(), out);
    return out;
  }

 private:
  NodeRef make(const NodeRef& x) {
    std::vector<NodeRef> sources;
    for (const NodeRef& source : x->sources) sources.push_back(of(source));
    const Dim& trips = sources[0]->shape[0];
    Shape shape = x->shape;
    shape.insert(shape.begin(), trips);
    if (!is_sum(*x))
      return builder_.make(x->op, x->dtype, std::move(shape), std::move(sources),
                           x->op == Op::VIEW ? moved(x->as<ViewAttr>(), trips) : x->attr);
    auto attr = x->as<ReduceAttr>();
    attr.axes = shifted(attr.axes);
    attr.axes.insert(attr.axes.begin(), 0);
    return builder_.reduce(attr.op, sources[0], attr.axes, attr.accumulator, attr.precision);
  }

  static std::vector<int> shifted(std::vector<int> axes) {
    for (int& axis : axes) ++axis;
    return axes;
  }
  static Attr moved(ViewAttr attr, const Dim& trips) {
    attr.axes = shifted(std::move(attr.axes));
    if (attr.kind == ViewKind::kPermute) attr.axes.insert(attr.axes.begin(), 0);
    if (attr.kind == ViewKind::kPad) attr.pairs.insert(attr.pairs.begin(), {Dim(0), Dim(0)});
    if (attr.kind == ViewKind::kShrink) attr.pairs.insert(attr.pairs.begin(), {Dim(0), trips});
    return attr;
  }

  const FlatMap<const Node*, NodeRef>& factors_;
  FlatMap<const Node*, NodeRef> made_;
  Builder& builder_;
};

}  // namespace

std::vector<NodeRef> factors_of(const NodeRef& contraction) {
  std::vector<NodeRef> out;
  FlatMap<const Node*, char> seen;
  if (!add_factors(contraction, out, seen)) out.clear();
  return out;
}

NodeRef summed_over_trips(const NodeRef& contraction, const FlatMap<const Node*, NodeRef>& factors,
                          Builder& builder) {
  return builder.reshape(StackedOverTrips(factors, builder).of(contraction), contraction->shape);
}

}  // namespace tenon::autodiff
