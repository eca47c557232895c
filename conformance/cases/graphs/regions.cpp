// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/cases/graphs/regions.hpp"

namespace tenon::conformance::graphs {
namespace {

GraphRef region(const char* name, std::vector<NodeRef> params, std::vector<NodeRef> outputs) {
  Graph graph;
  graph.name = name;
  graph.params = std::move(params);
  graph.output_names.assign(outputs.size(), "");
  graph.outputs = std::move(outputs);
  return std::make_shared<const Graph>(std::move(graph));
}

}  // namespace

NodeRef branch_on(Builder& build, const NodeRef& condition, const NodeRef& x) {
  const NodeRef a = build.param("a", x->dtype, x->shape);
  const NodeRef one = build.constant(Scalar::of(x->dtype, 1), x->shape);
  return build.if_(condition, {x}, region("yes", {a}, {build.binary(Op::ADD, a, one)}),
                   region("no", {a}, {build.binary(Op::MAX, a, one)}), 0);
}

NodeRef loop_over(Builder& build, const NodeRef& trips, const NodeRef& x, const NodeRef& step,
                  bool is_while) {
  const NodeRef i = build.param("i", DType::kI64, {});
  const NodeRef carried = build.param("c", x->dtype, x->shape);
  const NodeRef captured = build.param("s", x->dtype, x->shape);
  const Op op = x->dtype == DType::kBool ? Op::MAX : Op::ADD;
  std::vector<NodeRef> results{build.binary(op, carried, captured)};
  if (is_while) {
    const NodeRef limit = build.constant(Scalar::of_int(DType::kI64, 3));
    results.insert(results.begin(), build.binary(Op::CMPLT, i, limit));
  }
  return build.loop(trips, {x}, {step}, region("body", {i, carried, captured}, results), is_while,
                    0);
}

}  // namespace tenon::conformance::graphs
