// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/control_flow.hpp"

#include <fmt/format.h>

#include <limits>

#include "core/ir/rows.hpp"
#include "core/ir/substitute.hpp"
#include "core/support/error.hpp"
#include "frontend/tensor/sizes.hpp"
#include "frontend/tensor/trace.hpp"

namespace tenon {
namespace {

using Tensors = std::vector<Tensor>;
using Nodes = std::vector<NodeRef>;

NodeRef node_here(const char* op, Context& context, const Tensor& x) {
  if (!is_number(x)) return node_in(context, x);
  return builder_of(context).constant(x.state()->number->as(op, x.dtype()));
}

Nodes nodes_here(const char* op, Context& context, const Tensors& tensors) {
  Nodes out;
  for (const Tensor& x : tensors) out.push_back(node_here(op, context, x));
  return out;
}

template <class F>
void check_function(const char* op, const char* what, const F& f) {
  TN_REQUIRE(f, "[{}] expected a {}, got an empty function", op, what);
}

/// What a body gave for the carried values, of their types.
Tensors next_values(const char* op, Context& context, const Nodes& before, const Tensors& after) {
  TN_REQUIRE(after.size() == before.size(),
             "[{}] expected a body that gives {} carried values, as there are, got {}", op,
             before.size(), after.size());
  Tensors out;
  for (size_t i = 0; i < after.size(); ++i) {
    const Node& old = *before[i];
    const NodeRef node =
        is_number(after[i]) && old.shape.empty()
            ? builder_of(context).constant(after[i].state()->number->as(op, old.dtype))
            : node_here(op, context, after[i]);
    TN_REQUIRE(node->dtype == old.dtype && same_shape(node->shape, old.shape),
               "[{}] expected a body that keeps the type of carried value {}, {}, got {} from it",
               op, i, type_string(old), type_string(*node));
    out.push_back(make_tensor(context, node));
  }
  return out;
}

/// An integer of rank 0 as i64[].
NodeRef integer(const char* op, const char* what, Context& context, const Tensor& x) {
  TN_REQUIRE(!is_float(x.dtype()) && x.dtype() != DType::kBool && x.rank() == 0,
             "[{}] expected {} as an integer of rank 0, got {}", op, what,
             type_string(x.dtype(), dims_of(x)));
  const NodeRef node = node_here(op, context, x);
  return node->dtype == DType::kI64 ? node : builder_of(context).cast(node, DType::kI64);
}

NodeRef counted(Context& context, int64_t value) {
  return builder_of(context).constant(Scalar::of_int(DType::kI64, value));
}

Tensors results_of(Context& context, const NodeRef& trips, const Nodes& initial,
                   const Nodes& captured, const GraphRef& body, bool is_while) {
  Tensors out;
  for (size_t r = 0; r < initial.size(); ++r)
    out.push_back(make_tensor(context, builder_of(context).loop(trips, initial, captured, body,
                                                                is_while, static_cast<int>(r))));
  return out;
}

GraphRef finished(const char* op, Context& context, Graph graph) {
  graph.name = op;
  graph.output_names.assign(graph.outputs.size(), "");
  graph.symbols = symbols_in(op, graph);
  return context.impl().bodies.one_of(std::move(graph));
}

/// Of all inputs, the first of which says it; or given.
Dim length_of(const char* op, const Tensors& inputs, const ScanOptions& options) {
  TN_REQUIRE(!inputs.empty() || options.length,
             "[{}] expected inputs or a length that say the number of steps, got neither", op);
  std::optional<Dim> length;
  if (options.length) length = dim_of(*options.length);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Shape& shape = dims_of(inputs[i]);
    TN_REQUIRE(!shape.empty(), "[{}] expected inputs [n, ..], got input {} of rank 0", op, i);
    if (!length) length = shape[0];
    TN_REQUIRE(shape[0] == *length, "[{}] expected inputs of {} rows, got {} of input {}", op,
               to_string(*length), to_string(shape[0]), i);
  }
  return *length;
}

Nodes joined(std::initializer_list<Nodes> lists) {
  Nodes out;
  for (const Nodes& list : lists) out.insert(out.end(), list.begin(), list.end());
  return out;
}

}  // namespace

