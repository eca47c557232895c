// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/schedule/split_kv.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/ir/softmax_power.hpp"
#include "core/ir/substitute.hpp"
#include "core/schedule/axis_map.hpp"
#include "core/schedule/patterns/contraction.hpp"

namespace tenon::scheduling {
namespace {

constexpr double kRows = 64;        // of one set of keys that a unit takes together
constexpr double kMostIdle = 1.25;  // work that units could do in the time to what they do
constexpr double kPerUnit = 4;      // parts, so that units that are late finish with the others
constexpr double kShortest = 512;   // keys: a shorter part is not worth its results in memory
constexpr int64_t kMore = 8;        // times as many parts as wanted, to find a number that divides

/// One chain as softmax of scores, times values: the power exp((x - m) * scale) divided by its sum.
class KvSplitter {
 public:
  KvSplitter(const SchedulerInput& input, const OnlineSoftmax& softmax, Builder& builder)
      : input_(input), softmax_(softmax), builder_(builder), leads_(input.nodes.size()) {
    leads_[static_cast<size_t>(softmax.maximum)] = true;
    std::vector<int> inside = softmax.inside;
    std::ranges::sort(inside);
    for (const int i : inside)
      for (const int s : input.sources[i])
        if (leads_[static_cast<size_t>(s)]) leads_[static_cast<size_t>(i)] = true;
  }

  /// The sum over all keys, of its own shape; null where it is no such thing, or has units enough.
  NodeRef run() {
    if (softmax_.rows.size() != 1 || !softmax_.also.empty()) return nullptr;
    const Node &maximum = input_.node(softmax_.maximum), &row = input_.node(softmax_.rows[0]),
               &sum = input_.node(softmax_.sum);
    axis_ = maximum.as<ReduceAttr>().axes[0];
    const DType dtype = maximum.dtype;
    if (maximum.as<ReduceAttr>().axes.size() != 1 || dtype_bits(dtype) < 32 ||
        row.as<ReduceAttr>() != ReduceAttr{Op::ADD, {axis_}, dtype} ||
        row.sources[0]->shape != scores()->shape || sum.as<ReduceAttr>().accumulator != dtype ||
        !scores()->shape[axis_].is_const())
      return nullptr;
    length_ = scores()->shape[axis_].value();
    parts_ = wanted();
    if (parts_ < 2) return nullptr;
    maxima_ = builder_.reduce(Op::MAX, in_parts(scores(), axis_), {axis_ + 1});
    const NodeRef powers = terms(row.sources[0], axis_);
    if (!powers || is_divided_) return nullptr;
    const int along = sum.as<ReduceAttr>().axes[0];
    NodeRef products = terms(sum.sources[0], along);
    if (!products || !is_divided_) return nullptr;
    const NodeRef counts = builder_.reduce(Op::ADD, in_parts(powers, axis_), {axis_ + 1});
    products = products_in_parts(products, along);
    if (products->dtype != dtype) products = builder_.cast(products, dtype);
    first_ = builder_.reduce(Op::ADD, products, {along + 1}, dtype, sum.as<ReduceAttr>().precision);
    NodeRef out = builder_.reshape(merged(counts, along), sum.shape);
    return sum.dtype == dtype ? out : builder_.cast(std::move(out), sum.dtype);
  }

  /// The sums of the parts.
  const NodeRef& first() const { return first_; }

 private:
  const NodeRef& scores() const { return input_.node(softmax_.maximum).sources[0]; }
  int at(const NodeRef& node) const { return input_.at(node); }
  bool leads(int i) const { return leads_[static_cast<size_t>(i)]; }

  /// Sets of keys: of the factors of a score, of the one that follows the keys, what else it
  /// follows.
  double sets_of_keys() const {
    IndexMap map = anywhere(scores()->shape);
    const uint64_t key = map.axes[static_cast<size_t>(axis_)].variables;
    const int product = softmax_.product;
    if (!find_below(input_, at(scores()), product, map)) return 0;
    const int terms = input_.index.at(product_of(input_.node(product)));
    map.axes[static_cast<size_t>(input_.node(product).as<ReduceAttr>().axes[0])] = {};
    for (const int factor : input_.sources[terms]) {
      IndexMap below = map;
      for (int i = factor; input_.node(i).op == Op::VIEW || input_.node(i).op == Op::CAST;
           i = input_.sources[i][0])
        if (input_.node(i).op == Op::VIEW)
          below = through_view(input_.node(i), below, input_.estimate);
      const uint64_t follows = below.variables();
      if (!(follows & key)) continue;
      double sets = 1;
      for (size_t d = 0; d < scores()->shape.size(); ++d)
        if (static_cast<int>(d) != axis_ && (follows >> d & 1))
          sets *= input_.estimate.of(scores()->shape[d]);
      return sets;
    }
    return 0;
  }

