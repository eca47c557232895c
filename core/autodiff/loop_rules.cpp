// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The derivative of LOOP: a loop that runs the trips again from the last to the first, on the
// states that the first one kept (taping.hpp). It carries the adjoints of the carried values, and
// sums those of the captured ones, or keeps what they are products of (trip_sum.hpp).
#include <algorithm>

#include "core/autodiff/backward.hpp"
#include "core/autodiff/rules.hpp"
#include "core/autodiff/trip_sum.hpp"
#include "core/ir/rows.hpp"
#include "core/ir/substitute.hpp"
#include "core/support/error.hpp"

namespace tenon::autodiff {
namespace {

NodeRef same_dtype(const NodeRef& x, DType dtype, Builder& builder) {
  return x->dtype == dtype ? x : builder.cast(x, dtype);
}

/// so_far + x. What is zeros but where something was added is added there: of a trip that read a
/// row of many, the other rows stay as they are.
NodeRef added(const NodeRef& so_far, const NodeRef& x, Builder& builder) {
  const bool adds = x->op == Op::STORE && x->as<StoreAttr>().mode == StoreMode::kAdd;
  if (adds && x->sources[0]->op == Op::CONST && x->sources[0]->as<ConstAttr>().value.is_zero())
    return builder.store(so_far, x->sources[1], x->sources[2], x->as<StoreAttr>().axis,
                         StoreMode::kAdd);
  return builder.binary(Op::ADD, so_far, x);
}

double elements(const Node& node) { return static_cast<double>(product(node.shape).max()); }

/// The loop that goes back.
class LoopBack {
 public:
  LoopBack(const NodeRef& node, const Tape& tape, Backward& backward)
      : node_(node),
        tape_(tape),
        backward_(backward),
        builder_(backward.builder()),
        captured_begin_(1 + static_cast<size_t>(node->as<LoopAttr>().carried)) {}

  void run() {
    body_.name = tape_.backward->name;
    body_.symbols = tape_.backward->symbols;
    turn_ = own_param(builder_, "turn", *tape_.trips, DType::kI64, body_);
    const std::vector<NodeRef> states = carry_adjoints();
    const std::vector<NodeRef> of_trip = apply(*tape_.backward, inputs(states), builder_);
    for (size_t i = 0; i < states.size(); ++i)
      body_.outputs.push_back(same_dtype(of_trip[i], initial_[i]->dtype, builder_));
    const size_t params = body_.params.size();
    size_t at = states.size();
    for (size_t k = 0; k < tape_.captured.size(); ++k) {
      if (!tape_.captured[k]) continue;
      const NodeRef& value = node_->sources[captured_begin_ + k];
      const NodeRef& adjoint = of_trip[at++];
      if (keep_factors(adjoint))
        contracted_.emplace_back(value, adjoint);
      else
        add_up(value, adjoint);
    }
    // What is carried stands before what is captured.
    const auto begin = body_.params.begin() + 1 + static_cast<std::ptrdiff_t>(states.size());
    std::rotate(begin, body_.params.begin() + static_cast<std::ptrdiff_t>(params),
                body_.params.end());
    region_ = std::make_shared<const Graph>(std::move(body_));
    give();
  }

 private:
  /// An adjoint for each carried value.
  std::vector<NodeRef> carry_adjoints() {
    const std::vector<NodeRef> adjoints = backward_.adjoints_of_results(node_);
    std::vector<NodeRef> params;
    for (size_t j = 0; j < tape_.carried.size(); ++j) {
      if (!tape_.carried[j]) continue;
      const NodeRef& begin = node_->sources[1 + j];
      results_.emplace_back(begin, initial_.size());
      initial_.push_back(adjoints[j] ? adjoints[j] : backward_.zeros(begin, begin->dtype));
      params.push_back(own_param(builder_, "g" + std::to_string(j), *begin, begin->dtype, body_));
    }
    return params;
  }

  /// Of the adjoints of one trip: its number, the states it began with, what the loop captured, the
  /// adjoints so far, kept values. They come from the number of trips, rows and captured values.
  std::vector<NodeRef> inputs(const std::vector<NodeRef>& adjoints) {
    captured_ = {tape_.trips};
    const NodeRef trips = own_param(builder_, "trips", *tape_.trips, DType::kI64, body_);
    trip_ = builder_.binary(Op::SUB, builder_.binary(Op::SUB, trips, turn_),
                            builder_.constant(Scalar::of_int(DType::kI64, 1)));
    std::vector<NodeRef> out = {trip_};
    for (size_t j = 0; j < tape_.carried.size(); ++j) {
      const NodeRef& begin = node_->sources[1 + j];
      out.push_back(tape_.kept[j] ? row("kept" + std::to_string(j), tape_.kept[j])
                                  : backward_.zeros(begin, begin->dtype));
    }
    for (size_t i = captured_begin_; i < node_->sources.size(); ++i) {
      const NodeRef& value = node_->sources[i];
      captured_.push_back(value);
      out.push_back(
          own_param(builder_, "x" + std::to_string(out.size()), *value, value->dtype, body_));
    }
    out.insert(out.end(), adjoints.begin(), adjoints.end());
    for (const NodeRef& kept : tape_.values)
      out.push_back(row("value" + std::to_string(out.size()), kept));
    return out;
  }