Scanned scan(const std::function<Scanned(const Tensors&, const Tensors&)>& body,
             const Tensors& carried, const Tensors& inputs, const ScanOptions& options) {
  const char* const op = "scan";
  check_function(op, "body", body);
  Context& context = context_of(op, {carried, inputs});
  Builder& builder = builder_of(context);
  const Dim length = length_of(op, inputs, options);
  const Nodes initial = nodes_here(op, context, carried), rows = nodes_here(op, context, inputs);
  Nodes like = initial;
  for (const NodeRef& x : rows)
    like.push_back(builder.constant(zero(x->dtype), {x->shape.begin() + 1, x->shape.end()}));
  const Traced step = trace(
      op,
      [&](const Tensors& arguments) {
        const auto cut = arguments.begin() + static_cast<std::ptrdiff_t>(initial.size());
        const Scanned given = body({arguments.begin(), cut}, {cut, arguments.end()});
        Tensors all = next_values(op, context, initial, given.carried);
        for (const Tensor& x : given.outputs)
          all.push_back(make_tensor(context, node_here(op, context, x)));
        return all;
      },
      like, context);

  // A trip reads its rows, and stores what it gives as rows of values that are carried too.
  const NodeRef trips = length.is_const() ? counted(context, length.value()) : builder.dim(length);
  Nodes stacked;
  for (size_t r = initial.size(); r < step.body->outputs.size(); ++r) {
    const Node& row = *step.body->outputs[r];
    Shape shape = row.shape;
    shape.insert(shape.begin(), length);
    stacked.push_back(builder.constant(zero(row.dtype), std::move(shape)));
  }
  Graph trip;
  const auto params = [&](const Nodes& of) {
    Nodes out;
    for (const NodeRef& node : of)
      out.push_back(
          fresh_param(builder, "x" + std::to_string(trip.params.size()), *node, node->dtype, trip));
    return out;
  };
  NodeRef at = params({trips})[0];
  const Nodes state = params(initial), outputs = params(stacked), all_rows = params(rows),
              fixed = params(step.captured);
  if (options.reverse) {
    const NodeRef last =
        length.is_const() ? counted(context, length.value() - 1) : builder.dim(length - 1);
    at = builder.binary(Op::SUB, last, at);
  }
  Nodes of_trip;
  for (const NodeRef& x : all_rows) of_trip.push_back(row_of(x, at, builder));
  trip.outputs = apply(*step.body, joined({state, of_trip, fixed}), builder);
  for (size_t i = 0; i < outputs.size(); ++i) {
    NodeRef& output = trip.outputs[initial.size() + i];
    output = with_row(outputs[i], at, output, builder);
  }
  Tensors results =
      results_of(context, trips, joined({initial, stacked}), joined({rows, step.captured}),
                 finished(op, context, std::move(trip)), /*is_while=*/false);
  const auto cut = results.begin() + static_cast<std::ptrdiff_t>(initial.size());
  return {{results.begin(), cut}, {cut, results.end()}};
}

Tensors fori_loop(const Tensor& begin, const Tensor& end,
                  const std::function<Tensors(const Tensor&, const Tensors&)>& body,
                  const Tensors& carried) {
  const char* const op = "fori_loop";
  check_function(op, "body", body);
  const Tensor range[] = {begin, end};
  Context& context = context_of(op, {carried, range});
  Builder& builder = builder_of(context);
  const NodeRef first = integer(op, "begin", context, begin),
                last = integer(op, "end", context, end);
  const bool from_zero = first->op == Op::CONST && first->as<ConstAttr>().value.is_zero();
  NodeRef trips = from_zero ? last : builder.binary(Op::SUB, last, first);
  if (first->op == Op::CONST && last->op == Op::CONST) {
    const int64_t from = first->as<ConstAttr>().value.as_int();
    const int64_t to = last->as<ConstAttr>().value.as_int();
    int64_t count = 0;
    TN_REQUIRE(to <= from || !__builtin_sub_overflow(to, from, &count),
               "[{}] expected fewer than 2^63 trips, got {} to {}", op, from, to);
    trips = counted(context, count);
  }
  const Nodes initial = nodes_here(op, context, carried);
  const Traced traced = trace(
      op,
      [&](const Tensors& arguments) {
        Tensor i = arguments[0];
        if (!from_zero) i = make_tensor(context, builder.binary(Op::ADD, node_of(i), first));
        return next_values(op, context, initial, body(i, {arguments.begin() + 1, arguments.end()}));
      },
      joined({{trips}, initial}), context);
  return results_of(context, trips, initial, traced.captured, traced.body, /*is_while=*/false);
}

