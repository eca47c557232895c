// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/autodiff/autodiff.hpp"

#include <algorithm>

#include "core/autodiff/backward.hpp"
#include "core/autodiff/derivatives.hpp"
#include "core/ir/substitute.hpp"
#include "core/support/error.hpp"
#include "core/support/flat_map.hpp"

namespace tenon {
namespace {

void check_pairs(const char* op, const char* what, const std::vector<NodeRef>& of,
                 const std::vector<NodeRef>& given) {
  TN_REQUIRE(of.size() == given.size(), "[{}] expected {} {}, got {}", op, of.size(), what,
             given.size());
  for (size_t i = 0; i < of.size(); ++i) {
    TN_REQUIRE(is_float(of[i]->dtype), "[{}] expected a float dtype, got {}", op,
               type_string(*of[i]));
    TN_REQUIRE(given[i]->dtype == of[i]->dtype && given[i]->shape == of[i]->shape,
               "[{}] expected {} of type {}, got {}", op, what, type_string(*of[i]),
               type_string(*given[i]));
  }
}

void check_floats(const char* op, const std::vector<NodeRef>& nodes) {
  for (const NodeRef& node : nodes)
    TN_REQUIRE(is_float(node->dtype), "[{}] expected a float dtype, got {}", op,
               type_string(*node));
}

/// Identity of seeds: no existing output has it, whatever its name.
constexpr uint64_t kSeed = 0x7365656400000000;

}  // namespace

Gradients vector_jacobian(const std::vector<NodeRef>& outputs, const std::vector<NodeRef>& seeds,
                          const std::vector<NodeRef>& wrt, Builder& builder,
                          const GradientOptions& options) {
  check_pairs("gradient", "seeds", outputs, seeds);
  check_floats("gradient", wrt);
  return autodiff::Backward(builder, options).run(outputs, seeds, wrt);
}

std::vector<NodeRef> jacobian_vector(const std::vector<NodeRef>& outputs,
                                     const std::vector<NodeRef>& wrt,
                                     const std::vector<NodeRef>& tangents, Builder& builder,
                                     const GradientOptions& options) {
  check_floats("jvp", outputs);
  check_pairs("jvp", "tangents", wrt, tangents);
  // The gradient is linear in its seeds. Its gradient by the seeds is the Jacobian-vector product.
  std::vector<NodeRef> seeds;
  for (size_t i = 0; i < outputs.size(); ++i)
    seeds.push_back(builder.param("seed", outputs[i]->dtype, outputs[i]->shape, kSeed + i));
  const Gradients first = autodiff::Backward(builder, options).run(outputs, seeds, wrt);
  std::vector<NodeRef> gradients, along;
  for (size_t i = 0; i < wrt.size(); ++i) {
    if (!first.of[i]) continue;
    gradients.push_back(first.of[i]);
    along.push_back(tangents[i]);
  }
  const Gradients second = autodiff::Backward(builder, options).run(gradients, along, seeds);
  FlatMap<const Node*, NodeRef> ones;
  for (const NodeRef& seed : seeds)
    ones.try_emplace(seed.get(), builder.constant(one(seed->dtype), seed->shape));
  return substitute(second.of, ones, builder);
}

std::string why_no_gradient(const std::vector<NodeRef>& outputs, const NodeRef& wrt) {
  FlatMap<const Node*, char> depends, passed;
  depends.try_emplace(wrt.get());
  passed.try_emplace(wrt.get());
  const Node* end = nullptr;
  for (const NodeRef& node : topological(outputs)) {
    for (size_t i = 0; i < node->sources.size(); ++i) {
      if (!depends.contains(node->sources[i].get())) continue;
      depends.try_emplace(node.get());
      if (!passed.contains(node->sources[i].get())) continue;
      if (is_float(node->dtype) && autodiff::propagates_adjoint(*node, i)) {
        passed.try_emplace(node.get());
      } else if (!end) {
        end = node.get();
      }
    }
  }
  const bool on_the_way =
      std::ranges::any_of(outputs, [&](const NodeRef& o) { return depends.contains(o.get()); });
  if (!on_the_way || !end) return "the output does not depend on it";
  std::string_view reason = autodiff::derivative_of(end->op).reason;
  std::string_view name = op_info(end->op).text;
  if (const auto* call = std::get_if<CallAttr>(&end->attr)) {
    name = call->body->name;
    reason = "it lets no gradient through";
  } else if (reason.empty()) {
    reason = end->op == Op::WHERE ? "a condition" : "not a float";
  }
  return fmt::format("its path ends at {} {}: {}", name, type_string(*end), reason);
}

size_t output_number(const Graph& graph, std::string_view name) {
  if (name.empty()) return 0;
  const auto at = std::ranges::find(graph.output_names, name);
  TN_REQUIRE(at != graph.output_names.end(), "[grad] expected one of the outputs {}, got {}",
             fmt::join(graph.output_names, ", "), name);
  return static_cast<size_t>(at - graph.output_names.begin());
}

Graph gradient_graph(const Graph& graph, size_t output, std::span<const std::string> wrt,
                     Builder& builder, const GradientOptions& options) {
  TN_REQUIRE(output < graph.outputs.size(), "[gradient] expected an output below {}, got {}",
             graph.outputs.size(), output);
  const NodeRef& value = graph.outputs[output];
  const std::string name = graph.output_names.empty() || graph.output_names[output].empty()
                               ? "y"
                               : graph.output_names[output];
  TN_REQUIRE(is_float(value->dtype), "[gradient] expected an output of a float dtype, got {} {}",
             name, type_string(*value));
  std::vector<NodeRef> leaves;
  for (const std::string& leaf : wrt) {
    std::string known;
    NodeRef found;
    for (const NodeRef& param : graph.params) {
      const std::string& own = param->as<ParamAttr>().name;
      if (own == leaf && !found) found = param;
      known += (known.empty() ? "" : ", ") + own;
    }
    TN_REQUIRE(found, "[gradient] expected one of the params {}, got {}", known, leaf);
    TN_REQUIRE(is_float(found->dtype), "[gradient] expected a param of a float dtype, got {} {}",
               leaf, type_string(*found));
    TN_REQUIRE(std::ranges::find(leaves, found) == leaves.end(),
               "[gradient] expected different params, got {} twice", leaf);
    leaves.push_back(found);
  }
  Graph out;
  out.name = graph.name + "_gradient";
  out.symbols = graph.symbols;
  out.params = graph.params;
  NodeRef seed;
  if (product(value->shape) == Dim(1)) {
    seed = builder.constant(one(value->dtype), value->shape);
  } else {
    seed = builder.param("d_" + name, value->dtype, value->shape, kSeed);
    out.params.push_back(seed);
  }
  const Gradients gradients = vector_jacobian({value}, {seed}, leaves, builder, options);
  out.outputs = {gradients.outputs[0]};
  out.output_names = {name};
  for (size_t i = 0; i < leaves.size(); ++i) {
    TN_REQUIRE(gradients.of[i], "[gradient] expected a param that {} depends on, got {}: {}", name,
               wrt[i], why_no_gradient({value}, leaves[i]));
    out.outputs.push_back(gradients.of[i]);
    out.output_names.push_back("d_" + wrt[i]);
  }
  return out;
}

}  // namespace tenon
