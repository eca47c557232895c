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
constexpr double kMostIdle = 1.25;  // available unit time to used unit time
constexpr double kPerUnit = 4;      // parts a unit, so that all units finish at about the same time
constexpr double kShortest = 512;   // keys: a shorter part is not worth its results in memory
constexpr int64_t kMore = 8;        // at most so many times the wanted parts, to find a divisor

/// Splits one softmax(scores) @ values, whose weights are exp((x - m) * scale) / sum.
class KvSplitter {
 public:
  KvSplitter(const SchedulerInput& input, const OnlineSoftmax& softmax, Builder& builder)
      : input_(input), softmax_(softmax), builder_(builder), depends_(input.nodes.size()) {
    depends_[static_cast<size_t>(softmax.maximum)] = true;
    std::vector<int> fused_nodes = softmax.fused_nodes;
    std::ranges::sort(fused_nodes);
    for (const int i : fused_nodes)
      for (const int s : input.sources[i])
        if (depends_[static_cast<size_t>(s)]) depends_[static_cast<size_t>(i)] = true;
  }

  /// The replacement of the sum; null if the pattern differs or there are rows for all units.
  NodeRef run() {
    if (softmax_.row_sums.size() != 1 || !softmax_.extra_outputs.empty()) return nullptr;
    const Node &maximum = input_.node(softmax_.maximum), &row = input_.node(softmax_.row_sums[0]),
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
    maxima_ = builder_.reduce(Op::MAX, split_in_parts(scores(), axis_), {axis_ + 1});
    const NodeRef powers = terms(row.sources[0], axis_);
    if (!powers || is_divided_) return nullptr;
    const int along = sum.as<ReduceAttr>().axes[0];
    NodeRef products = terms(sum.sources[0], along);
    if (!products || !is_divided_) return nullptr;
    const NodeRef counts = builder_.reduce(Op::ADD, split_in_parts(powers, axis_), {axis_ + 1});
    products = split_product_in_parts(products, along);
    if (products->dtype != dtype) products = builder_.cast(products, dtype);
    first_ = builder_.reduce(Op::ADD, products, {along + 1}, dtype, sum.as<ReduceAttr>().precision);
    NodeRef out = builder_.reshape(merged(counts, along), sum.shape);
    return sum.dtype == dtype ? out : builder_.cast(std::move(out), sum.dtype);
  }

  /// The sums of the first stage.
  const NodeRef& first() const { return first_; }

 private:
  const NodeRef& scores() const { return input_.node(softmax_.maximum).sources[0]; }
  int at(const NodeRef& node) const { return input_.at(node); }
  bool depends(int i) const { return depends_[static_cast<size_t>(i)]; }

