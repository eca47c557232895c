// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/rewrite/passes.hpp"

#include <algorithm>

#include "core/rewrite/rules/rules.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

void require_storage(const Capabilities& capabilities, Op op, DType dtype) {
  if (!capabilities.stores(dtype))
    fail(ErrorKind::kUnsupported, "[{}] expected a device that stores {}, got one that does not",
         op_info(op).text, dtype_name(dtype));
}

void require_arithmetic(const Capabilities& capabilities, Op op, DType dtype) {
  if (dtype == DType::kBool) return require_storage(capabilities, op, dtype);
  if (!capabilities.computes(dtype))
    fail(ErrorKind::kUnsupported,
         "[{}] expected a device with arithmetic on {}, got one without, and none on a wider dtype",
         op_info(op).text, dtype_name(dtype));
}

/// Whether the node is the value of a dimension, which lowering computes in any integer dtype.
bool is_dim(const Node& node) { return node.op == Op::PARAM && node.as<ParamAttr>().is_dim; }

/// Throws for bit casts between floats and 64-bit integers that are split into two words.
void check_bits(const Node& cast, const Capabilities& capabilities) {
  const DType from = cast.sources[0]->dtype;
  if (cast.as<CastAttr>().bits && is_wide(from) != is_wide(cast.dtype) &&
      capabilities.splits_wide())
    fail(ErrorKind::kUnsupported,
         "[cast] expected a device with 64-bit integers for the bits of {} as {}, got one without",
         dtype_name(from), dtype_name(cast.dtype));
}

/// Throws unless the device supports all ops and dtypes.
void check(const Graph& graph, const Capabilities& capabilities) {
  for (const NodeRef& node : topological(graph.outputs)) {
    const Op op = node->op;
    if (op == Op::PARAM) {
      if (!is_dim(*node)) require_storage(capabilities, op, node->dtype);
    } else if (op == Op::TAKE || op == Op::STORE || op == Op::CAST) {
      require_storage(capabilities, op, node->dtype);
      if (!is_dim(*node->sources[0])) require_storage(capabilities, op, node->sources[0]->dtype);
      if (op == Op::CAST) check_bits(*node, capabilities);
      const bool adds = op == Op::STORE && node->as<StoreAttr>().mode == StoreMode::kAdd;
      if (adds && dtype_size(node->dtype) >= 4) require_arithmetic(capabilities, op, node->dtype);
    } else if (op == Op::REDUCE) {
      require_arithmetic(capabilities, op, node->as<ReduceAttr>().accumulator);
      if (is_optional(node->as<ReduceAttr>().op) && !capabilities.has(node->as<ReduceAttr>().op))
        fail(ErrorKind::kInternal, "[reduce] expected a decomposition of min, got none");
    } else if (is_elementwise(op)) {
      if (is_optional(op) && !capabilities.has(op))
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

Graph simplify_for(const Graph& graph, std::span<const Capabilities* const> devices,
                   Builder& builder) {
  using namespace rewrite;
  Graph simple = run(simplify(graph, builder), product_rules() + cast_rules(), builder);
  if (std::ranges::none_of(devices, [](const auto* device) { return device->splits_wide(); }))
    return simple;
  return run(simple,
             fold_rules() + shorten_rules() + cast_rules() + movement_rules() + algebra_rules(),
             builder);
}

Graph legalise(const Graph& graph, const Capabilities& capabilities, Builder& builder) {
  using namespace rewrite;
  const Rules shorten = capabilities.splits_wide() ? shorten_rules() : Rules();
  const Rules rules = fold_rules() + shorten + widen_rules(capabilities) + bool_rules() +
                      decompose_rules(capabilities) + decompose_transcendental_rules(capabilities) +
                      cast_rules() + movement_rules() + algebra_rules();
  Graph out = run(graph, rules, builder);
  check(out, capabilities);
  return out;
}

}  // namespace tenon
