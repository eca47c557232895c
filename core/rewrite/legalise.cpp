// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/rewrite/passes.hpp"
#include "core/rewrite/rules/rules.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

void require_storage(const Capabilities& capabilities, Op op, DType dtype) {
  if (!capabilities.of(dtype).storage)
    fail(ErrorKind::kUnsupported, "[{}] expected a device that stores {}, got one that does not",
         op_info(op).text, dtype_name(dtype));
}

void require_arithmetic(const Capabilities& capabilities, Op op, DType dtype) {
  if (dtype == DType::kBool) return require_storage(capabilities, op, dtype);
  if (!capabilities.of(dtype).arithmetic)
    fail(ErrorKind::kUnsupported,
         "[{}] expected a device with arithmetic on {}, got one without, and none on a wider dtype",
         op_info(op).text, dtype_name(dtype));
}

/// What is left must be what the device can do.
void check(const Graph& graph, const Capabilities& capabilities) {
  for (const NodeRef& node : topological(graph.outputs)) {
    const Op op = node->op;
    if (op == Op::PARAM) {
      if (!node->as<ParamAttr>().is_dim) require_storage(capabilities, op, node->dtype);
    } else if (op == Op::TAKE || op == Op::STORE || op == Op::CAST) {
      require_storage(capabilities, op, node->dtype);
      require_storage(capabilities, op, node->sources[0]->dtype);
    } else if (op == Op::REDUCE) {
      require_arithmetic(capabilities, op, node->as<ReduceAttr>().accumulator);
      if (is_hint(node->as<ReduceAttr>().op) && !capabilities.has(node->as<ReduceAttr>().op))
        fail(ErrorKind::kInternal, "[reduce] expected a decomposition of min, got none");
    } else if (is_elementwise(op)) {
      if (is_hint(op) && !capabilities.has(op))
        fail(ErrorKind::kInternal, "[{}] expected a decomposition on {}, got none",
             op_info(op).text, dtype_name(node->dtype));
      for (const NodeRef& source : node->sources)
        require_arithmetic(capabilities, op, source->dtype);
    }
  }
  for (const NodeRef& output : graph.outputs)
    require_storage(capabilities, output->op, output->dtype);
}

}  // namespace

Graph legalise(const Graph& graph, const Capabilities& capabilities, Builder& builder) {
  using namespace rewrite;
  const Rules rules = fold_rules() + widen_rules(capabilities) + bool_rules() +
                      decompose_rules(capabilities) + decompose_transcendental_rules(capabilities) +
                      cast_rules() + movement_rules() + algebra_rules();
  Graph out = run(graph, rules, builder);
  check(out, capabilities);
  return out;
}

}  // namespace tenon