  /// The trip's row of what the loop kept.
  NodeRef row(const std::string& name, const NodeRef& kept) {
    captured_.push_back(kept);
    NodeRef out = row_of(own_param(builder_, name, *kept, kept->dtype, body_), trip_, builder_);
    // A reshaped TAKE: where the views of a factor begin.
    const NodeRef& taken = out->op == Op::VIEW ? out->sources[0] : out;
    Shape shape = taken->shape;
    shape.insert(shape.begin(), kept->shape[0]);
    factors_.try_emplace(taken.get(), builder_.reshape(kept, std::move(shape)));
    return out;
  }

  bool is_kept(const NodeRef& factor) const {
    return factors_.contains(factor.get()) ||
           std::ranges::any_of(factor_results_,
                               [&](const auto& known) { return known.first == factor; });
  }

  /// Whether the adjoint is a contraction whose factors are less to write and to read again than
  /// itself: rows of them are carried.
  bool keep_factors(const NodeRef& adjoint) {
    const std::vector<NodeRef> factors = factors_of(adjoint);
    double count = 0, bytes = 0;
    for (const NodeRef& factor : factors) {
      if (is_kept(factor)) continue;
      count += elements(*factor);
      bytes += elements(*factor) * static_cast<double>(dtype_size(factor->dtype));
    }
    if (factors.empty() || 2 * count > elements(*adjoint) || bytes > room_) return false;
    room_ -= bytes;
    for (const NodeRef& factor : factors)
      if (!is_kept(factor)) keep(factor);
    return true;
  }

  void keep(const NodeRef& factor) {
    Shape shape = factor->shape;
    shape.insert(shape.begin(), tape_.rows);
    factor_results_.emplace_back(factor, initial_.size());
    initial_.push_back(builder_.constant(zero(factor->dtype), std::move(shape)));
    const NodeRef rows = own_param(builder_, "factor" + std::to_string(initial_.size()),
                                   *initial_.back(), factor->dtype, body_);
    body_.outputs.push_back(with_row(rows, trip_, factor, builder_));
  }

  void add_up(const NodeRef& value, const NodeRef& adjoint) {
    results_.emplace_back(value, initial_.size());
    initial_.push_back(backward_.zeros(value, wide(value->dtype)));
    const NodeRef so_far = own_param(builder_, "sum" + std::to_string(initial_.size()), *value,
                                     wide(value->dtype), body_);
    body_.outputs.push_back(added(so_far, adjoint, builder_));
  }

  void give() {
    const auto result = [&](size_t i) {
      return builder_.loop(tape_.trips, initial_, captured_, region_, /*is_while=*/false,
                           static_cast<int>(i));
    };
    for (const auto& [value, i] : results_)
      if (backward_.wants(value)) backward_.give(value, result(i));
    for (const auto& [factor, i] : factor_results_) factors_.try_emplace(factor.get(), result(i));
    for (const auto& [value, adjoint] : contracted_)
      if (backward_.wants(value))
        backward_.give(value, summed_over_trips(adjoint, factors_, builder_));
  }

  const NodeRef& node_;
  const Tape& tape_;
  Backward& backward_;
  Builder& builder_;
  const size_t captured_begin_;  ///< of the node's sources
  Graph body_;
  GraphRef region_;
  NodeRef turn_, trip_;
  std::vector<NodeRef> initial_, captured_;
  std::vector<std::pair<NodeRef, size_t>> results_;         ///< whose adjoint each result is
  std::vector<std::pair<NodeRef, size_t>> factor_results_;  ///< whose rows each result is
  std::vector<std::pair<NodeRef, NodeRef>> contracted_;     ///< values, their adjoints of a trip
  FlatMap<const Node*, NodeRef> factors_;                   ///< rows, by the value of a trip
  double room_ = tape_.room;
};

}  // namespace

void through_loop(const NodeRef& node, const NodeRef& /*adjoint*/, Backward& backward) {
  const Tape* const tape = backward.tape_of(node);
  TN_ASSERT(tape);
  LoopBack(node, *tape, backward).run();
}

}  // namespace tenon::autodiff
