// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The derivative of LOOP: a loop over the iterations from last to first, on the states that the
// forward loop saved (taping.hpp). It carries the adjoints of carried values. Adjoints of captured
// values are summed, or their factors are saved for one contraction at the end (trip_sum.hpp).
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

/// so_far + x. If x is an adding STORE into zeros, stores into so_far instead: an iteration that
/// read one row then updates only that row.
NodeRef accumulated(const NodeRef& so_far, const NodeRef& x, Builder& builder) {
  const bool adds = x->op == Op::STORE && x->as<StoreAttr>().mode == StoreMode::kAdd;
  if (adds && x->sources[0]->op == Op::CONST && x->sources[0]->as<ConstAttr>().value.is_zero())
    return builder.store(so_far, x->sources[1], x->sources[2], x->as<StoreAttr>().axis,
                         StoreMode::kAdd);
  return builder.binary(Op::ADD, so_far, x);
}

double elements(const Node& node) { return static_cast<double>(product(node.shape).max()); }

/// Builds the reverse loop.
class ReverseLoop {
 public:
  ReverseLoop(const NodeRef& node, const Tape& tape, Backward& backward)
      : node_(node),
        tape_(tape),
        backward_(backward),
        builder_(backward.builder()),
        captured_begin_(1 + static_cast<size_t>(node->as<LoopAttr>().carried)) {}

