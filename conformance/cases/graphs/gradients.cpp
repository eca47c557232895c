// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/cases/graphs/gradients.hpp"

#include <algorithm>

#include "conformance/cases/graphs/graphs.hpp"
#include "core/autodiff/autodiff.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::graphs {
namespace {

/// Narrow floats overflow soon.
constexpr Domain kSeeds{.low = -2, .high = 2};

}  // namespace

std::optional<Differentiated> differentiate(const Graph& graph, Builder& builder) {
  Differentiated out;
  for (const NodeRef& output : graph.outputs) {
    if (!is_float(output->dtype) || is_small_float(output->dtype)) continue;
    out.outputs.push_back(output);
    out.seeds.push_back(
        builder.param("seed" + std::to_string(out.seeds.size()), output->dtype, output->shape));
  }
  std::vector<NodeRef> params;
  std::ranges::copy_if(graph.params, std::back_inserter(params),
                       [](const NodeRef& param) { return is_float(param->dtype); });
  if (out.outputs.empty() || params.empty()) return std::nullopt;
  Gradients made;
  try {
    made = vector_jacobian(out.outputs, out.seeds, params, builder);
  } catch (const Error& error) {
    // A loop without a bound, a product of too many factors, a state of too many axes.
    if (error.kind() == ErrorKind::kInternal) throw;
    return std::nullopt;
  }
  out.outputs = made.outputs;
  for (size_t i = 0; i < params.size(); ++i) {
    if (!made.of[i]) continue;
    out.wrt.push_back(params[i]);
    out.gradients.push_back(made.of[i]);
  }
  if (out.wrt.empty()) return std::nullopt;
  return out;
}

Template build_gradient(Choices& choices, Builder& builder, std::optional<uint32_t> aim,
                        uint32_t flags) {
  Template of = build_graph(choices, builder, aim, flags);
  const auto made = differentiate(of.graph, builder);
  if (!made) return of;
  std::vector<std::pair<NodeRef, Domain>> params;
  for (size_t i = 0; i < of.graph.params.size(); ++i)
    params.emplace_back(of.graph.params[i], of.domains[i]);
  for (const NodeRef& seed : made->seeds) params.emplace_back(seed, kSeeds);
  std::vector<NodeRef> outputs = made->outputs;
  outputs.insert(outputs.end(), made->gradients.begin(), made->gradients.end());
  Template out;
  out.cell = {"graph", of.cell.dtype, "gradient"};
  finish_graph(out, std::move(outputs), params);
  return out;
}

}  // namespace tenon::conformance::graphs
