// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The derivative of LOOP: a loop that runs the trips again from the last to the first, on the
// states that the first one kept (taping.hpp). It carries the adjoints of the carried values, and
// sums those of the captured ones.
#include "core/autodiff/backward.hpp"
#include "core/autodiff/rules.hpp"
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

}  // namespace

void through_loop(const NodeRef& node, const NodeRef& /*adjoint*/, Backward& backward) {
  const Tape* const tape = backward.tape_of(node);
  TN_ASSERT(tape);
  Builder& builder = backward.builder();
  const auto& attr = node->as<LoopAttr>();
  const std::vector<NodeRef> adjoints = backward.adjoints_of_results(node);
  const size_t carried = tape->carried.size();
  const auto sources_of_captured = node->sources.begin() + 1 + attr.carried;

  Graph body;
  body.name = tape->backward->name;
  body.symbols = tape->backward->symbols;
  const NodeRef turn = own_param(builder, "turn", *tape->trips, DType::kI64, body);
  // Carried: an adjoint for each carried value, a sum for each captured one.
  std::vector<NodeRef> initial, targets;
  for (size_t j = 0; j < carried; ++j) {
    if (!tape->carried[j]) continue;
    const NodeRef& begin = node->sources[1 + j];
    targets.push_back(begin);
    initial.push_back(adjoints[j] ? adjoints[j] : backward.zeros(begin, begin->dtype));
    own_param(builder, "g" + std::to_string(j), *begin, begin->dtype, body);
  }
  const size_t states = initial.size();
  for (size_t k = 0; k < tape->captured.size(); ++k) {
    if (!tape->captured[k]) continue;
    const NodeRef& value = sources_of_captured[static_cast<std::ptrdiff_t>(k)];
    targets.push_back(value);
    initial.push_back(backward.zeros(value, wide(value->dtype)));
    own_param(builder, "sum" + std::to_string(k), *value, wide(value->dtype), body);
  }
  const std::vector<NodeRef> so_far(body.params.begin() + 1, body.params.end());
  // Captured: the number of trips, the kept states, what the loop captured.
  std::vector<NodeRef> captured = {tape->trips};
  const NodeRef trips = own_param(builder, "trips", *tape->trips, DType::kI64, body);
  const NodeRef trip = builder.binary(Op::SUB, builder.binary(Op::SUB, trips, turn),
                                      builder.constant(Scalar::of_int(DType::kI64, 1)));
  std::vector<NodeRef> inputs = {trip};
  for (size_t j = 0; j < carried; ++j) {
    if (tape->kept[j]) {
      captured.push_back(tape->kept[j]);
      const NodeRef rows = own_param(builder, "kept" + std::to_string(j), *tape->kept[j],
                                     tape->kept[j]->dtype, body);
      inputs.push_back(row_of(rows, trip, builder));
    } else {
      inputs.push_back(backward.zeros(node->sources[1 + j], node->sources[1 + j]->dtype));
    }
  }
  for (auto value = sources_of_captured; value != node->sources.end(); ++value) {
    captured.push_back(*value);
    inputs.push_back(
        own_param(builder, "x" + std::to_string(inputs.size()), **value, (*value)->dtype, body));
  }
  inputs.insert(inputs.end(), so_far.begin(), so_far.begin() + static_cast<std::ptrdiff_t>(states));
  for (const NodeRef& kept : tape->values) {
    captured.push_back(kept);
    const NodeRef rows =
        own_param(builder, "value" + std::to_string(inputs.size()), *kept, kept->dtype, body);
    inputs.push_back(row_of(rows, trip, builder));
  }
  const std::vector<NodeRef> of_trip = apply(*tape->backward, inputs, builder);
  for (size_t i = 0; i < initial.size(); ++i)
    body.outputs.push_back(i < states ? same_dtype(of_trip[i], initial[i]->dtype, builder)
                                      : added(so_far[i], of_trip[i], builder));
  const auto region = std::make_shared<const Graph>(std::move(body));
  for (size_t i = 0; i < targets.size(); ++i)
    if (backward.wants(targets[i]))
      backward.give(targets[i], builder.loop(tape->trips, initial, captured, region,
                                             /*is_while=*/false, static_cast<int>(i)));
}

}  // namespace tenon::autodiff
