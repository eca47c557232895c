// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rebuilds graphs node by node; a rule of the IR that breaks means that there is no such case.
#include "conformance/shrink/edit.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "conformance/cases/graphs/shapes.hpp"
#include "core/ir/remap.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::shrink {
namespace {

using Mapped = std::map<const Node*, NodeRef>;

/// Rebuilds every node over new sources. `special` may answer for a node, or null.
using Special = std::function<NodeRef(const NodeRef&, const std::vector<NodeRef>&)>;

/// Params and inputs of the new graph, in order: each with its array.
using Bindings = std::vector<std::pair<NodeRef, Array>>;

Case assemble(const Case& old, std::vector<NodeRef> outputs, const Bindings& bindings) {
  Case out = old;
  out.graph = Graph{};
  out.graph.name = old.graph.name;
  out.inputs.clear();
  const std::vector<NodeRef> nodes = topological(outputs);
  std::map<std::string, Expr> symbols;
  for (const NodeRef& node : nodes) {
    for (const Dim& dim : node->shape) dim.collect_symbols(symbols);
    if (const auto* param = std::get_if<ParamAttr>(&node->attr))
      if (param->is_dim) param->dim.collect_symbols(symbols);
  }
  for (const auto& [param, array] : bindings) {
    if (std::ranges::find(nodes, param) == nodes.end()) continue;
    out.graph.params.push_back(param);
    out.inputs.push_back(array);
  }
  SymbolValues values;
  for (const auto& [name, symbol] : symbols) {
    out.graph.symbols.push_back(symbol);
    values[name] = old.symbols.at(name);
  }
  out.symbols = values;
  out.graph.output_names.assign(outputs.size(), "");
  out.graph.outputs = std::move(outputs);
  return out;
}

Bindings bindings_of(const Case& test) {
  Bindings out;
  for (size_t i = 0; i < test.inputs.size(); ++i)
    out.emplace_back(test.graph.params[i], test.inputs[i]);
  return out;
}

std::optional<Case> rebuild(const Case& test, const Bindings& bindings, const Special& special,
                            Builder& builder) {
  try {
    std::vector<NodeRef> outputs = remap(test.graph.outputs, builder, {}, special);
    return assemble(test, std::move(outputs), bindings);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// One size for another through a whole static graph.
class Resizer {
 public:
  Resizer(int64_t size, int64_t smaller, Builder& builder)
      : size_(size), smaller_(smaller), build_(builder) {}

  Shape resize(const Shape& shape) const {
    Shape out;
    for (const Dim& dim : shape) out.push_back(resize(dim));
    return out;
  }

  NodeRef make(const Node& node, const std::vector<NodeRef>& sources) {
    switch (node.op) {
      case Op::PARAM:
      case Op::CONST:
      case Op::INDEX:
        return build_.make(node.op, node.dtype, resize(node.shape), {}, node.attr);
      case Op::VIEW:
        return view(node, sources[0]);
      case Op::CAST:
        return build_.make(node.op, node.dtype, sources[0]->shape, sources, node.attr);
      default:
        return build_.make(node.op, node.dtype, {}, sources, node.attr);
    }
  }

 private:
  Dim resize(const Dim& dim) const { return dim.is_const(size_) ? Dim(smaller_) : dim; }

  NodeRef view(const Node& node, const NodeRef& source) {
    ViewAttr attr = node.as<ViewAttr>();
    Shape shape;
    switch (attr.kind) {
      case ViewKind::kExpand:
        for (size_t i = 0; i < node.shape.size(); ++i)
          shape.push_back(source->shape[i].is_const(1) ? resize(node.shape[i]) : source->shape[i]);
        break;
      case ViewKind::kReshape:
        shape = reshaped(resize(node.shape), product(source->shape));
        break;
      case ViewKind::kPad:
        for (auto& [before, after] : attr.pairs) before = resize(before), after = resize(after);
        break;
      case ViewKind::kShrink:
        for (size_t i = 0; i < attr.pairs.size(); ++i) {
          auto& [begin, end] = attr.pairs[i];
          const Dim old = node.sources[0]->shape[i];
          const int64_t now = source->shape[i].value();
          const int64_t cut = old.value() - end.value();
          end = Dim(std::max<int64_t>(now - cut, 0));
          begin = Dim(std::min(begin.value(), end.value()));
        }
        break;
      case ViewKind::kPermute:
      case ViewKind::kFlip:
        break;
    }
    return build_.make(node.op, node.dtype, shape, {source}, attr);
  }

  /// Gives the count of the source to the first axis that can take it.
  static Shape reshaped(Shape shape, const Dim& count) {
    if (product(shape) == count) return shape;
    for (Dim& dim : shape) {
      const Dim kept = dim;
      dim = Dim(1);
      const int64_t rest = product(shape).value();
      if (rest > 0 && count.value() % rest == 0) {
        dim = Dim(count.value() / rest);
        return shape;
      }
      dim = kept;
    }
    return shape;
  }

  int64_t size_, smaller_;
  Builder& build_;
};

}  // namespace

Array crop(const Array& array, const std::vector<int64_t>& shape, Keep keep) {
  Array out = Array::zeros(array.dtype, shape);
  for (int64_t i = 0; i < out.count(); ++i) {
    int64_t rest = i, from = 0, stride = 1;
    for (size_t axis = shape.size(); axis-- > 0;) {
      const int64_t skipped = keep == Keep::kLast ? array.shape[axis] - shape[axis] : 0;
      from += (rest % shape[axis] + skipped) * stride;
      rest /= shape[axis];
      stride *= array.shape[axis];
    }
    out.set(i, array.at(from));
  }
  return out;
}

NodeValues evaluate_all(const Case& test) {
  NodeValues values;
  for (size_t i = 0; i < test.inputs.size(); ++i)
    values[test.graph.params[i].get()] = test.inputs[i];
  for (const NodeRef& node : topological(test.graph.outputs)) {
    if (values.contains(node.get())) continue;
    std::vector<const Array*> operands;
    for (const NodeRef& source : node->sources) operands.push_back(&values.at(source.get()));
    values[node.get()] = evaluate_node(*node, operands, test.symbols);
  }
  return values;
}

std::optional<Case> with_outputs(const Case& test, std::vector<NodeRef> outputs) {
  return assemble(test, std::move(outputs), bindings_of(test));
}

std::optional<Case> with_inputs_for(const Case& test, const std::vector<NodeRef>& nodes,
                                    const NodeValues& values, Builder& builder) {
  Bindings bindings = bindings_of(test);
  Mapped replaced;
  std::set<std::string> names;
  for (const auto& [param, array] : bindings) names.insert(param->as<ParamAttr>().name);
  for (const NodeRef& node : nodes) {
    if (node->op == Op::PARAM || replaced.contains(node.get())) continue;
    std::string name;
    for (size_t k = 0; name.empty() || !names.insert(name).second; ++k)
      name = "v" + std::to_string(k);
    const NodeRef param = builder.param(name, node->dtype, node->shape);
    bindings.emplace_back(param, values.at(node.get()));
    replaced[node.get()] = param;
  }
  if (replaced.empty()) return std::nullopt;
  return rebuild(
      test, bindings,
      [&](const NodeRef& node, const std::vector<NodeRef>&) {
        const auto found = replaced.find(node.get());
        return found == replaced.end() ? nullptr : found->second;
      },
      builder);
}

std::optional<Case> with_replaced(const Case& test, const NodeRef& node, const NodeRef& other,
                                  Builder& builder) {
  if (node->dtype != other->dtype || !same_shape(node->shape, other->shape)) return std::nullopt;
  return rebuild(
      test, bindings_of(test),
      [&](const NodeRef& now, const std::vector<NodeRef>& sources) -> NodeRef {
        if (now != node) return nullptr;
        for (size_t i = 0; i < now->sources.size(); ++i)
          if (now->sources[i] == other) return sources[i];
        return nullptr;
      },
      builder);
}

std::optional<Case> with_static_shapes(const Case& test, Builder& builder) {
  if (test.graph.symbols.empty()) return std::nullopt;
  std::map<std::string, Expr> values;
  for (const auto& [name, value] : test.symbols) values.emplace(name, Expr(value));
  const auto fix = [&](const Dim& dim) { return dim.substitute(values); };
  Bindings bindings;
  Mapped params;
  for (size_t i = 0; i < test.inputs.size(); ++i) {
    const Node& old = *test.graph.params[i];
    const NodeRef param =
        builder.param(old.as<ParamAttr>().name, old.dtype, graphs::to_shape(test.inputs[i].shape));
    params[&old] = param;
    bindings.emplace_back(param, test.inputs[i]);
  }
  return rebuild(
      test, bindings,
      [&](const NodeRef& node, const std::vector<NodeRef>& sources) -> NodeRef {
        if (const auto found = params.find(node.get()); found != params.end()) return found->second;
        Shape shape;
        for (const Dim& dim : node->shape) shape.push_back(fix(dim));
        Attr attr = node->attr;
        if (auto* view = std::get_if<ViewAttr>(&attr))
          for (auto& [a, b] : view->pairs) a = fix(a), b = fix(b);
        if (auto* param = std::get_if<ParamAttr>(&attr)) param->dim = fix(param->dim);
        return builder.make(node->op, node->dtype, shape, sources, attr);
      },
      builder);
}

std::optional<Case> rebuilt(const Case& test, const Remake& remake, Keep keep, Builder& builder) {
  try {
    Bindings bindings;
    Mapped params;
    for (size_t i = 0; i < test.inputs.size(); ++i) {
      const NodeRef param = remake(*test.graph.params[i], {});
      params[test.graph.params[i].get()] = param;
      bindings.emplace_back(param, crop(test.inputs[i], graphs::concrete(param->shape, {}), keep));
    }
    return rebuild(
        test, bindings,
        [&](const NodeRef& node, const std::vector<NodeRef>& sources) {
          const auto found = params.find(node.get());
          return found != params.end() ? found->second : remake(*node, sources);
        },
        builder);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<Case> with_smaller_size(const Case& test, int64_t size, int64_t smaller, Keep keep,
                                      Builder& builder) {
  if (!test.graph.symbols.empty() || smaller >= size) return std::nullopt;
  Resizer resizer(size, smaller, builder);
  return rebuilt(
      test,
      [&](const Node& node, const std::vector<NodeRef>& sources) {
        return resizer.make(node, sources);
      },
      keep, builder);
}

std::optional<Case> with_smaller_symbol(const Case& test, const std::string& symbol,
                                        int64_t value) {
  Case out = test;
  out.symbols[symbol] = value;
  for (size_t i = 0; i < out.inputs.size(); ++i)
    out.inputs[i] =
        crop(test.inputs[i], graphs::concrete(test.graph.params[i]->shape, out.symbols));
  return out;
}

}  // namespace tenon::conformance::shrink