  void run() {
    body_.name = tape_.backward->name;
    body_.symbols = tape_.backward->symbols;
    turn_ = fresh_param(builder_, "turn", *tape_.trips, DType::kI64, body_);
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
      if (save_factors(adjoint))
        contracted_.emplace_back(value, adjoint);
      else
        add_up(value, adjoint);
    }
    // Carried params come before captured ones.
    const auto begin = body_.params.begin() + 1 + static_cast<std::ptrdiff_t>(states.size());
    std::rotate(begin, body_.params.begin() + static_cast<std::ptrdiff_t>(params),
                body_.params.end());
    region_ = std::make_shared<const Graph>(std::move(body_));
    add_adjoints();
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
      params.push_back(fresh_param(builder_, "g" + std::to_string(j), *begin, begin->dtype, body_));
    }
    return params;
  }

  /// Inputs of the adjoint graph of one iteration: its number, its initial states, the captured
  /// values, the adjoints so far, and saved reductions.
  std::vector<NodeRef> inputs(const std::vector<NodeRef>& adjoints) {
    captured_ = {tape_.trips};
    const NodeRef trips = fresh_param(builder_, "trips", *tape_.trips, DType::kI64, body_);
    trip_ = builder_.binary(Op::SUB, builder_.binary(Op::SUB, trips, turn_),
                            builder_.constant(Scalar::of_int(DType::kI64, 1)));
    std::vector<NodeRef> out = {trip_};
    for (size_t j = 0; j < tape_.carried.size(); ++j) {
      const NodeRef& begin = node_->sources[1 + j];
      out.push_back(tape_.saved[j] ? row("kept" + std::to_string(j), tape_.saved[j])
                                   : backward_.zeros(begin, begin->dtype));
    }
    for (size_t i = captured_begin_; i < node_->sources.size(); ++i) {
      const NodeRef& value = node_->sources[i];
      captured_.push_back(value);
      out.push_back(
          fresh_param(builder_, "x" + std::to_string(out.size()), *value, value->dtype, body_));
    }
    out.insert(out.end(), adjoints.begin(), adjoints.end());
    for (const NodeRef& saved : tape_.values)
      out.push_back(row("value" + std::to_string(out.size()), saved));
    return out;
  }

  /// The row of a saved tensor for the current iteration.
  NodeRef row(const std::string& name, const NodeRef& saved) {
    captured_.push_back(saved);
    NodeRef out = row_of(fresh_param(builder_, name, *saved, saved->dtype, body_), trip_, builder_);
    // The row is a reshaped TAKE; factors refer to the TAKE below their views.
    const NodeRef& taken = out->op == Op::VIEW ? out->sources[0] : out;
    Shape shape = taken->shape;
    shape.insert(shape.begin(), saved->shape[0]);
    factors_.try_emplace(taken.get(), builder_.reshape(saved, std::move(shape)));
    return out;
  }

  bool is_saved(const NodeRef& factor) const {
    return factors_.contains(factor.get()) ||
           std::ranges::any_of(factor_results_,
                               [&](const auto& known) { return known.first == factor; });
  }

  /// If the adjoint is a contraction whose factors take less memory traffic than itself, saves rows
  /// of the factors and returns true.
  bool save_factors(const NodeRef& adjoint) {
    const std::vector<NodeRef> factors = factors_of(adjoint);
    double count = 0, bytes = 0;
    for (const NodeRef& factor : factors) {
      if (is_saved(factor)) continue;
      count += elements(*factor);
      bytes += elements(*factor) * static_cast<double>(dtype_size(factor->dtype));
    }
    if (factors.empty() || 2 * count > elements(*adjoint) || bytes > room_) return false;
    room_ -= bytes;
    for (const NodeRef& factor : factors)
      if (!is_saved(factor)) save(factor);
    return true;
  }

  void save(const NodeRef& factor) {
    Shape shape = factor->shape;
    shape.insert(shape.begin(), tape_.rows);
    factor_results_.emplace_back(factor, initial_.size());
    initial_.push_back(builder_.constant(zero(factor->dtype), std::move(shape)));
    const NodeRef rows = fresh_param(builder_, "factor" + std::to_string(initial_.size()),
                                     *initial_.back(), factor->dtype, body_);
    body_.outputs.push_back(with_row(rows, trip_, factor, builder_));
  }

  void add_up(const NodeRef& value, const NodeRef& adjoint) {
    results_.emplace_back(value, initial_.size());
    initial_.push_back(backward_.zeros(value, wide(value->dtype)));
    const NodeRef so_far = fresh_param(builder_, "sum" + std::to_string(initial_.size()), *value,
                                       wide(value->dtype), body_);
    body_.outputs.push_back(accumulated(so_far, adjoint, builder_));
  }

  void add_adjoints() {
    const auto result = [&](size_t i) {
      return builder_.loop(tape_.trips, initial_, captured_, region_, /*is_while=*/false,
                           static_cast<int>(i));
    };
    for (const auto& [value, i] : results_)
      if (backward_.needs_adjoint(value)) backward_.accumulate(value, result(i));
    for (const auto& [factor, i] : factor_results_) factors_.try_emplace(factor.get(), result(i));
    for (const auto& [value, adjoint] : contracted_)
      if (backward_.needs_adjoint(value))
        backward_.accumulate(value, summed_over_trips(adjoint, factors_, builder_));
  }

  const NodeRef& node_;
  const Tape& tape_;
  Backward& backward_;
  Builder& builder_;
  const size_t captured_begin_;  ///< index into the sources of the node
  Graph body_;
  GraphRef region_;
  NodeRef turn_, trip_;
  std::vector<NodeRef> initial_, captured_;
  std::vector<std::pair<NodeRef, size_t>>
      results_;  ///< value and index of the result that is its adjoint
  std::vector<std::pair<NodeRef, size_t>>
      factor_results_;  ///< factor and index of the result with its rows
  std::vector<std::pair<NodeRef, NodeRef>>
      contracted_;                         ///< values and their adjoints in one iteration
  FlatMap<const Node*, NodeRef> factors_;  ///< rows, by the value in one iteration
  double room_ = tape_.room;
};

}  // namespace

void through_loop(const NodeRef& node, const NodeRef& /*adjoint*/, Backward& backward) {
  const Tape* const tape = backward.tape_of(node);
  TN_ASSERT(tape);
  ReverseLoop(node, *tape, backward).run();
}

}  // namespace tenon::autodiff