  int64_t wanted() const {
    const double units = std::max(1U, input_.capabilities(softmax_.sum).compute_units);
    const double sets = sets_of_keys();
    if (units < 2 || sets == 0) return 1;
    const double rows = input_.analysis[softmax_.maximum].size / sets;
    const double workers = sets * std::ceil(rows / kRows);
    if (std::ceil(workers / units) * units <= kMostIdle * workers) return 1;
    const double most = static_cast<double>(length_) / kShortest;
    const auto least = static_cast<int64_t>(std::min(std::ceil(kPerUnit * units / workers), most));
    if (least < 2) return 1;
    for (int64_t d = least; d <= std::min(length_, least * kMore); ++d)
      if (length_ % d == 0) return d;
    return 1;
  }

  /// The axis as two: a part, and where in it.
  NodeRef in_parts(NodeRef x, int axis) const { return builder_.reshape(x, split(x->shape, axis)); }
  /// Stay products, of what is moved.
  NodeRef products_in_parts(const NodeRef& x, int axis) const {
    if (x->op == Op::CAST) return builder_.cast(products_in_parts(x->sources[0], axis), x->dtype);
    if (x->op != Op::MUL) return in_parts(x, axis);
    return builder_.binary(Op::MUL, in_parts(x->sources[0], axis), in_parts(x->sources[1], axis));
  }
  Shape split(Shape shape, int axis) const {
    shape[static_cast<size_t>(axis)] = Dim(length_ / parts_);
    shape.insert(shape.begin() + axis, Dim(parts_));
    return shape;
  }
  /// What each part has, of scores.
  NodeRef of_each(const NodeRef& part) const {
    return builder_.reshape(builder_.expand(part, split(scores()->shape, axis_)), scores()->shape);
  }

  /// The terms of a sum over the keys with the maximum of the part, and not divided by any sum.
  NodeRef terms(const NodeRef& of, int axis) {
    const IndexMap map = anywhere(of->shape);
    key_ = map.axes[static_cast<size_t>(axis)];
    views_.clear();
    return rebuilt(at(of), map);
  }

  NodeRef rebuilt(int i, const IndexMap& map) {
    const Node& node = input_.node(i);
    const std::vector<int>& sources = input_.sources[i];
    if (!leads(i)) return nullptr;
    switch (node.op) {
      case Op::EXP:
      case Op::EXP2:
        return power(i, map);
      case Op::VIEW: {
        const IndexMap below = through_view(node, map, input_.estimate);
        views_.push_back(i);
        return below.irregular ? nullptr : with(node, 0, rebuilt(sources[0], below));
      }
      case Op::CAST:
        return with(node, 0, rebuilt(sources[0], map));
      case Op::FDIV:
        if (!leads(sources[1])) return with(node, 0, rebuilt(sources[0], map));
        if (behind_views(sources[1]) != softmax_.rows[0] || is_divided_) return nullptr;
        is_divided_ = true;
        return rebuilt(sources[0], map);
      case Op::MUL:
      case Op::WHERE: {
        const size_t first = node.op == Op::WHERE ? 1 : 0;
        const bool left = leads(sources[first]), right = leads(sources[first + 1]);
        if (left == right || leads(sources[0]) != (left && first == 0)) return nullptr;
        const size_t side = left ? first : first + 1;
        if (node.op == Op::WHERE && !is_zero(sources[left ? 2 : 1])) return nullptr;
        return with(node, side, rebuilt(sources[side], map));
      }
      default:
        return nullptr;
    }
  }

  NodeRef with(const Node& node, size_t source, NodeRef value) const {
    if (!value) return nullptr;
    std::vector<NodeRef> sources = node.sources;
    sources[source] = std::move(value);
    return builder_.make(node.op, node.dtype, node.shape, std::move(sources), node.attr);
  }

  int behind_views(int i) const {
    while (input_.node(i).op == Op::VIEW) i = input_.sources[i][0];
    return i;
  }
  bool is_zero(int i) const {
    const Node& node = input_.node(behind_views(i));
    return node.op == Op::CONST && node.as<ConstAttr>().value.as_double() == 0;
  }