  /// Number of key sets: the product of the other axes that the key operand depends on. 0 if
  /// unknown.
  double sets_of_keys() const {
    IndexMap map = identity_map(scores()->shape);
    const uint64_t key = map.axes[static_cast<size_t>(axis_)].variables;
    const int product = softmax_.product;
    if (!trace_to(input_, at(scores()), product, map)) return 0;
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

  /// Splits the axis into (part, position in the part).
  NodeRef split_in_parts(const NodeRef& x, int axis) const {
    return builder_.reshape(x, split(x->shape, axis));
  }
  /// The same of products: splits both factors, so that they stay products.
  NodeRef split_product_in_parts(const NodeRef& x, int axis) const {
    if (x->op == Op::CAST)
      return builder_.cast(split_product_in_parts(x->sources[0], axis), x->dtype);
    if (x->op != Op::MUL) return split_in_parts(x, axis);
    return builder_.binary(Op::MUL, split_in_parts(x->sources[0], axis),
                           split_in_parts(x->sources[1], axis));
  }
  Shape split(Shape shape, int axis) const {
    shape[static_cast<size_t>(axis)] = Dim(length_ / parts_);
    shape.insert(shape.begin() + axis, Dim(parts_));
    return shape;
  }
  /// A value of each part, repeated to the shape of the scores.
  NodeRef broadcast_part(const NodeRef& part) const {
    return builder_.reshape(builder_.expand(part, split(scores()->shape, axis_)), scores()->shape);
  }

  /// The terms of a sum over the keys, with the part's maximum and without the division by the sum.
  /// Null if they have another form.
  NodeRef terms(const NodeRef& of, int axis) {
    const IndexMap map = identity_map(of->shape);
    key_ = map.axes[static_cast<size_t>(axis)];
    views_.clear();
    return rebuilt(at(of), map);
  }

  NodeRef rebuilt(int i, const IndexMap& map) {
    const Node& node = input_.node(i);
    const std::vector<int>& sources = input_.sources[i];
    if (!depends(i)) return nullptr;
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
        if (!depends(sources[1])) return with(node, 0, rebuilt(sources[0], map));
        if (strip_views(sources[1]) != softmax_.row_sums[0] || is_divided_) return nullptr;
        is_divided_ = true;
        return rebuilt(sources[0], map);
      case Op::MUL:
      case Op::WHERE: {
        const size_t first = node.op == Op::WHERE ? 1 : 0;
        const bool left = depends(sources[first]), right = depends(sources[first + 1]);
        if (left == right || depends(sources[0]) != (left && first == 0)) return nullptr;
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

  int strip_views(int i) const {
    while (input_.node(i).op == Op::VIEW) i = input_.sources[i][0];
    return i;
  }
  bool is_zero(int i) const {
    const Node& node = input_.node(strip_views(i));
    return node.op == Op::CONST && node.as<ConstAttr>().value.as_double() == 0;
  }

  /// Rebuilds exp((x - m) * scale) with the part's maximum.
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
      const Node& factor = input_.node(strip_views(input_.index.at(found->factors[0])));
      if (factor.op != Op::CONST) return nullptr;
      scale_ = factor.as<ConstAttr>().value;
    }
    for (int d = 0; d < static_cast<int>(map.axes.size()); ++d) {
      const AxisIndex& axis = map.axes[static_cast<size_t>(d)];
      if (d == axis_ ? !(axis == key_) : (axis.variables & key_.variables) != 0) return nullptr;
    }
    return powered(scores(), broadcast_part(maxima_));
  }

  NodeRef powered(const NodeRef& x, const NodeRef& maximum) const {
    NodeRef exponent = builder_.binary(Op::SUB, x, maximum);
    if (scale_)
      exponent = builder_.binary(Op::MUL, exponent, builder_.constant(*scale_, exponent->shape));
    return builder_.unary(input_.node(power_).op, std::move(exponent));
  }

  /// The sum over all parts, rescaled. A part whose scores are all -inf gives NaN: it is left out,
  /// unless all parts are so.
  NodeRef merged(const NodeRef& counts, int along) {
    const DType dtype = maxima_->dtype;
    const auto number = [&](double value, const Shape& shape) {
      return builder_.constant(Scalar::of(dtype, value), shape);
    };
    const Shape& parts = maxima_->shape;
    const NodeRef nothing = number(0, parts);
    const NodeRef has_scores = builder_.binary(
        Op::CMPNE, maxima_, number(-std::numeric_limits<double>::infinity(), parts));
    const NodeRef all = builder_.expand(builder_.reduce(Op::MAX, maxima_, {axis_}), parts);
    const NodeRef rescale = builder_.where(has_scores, powered(maxima_, all), nothing);
    const NodeRef whole = builder_.reduce(
        Op::ADD, builder_.where(has_scores, builder_.binary(Op::MUL, counts, rescale), nothing),
        {axis_});
    const NodeRef weights = builder_.binary(Op::FDIV, rescale, builder_.expand(whole, parts));
    const NodeRef valid =
        builder_.where(in_sums(has_scores, along), first_, number(0, first_->shape));
    return builder_.reduce(Op::ADD, builder_.binary(Op::MUL, valid, in_sums(weights, along)),
                           {along}, dtype);
  }

  /// A value of each part in the shape of the first-stage sums: through the views that lie between
  /// the powers and the sums.
  NodeRef in_sums(const NodeRef& part, int along) const {
    NodeRef out = broadcast_part(part);
    for (size_t v = views_.size(); v-- > 0;) {
      const Node& view = input_.node(views_[v]);
      out = builder_.make(Op::VIEW, out->dtype, view.shape, {out}, view.attr);
    }
    out = split_in_parts(out, along);
    std::vector<std::pair<Dim, Dim>> first;
    for (const Dim& dim : out->shape) first.emplace_back(Dim(0), dim);
    first[static_cast<size_t>(along) + 1].second = Dim(1);
    return builder_.shrink(std::move(out), std::move(first));
  }

  const SchedulerInput& input_;
  const OnlineSoftmax& softmax_;
  Builder& builder_;
  std::vector<bool> depends_;  ///< fused nodes that depend on the maximum
  int axis_ = 0;               ///< axis of the keys in the scores
  int64_t length_ = 1, parts_ = 1;
  AxisIndex key_;
  NodeRef maxima_, first_;
  int power_ = -1;
  std::optional<Scalar> scale_;
  bool is_divided_ = false;
  std::vector<int> views_;  ///< between the powers and the sum, outermost first
};

}  // namespace

std::optional<SplitKv> split_kv(const SchedulerInput& input,
                                const std::vector<OnlineSoftmax>& softmaxes, Builder& builder) {
  FlatMap<const Node*, NodeRef> whole;  // replacement of each sum
  SplitKv out{input.graph, {}};
  for (const OnlineSoftmax& softmax : softmaxes) {
    KvSplitter splitter(input, softmax, builder);
    const NodeRef sum = splitter.run();
    // One softmax may take the result of another.
    const std::vector<NodeRef> now = substitute({sum, splitter.first()}, whole, builder);
    if (sum) whole.try_emplace(input.nodes[static_cast<size_t>(softmax.sum)].get(), now[0]);
    out.sums.push_back(sum ? now[1] : nullptr);
  }
  if (whole.size() == 0) return std::nullopt;
  out.graph.outputs = substitute(out.graph.outputs, whole, builder);
  return out;
}

}  // namespace tenon::scheduling