Tensors while_loop(const std::function<Tensor(const Tensors&)>& condition,
                   const std::function<Tensors(const Tensors&)>& body, const Tensors& carried,
                   const WhileOptions& options) {
  const char* const op = "while_loop";
  check_function(op, "condition", condition);
  check_function(op, "body", body);
  TN_REQUIRE(!options.max_trips || *options.max_trips >= 0,
             "[{}] expected at least 0 trips at most, got {}", op, options.max_trips.value_or(0));
  Context& context = context_of(op, {carried});
  const Nodes initial = nodes_here(op, context, carried);
  const NodeRef trips =
      counted(context, options.max_trips.value_or(std::numeric_limits<int64_t>::max()));
  const Traced traced = trace(
      op,
      [&](const Tensors& arguments) {
        const Tensors values(arguments.begin() + 1, arguments.end());
        const Tensor goes_on = condition(values);
        TN_REQUIRE(goes_on.dtype() == DType::kBool && goes_on.rank() == 0,
                   "[{}] expected a condition that gives bool[], got {}", op,
                   type_string(goes_on.dtype(), dims_of(goes_on)));
        Tensors all = next_values(op, context, initial, body(values));
        all.insert(all.begin(), make_tensor(context, node_here(op, context, goes_on)));
        return all;
      },
      joined({{trips}, initial}), context);
  return results_of(context, trips, initial, traced.captured, traced.body, /*is_while=*/true);
}

Tensors cond(const Tensor& condition, const std::function<Tensors(const Tensors&)>& yes,
             const std::function<Tensors(const Tensors&)>& no, const Tensors& operands) {
  const char* const op = "cond";
  check_function(op, "function for true", yes);
  check_function(op, "function for false", no);
  const Tensor conditions[] = {condition};
  Context& context = context_of(op, {conditions, operands});
  Builder& builder = builder_of(context);
  TN_REQUIRE(condition.dtype() == DType::kBool && condition.rank() == 0,
             "[{}] expected a condition bool[], got {}", op,
             type_string(condition.dtype(), dims_of(condition)));
  const Nodes given = nodes_here(op, context, operands);
  const auto branch = [&](const std::function<Tensors(const Tensors&)>& f) {
    return trace(
        op,
        [&](const Tensors& arguments) {
          Tensors all;
          for (const Tensor& x : f(arguments))
            all.push_back(make_tensor(context, node_here(op, context, x)));
          return all;
        },
        given, context);
  };
  const Traced a = branch(yes), b = branch(no);
  const Nodes &left = a.body->outputs, &right = b.body->outputs;
  TN_REQUIRE(left.size() == right.size(),
             "[{}] expected branches that give as many tensors, got {} where true and {} where "
             "false",
             op, left.size(), right.size());
  for (size_t r = 0; r < left.size(); ++r)
    TN_REQUIRE(left[r]->dtype == right[r]->dtype && same_shape(left[r]->shape, right[r]->shape),
               "[{}] expected branches that give the same types, got {} where true and {} where "
               "false of tensor {}",
               op, type_string(*left[r]), type_string(*right[r]), r);
  // Both take what either uses.
  const Nodes used = joined({given, a.captured, b.captured});
  const auto region = [&](const Traced& of, size_t skipped) {
    Graph graph;
    for (const NodeRef& node : used)
      fresh_param(builder, "x" + std::to_string(graph.params.size()), *node, node->dtype, graph);
    const auto own = graph.params.begin() + static_cast<std::ptrdiff_t>(given.size());
    const auto begin = own + static_cast<std::ptrdiff_t>(skipped);
    const Nodes inputs = joined({{graph.params.begin(), own},
                                 {begin, begin + static_cast<std::ptrdiff_t>(of.captured.size())}});
    graph.outputs = apply(*of.body, inputs, builder);
    return finished(op, context, std::move(graph));
  };
  const GraphRef then_graph = region(a, 0), else_graph = region(b, a.captured.size());
  const NodeRef at = node_here(op, context, condition);
  Tensors out;
  for (size_t r = 0; r < left.size(); ++r)
    out.push_back(
        make_tensor(context, builder.if_(at, used, then_graph, else_graph, static_cast<int>(r))));
  return out;
}

}  // namespace tenon