  /// exp((x - m) * scale), along the keys.
  NodeRef power(int i, const IndexMap& map) {
    if (power_ >= 0 && power_ != i) return nullptr;
    power_ = i;
    const std::optional<SoftmaxPower> found = softmax_power(input_.node(i));
    if (!found || found->x != scores().get() || found->maximum != &input_.node(softmax_.maximum) ||
        found->factors.size() > 1 || found->repeated->op != Op::VIEW ||
        found->repeated->as<ViewAttr>().kind != ViewKind::kExpand ||
        found->repeated->sources[0].get() != found->maximum)
      return nullptr;
    if (!found->factors.empty()) {
      const Node& factor = input_.node(behind_views(input_.index.at(found->factors[0])));
      if (factor.op != Op::CONST) return nullptr;
      scale_ = factor.as<ConstAttr>().value;
    }
    for (int d = 0; d < static_cast<int>(map.axes.size()); ++d) {
      const AxisIndex& axis = map.axes[static_cast<size_t>(d)];
      if (d == axis_ ? !(axis == key_) : (axis.variables & key_.variables) != 0) return nullptr;
    }
    return powered(scores(), of_each(maxima_));
  }

  NodeRef powered(const NodeRef& x, const NodeRef& maximum) const {
    NodeRef exponent = builder_.binary(Op::SUB, x, maximum);
    if (scale_)
      exponent = builder_.binary(Op::MUL, exponent, builder_.constant(*scale_, exponent->shape));
    return builder_.unary(input_.node(power_).op, std::move(exponent));
  }

  /// Of the parts' sums that of all. A part whose scores are all -inf has made NaN, and counts only
  /// where others have no more.
  NodeRef merged(const NodeRef& counts, int along) {
    const DType dtype = maxima_->dtype;
    const auto number = [&](double value, const Shape& shape) {
      return builder_.constant(Scalar::of(dtype, value), shape);
    };
    const Shape& parts = maxima_->shape;
    const NodeRef nothing = number(0, parts);
    const NodeRef some = builder_.binary(Op::CMPNE, maxima_,
                                         number(-std::numeric_limits<double>::infinity(), parts));
    const NodeRef all = builder_.expand(builder_.reduce(Op::MAX, maxima_, {axis_}), parts);
    const NodeRef far = builder_.where(some, powered(maxima_, all), nothing);
    const NodeRef whole = builder_.reduce(
        Op::ADD, builder_.where(some, builder_.binary(Op::MUL, counts, far), nothing), {axis_});
    const NodeRef weights = builder_.binary(Op::FDIV, far, builder_.expand(whole, parts));
    const NodeRef shown = builder_.where(beside(some, along), first_, number(0, first_->shape));
    return builder_.reduce(Op::ADD, builder_.binary(Op::MUL, shown, beside(weights, along)),
                           {along}, dtype);
  }

  /// Of each part, where the sums are: by the way that powers take there.
  NodeRef beside(const NodeRef& part, int along) const {
    NodeRef out = of_each(part);
    for (size_t v = views_.size(); v-- > 0;) {
      const Node& view = input_.node(views_[v]);
      out = builder_.make(Op::VIEW, out->dtype, view.shape, {out}, view.attr);
    }
    out = in_parts(out, along);
    std::vector<std::pair<Dim, Dim>> first;
    for (const Dim& dim : out->shape) first.emplace_back(Dim(0), dim);
    first[static_cast<size_t>(along) + 1].second = Dim(1);
    return builder_.shrink(std::move(out), std::move(first));
  }

  const SchedulerInput& input_;
  const OnlineSoftmax& softmax_;
  Builder& builder_;
  std::vector<bool> leads_;  ///< to the maximum, of what is inside
  int axis_ = 0;             ///< of the scores: keys
  int64_t length_ = 1, parts_ = 1;
  AxisIndex key_;
  NodeRef maxima_, first_;
  int power_ = -1;
  std::optional<Scalar> scale_;
  bool is_divided_ = false;
  std::vector<int> views_;  ///< above the powers, outermost first
};

}  // namespace

std::optional<SplitKv> split_kv(const SchedulerInput& input,
                                const std::vector<OnlineSoftmax>& softmaxes, Builder& builder) {
  FlatMap<const Node*, NodeRef> whole;  // in the place of each sum
  SplitKv out{input.graph, {}};
  for (const OnlineSoftmax& softmax : softmaxes) {
    KvSplitter parter(input, softmax, builder);
    const NodeRef sum = parter.run();
    // One chain may be made of what another gives.
    const std::vector<NodeRef> now = substitute({sum, parter.first()}, whole, builder);
    if (sum) whole.try_emplace(input.nodes[static_cast<size_t>(softmax.sum)].get(), now[0]);
    out.sums.push_back(sum ? now[1] : nullptr);
  }
  if (whole.size() == 0) return std::nullopt;
  out.graph.outputs = substitute(out.graph.outputs, whole, builder);
  return out;
}

}  // namespace tenon::scheduling
