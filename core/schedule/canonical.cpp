// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/schedule/canonical.hpp"
#include "core/ir/remap.hpp"

namespace tenon {
namespace {

using Symbols = std::map<std::string, Expr>;

/// Substitutes symbols. Params are replaced by the caller.
Attr renamed(Attr attr, const Symbols& names) {
  if (auto* param = std::get_if<ParamAttr>(&attr)) {
    param->dim = param->dim.substitute(names);
  } else if (auto* view = std::get_if<ViewAttr>(&attr)) {
    for (auto& [a, b] : view->pairs) {
      a = a.substitute(names);
      b = b.substitute(names);
    }
  }
  return attr;
}

}  // namespace

CanonicalKernel canonical_kernel(const Graph& kernel, Builder& builder,
                                 const SymbolRanges& within) {
  CanonicalKernel out;
  out.graph.name = "kernel";
  Symbols names;
  for (const Expr& symbol : kernel.symbols) {
    const std::string name = "n" + std::to_string(names.size());
    const auto range = within.find(symbol.name());
    const auto [least, most] =
        range == within.end() ? std::pair(symbol.min(), symbol.max()) : range->second;
    const Expr canonical = least == most ? Expr(least) : Expr::symbol(name, least, most);
    if (!canonical.is_const()) out.graph.symbols.push_back(canonical);
    names.emplace(symbol.name(), canonical);
    out.symbols.emplace(name, symbol);
  }
  const auto shape_of = [&](const Node& node) {
    Shape shape = node.shape;
    if (!names.empty())
      for (Dim& dim : shape) dim = dim.substitute(names);
    return shape;
  };
  Remapped copies;
  for (const NodeRef& param : kernel.params) {
    const std::string name = "in" + std::to_string(out.graph.params.size());
    out.params.emplace(name, param->as<ParamAttr>().name);
    out.graph.params.push_back(builder.param(name, param->dtype, shape_of(*param)));
    copies.try_emplace(param.get(), out.graph.params.back());
  }
  out.graph.outputs = remap(kernel.outputs, builder, std::move(copies),
                            [&](const NodeRef& node, const std::vector<NodeRef>& sources) {
                              return names.empty()
                                         ? nullptr
                                         : builder.make(node->op, node->dtype, shape_of(*node),
                                                        sources, renamed(node->attr, names));
                            });
  out.graph.output_names.resize(out.graph.outputs.size());
  return out;
}

}  // namespace tenon
