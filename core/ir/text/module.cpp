// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ir/text/module.hpp"

#include <algorithm>

#include "core/ir/structure.hpp"
#include "core/ir/text/initialiser.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

constexpr size_t kMaxReparsed = size_t{1} << 20;  ///< bytes of module text
constexpr int64_t kMaxSize = int64_t{1} << 40;

}  // namespace

void ModuleText::define() {
  const size_t start = cursor_.position();
  const std::string name = cursor_.identifier("the module's name");
  Module module;
  module.at = start;
  if (cursor_.accept("[")) {
    do {
      const size_t at = cursor_.position();
      module.sizes.push_back(cursor_.identifier("the name of a size"));
      if (!is_symbol_name(module.sizes.back()) ||
          std::ranges::count(module.sizes, module.sizes.back()) > 1)
        cursor_.error_at(at, fmt::format("expected a symbol name, each once, got {}",
                                         sdk::quote(module.sizes.back())));
      if (module.sizes.size() > kMaxName)
        cursor_.error_at(at, fmt::format("expected at most {} sizes, got more", kMaxName));
    } while (cursor_.accept(","));
    cursor_.expect("]");
  }
  module.params = cursor_.position();
  cursor_.expect("(");
  skip_past(cursor_, "(", ")", "')' after the params");
  if (cursor_.accept_word("where")) parse_bounds(cursor_);
  cursor_.expect("{");
  skip_past(cursor_, "{", "}", "'}' after the module");
  if (!modules_.emplace(name, std::move(module)).second)
    cursor_.error_at(start, fmt::format("expected each module once, got {} twice", name));
}

void ModuleText::read_body(Body& body) {
  for (const NodeRef& p : body.graph.params) add_name(body, body.above, p->as<ParamAttr>().name);
  cursor_.expect("{");
  while (cursor_.peek("graph")) body.text.local_graph(body.scope, body.depth);
  if (cursor_.accept_word("parameters")) {
    do parameter(body);
    while (cursor_.accept(","));
  }
  while (cursor_.peek("%")) {
    const size_t start = cursor_.position();
    const std::string_view name = cursor_.value_name();
    cursor_.expect("=");
    if (cursor_.accept_word("use")) {
      body.scope.define(cursor_, start, name, use(body));
    } else {
      cursor_.seek(start);
      body.text.statement(body.scope);
    }
  }
  cursor_.expect_word("return");
  body.text.returns(body.graph, body.scope);
  cursor_.expect("}");
  body.graph.params.insert(body.graph.params.end(), body.parameter_nodes.begin(),
                           body.parameter_nodes.end());
}

void ModuleText::add_name(Body& body, size_t at, const std::string& name) {
  if (!body.names.insert(name).second)
    cursor_.error_at(at, fmt::format("expected inputs and parameters of different names, got {} "
                                     "twice",
                                     sdk::quote(name)));
}

NodeRef ModuleText::add_parameter(Body& body, size_t at, ModelParameter parameter) {
  add_name(body, at, parameter.name);
  if (body.parameters.size() == kMaxParameters)
    cursor_.error_at(at, fmt::format("expected at most {} parameters, got more", kMaxParameters));
  located(cursor_, at, [&] {
    body.parameter_nodes.push_back(builder_.param(
        parameter.name, parameter.dtype, Shape(parameter.shape.begin(), parameter.shape.end())));
  });
  body.parameters.push_back(std::move(parameter));
  return body.parameter_nodes.back();
}

void ModuleText::parameter(Body& body) {
  const WrittenParam written = parse_param(cursor_, body.scope.symbols);
  const NodeType& type = written.type.type;
  ModelParameter parameter{written.name, type.dtype, {}, {}};
  if (!is_float(type.dtype) || is_small_float(type.dtype))
    cursor_.error_at(written.type.position, fmt::format("expected a parameter of f16, bf16, f32 "
                                                        "or f64, got {}",
                                                        dtype_name(type.dtype)));
  int64_t elements = 1;
  for (const Dim& dim : type.shape) {
    if (!dim.is_const() || dim.value() < 0 || dim.value() > kMaxSize ||
        __builtin_mul_overflow(elements, std::max<int64_t>(dim.value(), 1), &elements) ||
        elements > kMaxSize)
      cursor_.error_at(written.type.position,
                       fmt::format("expected a parameter of a shape of numbers, of at most {} "
                                   "elements, got {}",
                                   kMaxSize, type_string(type.dtype, type.shape)));
    parameter.shape.push_back(dim.value());
  }
  cursor_.expect("=");
  parameter.initial = parse_initialiser(cursor_, body.scope.symbols);
  body.scope.define(cursor_, written.start, written.value,
                    add_parameter(body, written.start, std::move(parameter)));
}

std::vector<int64_t> ModuleText::sizes_of_use(const Body& body) {
  std::vector<int64_t> sizes;
  if (!cursor_.accept("[")) return sizes;
  do {
    const size_t at = cursor_.position();
    const Expr size = parse_expr(cursor_, body.scope.symbols);
    if (!size.is_const() || size.value() < 0 || size.value() > kMaxSize)
      cursor_.error_at(at, fmt::format("expected a number from 0 to {} as the size of a module, "
                                       "got {}",
                                       kMaxSize, to_string(size)));
    sizes.push_back(size.value());
  } while (cursor_.accept(","));
  cursor_.expect("]");
  return sizes;
}

/// Parses the rest of a `use`: "linear[64, 10] %x, name=fc1, result=0".
NodeRef ModuleText::use(Body& body) {
  const size_t start = cursor_.position();
  const std::string name = cursor_.identifier("a module");
  const auto module = modules_.find(name);
  if (module == modules_.end() || module->second.at >= body.above)
    cursor_.error_at(start,
                     fmt::format("expected a module defined above, got {}", sdk::quote(name)));
  const size_t sizes_at = cursor_.position();
  const std::vector<int64_t> sizes = sizes_of_use(body);
  if (sizes.size() != module->second.sizes.size())
    cursor_.error_at(sizes_at, fmt::format("expected {} sizes of {}, got {}",
                                           module->second.sizes.size(), name, sizes.size()));
  Use use;
  use.operands = operands_of_use(body);
  const std::string own = named_key("name") ? cursor_.identifier("the name of a use") : name;
  const size_t result_at = cursor_.position();
  const int64_t result = named_key("result") ? cursor_.integer("the number of an output") : 0;
  const size_t end = cursor_.position();
  use.instance = &instance(name, module->second, sizes, use.operands, start, body.depth + 1);
  cursor_.seek(end);
  if (result < 0 || static_cast<size_t>(result) >= use.instance->body->outputs.size())
    cursor_.error_at(result_at, fmt::format("expected a result below {}, got {}",
                                            use.instance->body->outputs.size(), result));
  const auto [at, is_new] = body.uses.try_emplace(own, use);
  Use& known = at->second;
  if (is_new) {
    known.inputs = use.operands;
    for (ModelParameter parameter : use.instance->parameters) {
      parameter.name = own + "." + parameter.name;
      known.inputs.push_back(add_parameter(body, start, std::move(parameter)));
    }
  } else if (known.instance != use.instance || known.operands != use.operands) {
    cursor_.error_at(start, fmt::format("expected another name than {}, got it for two uses of "
                                        "modules",
                                        own));
  }
  NodeRef node;
  located(cursor_, start, [&] {
    node = builder_.call(known.inputs, use.instance->body, static_cast<int>(result));
  });
  return node;
}

std::vector<NodeRef> ModuleText::operands_of_use(const Body& body) {
  std::vector<NodeRef> operands;
  while (cursor_.peek("%")) {
    const size_t at = cursor_.position();
    if (operands.size() == kMaxParameters)
      cursor_.expected(fmt::format("at most {} operands", kMaxParameters));
    operands.push_back(body.scope.value(cursor_, at, cursor_.value_name()));
    const size_t before = cursor_.position();
    if (cursor_.accept(",") && cursor_.peek("%")) continue;
    cursor_.seek(before);
    break;
  }
  return operands;
}

/// ", key=" if it comes next.
bool ModuleText::named_key(std::string_view key) {
  const size_t before = cursor_.position();
  if (cursor_.accept(",") && cursor_.accept_word(key) && cursor_.accept("=")) return true;
  cursor_.seek(before);
  return false;
}

const Instance& ModuleText::instance(const std::string& name, const Module& module,
                                     const std::vector<int64_t>& sizes,
                                     const std::vector<NodeRef>& operands, size_t used_at,
                                     int depth) {
  std::string key = fmt::format("{}[{}]", name, fmt::join(sizes, ","));
  for (const NodeRef& x : operands) key += " " + type_string(*x);
  auto known = instances_.find(key);
  if (known == instances_.end()) {
    if (depth > kMaxGraphDepth) too_deep(used_at);
    known = instances_
                .emplace(std::move(key), read_module(name, module, sizes, operands, used_at, depth))
                .first;
  }
  if (depth + known->second.height - 1 > kMaxGraphDepth) too_deep(used_at);
  return known->second;
}

void ModuleText::too_deep(size_t at) {
  cursor_.error_at(
      at, fmt::format("expected at most {} graphs in each other, got more", kMaxGraphDepth));
}

/// Returns one graph for equal ones, so that equal calls become one node.
GraphRef ModuleText::intern(Graph graph) {
  std::vector<const Node*> nodes;
  for (const auto* list : {&graph.params, &graph.outputs})
    for (const NodeRef& node : *list) nodes.push_back(node.get());
  GraphRef& body = bodies_[{graph.name, std::move(nodes)}];
  if (!body) body = std::make_shared<const Graph>(std::move(graph));
  return body;
}

Instance ModuleText::read_module(const std::string& name, const Module& module,
                                 const std::vector<int64_t>& sizes,
                                 const std::vector<NodeRef>& operands, size_t used_at, int depth) {
  Body body(cursor_, builder_, depth);
  body.graph.name = name;
  body.above = module.at;
  try {
    cursor_.seek(module.params);
    for (size_t i = 0; i < sizes.size(); ++i) body.scope.symbols.emplace(module.sizes[i], sizes[i]);
    body.text.header(body.graph, body.scope, [&](const std::vector<Expr>& symbols, size_t open) {
      bind_symbols(symbols, operands, open, body.scope.symbols);
    });
    check_operands(name, body.graph, operands, used_at);
    read_body(body);
    check_used(body.graph, body.parameter_nodes, module.at);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInvalid) throw;
    const sdk::Place at = cursor_.place(used_at);
    fail(ErrorKind::kInvalid, "{}, as {} is used in line {}", error.what(), name, at.line);
  }
  read_anew_ += cursor_.position() - module.params;
  if (read_anew_ > kMaxReparsed)
    cursor_.error_at(used_at, fmt::format("expected modules of at most {} bytes, each counted "
                                          "for all sizes that it is used with, got more",
                                          kMaxReparsed));
  Instance out;
  out.parameters = std::move(body.parameters);
  out.height = height_of(body.graph);
  out.body = intern(std::move(body.graph));
  return out;
}

/// Binds each symbol of a module to the operand's size where a dimension of a param is just that
/// symbol.
void ModuleText::bind_symbols(const std::vector<Expr>& symbols,
                              const std::vector<NodeRef>& operands, size_t open,
                              SymbolTable& table) {
  SymbolTable formal = table;
  for (const Expr& s : symbols)
    if (!formal.emplace(s.name(), s).second)
      cursor_.error_at(open, fmt::format("expected sizes and symbols of different names, got {} "
                                         "twice",
                                         s.name()));
  cursor_.seek(open);
  cursor_.expect("(");
  for (size_t i = 0; i < operands.size() && !cursor_.peek(")"); ++i) {
    const Shape shape = parse_param(cursor_, formal).type.type.shape;
    const Shape& given = operands[i]->shape;
    for (size_t axis = 0; axis < shape.size() && axis < given.size(); ++axis)
      if (shape[axis].kind() == ExprKind::kSymbol) table.emplace(shape[axis].name(), given[axis]);
    if (!cursor_.accept(",")) break;
  }
  for (const Expr& s : symbols) {
    const auto at = table.find(s.name());
    if (at == table.end())
      cursor_.error_at(open, fmt::format("expected a param with a dimension {} alone, which "
                                         "determines it, got none",
                                         s.name()));
    if (at->second.min() < s.min() || at->second.max() > s.max())
      cursor_.error_at(open, fmt::format("expected {} in [{}, {}], got {}", s.name(), s.min(),
                                         s.max(), to_string(at->second)));
  }
}

void ModuleText::check_operands(const std::string& name, const Graph& graph,
                                const std::vector<NodeRef>& operands, size_t at) {
  if (graph.params.size() != operands.size())
    cursor_.error_at(at, fmt::format("expected {} operands of {}, got {}", graph.params.size(),
                                     name, operands.size()));
  for (size_t i = 0; i < operands.size(); ++i)
    if (type_string(*graph.params[i]) != type_string(*operands[i]))
      cursor_.error_at(
          at, fmt::format("expected {} for {} of {}, got {}", type_string(*graph.params[i]),
                          sdk::quote(graph.params[i]->as<ParamAttr>().name), name,
                          type_string(*operands[i])));
}

int ModuleText::height_of(const Graph& graph) {
  int height = 0;
  for (const NodeRef& node : topological(graph.outputs))
    for (const Graph* subgraph : structure::graphs_of(node->attr)) {
      auto known = heights_.find(subgraph);
      if (known == heights_.end()) known = heights_.emplace(subgraph, height_of(*subgraph)).first;
      height = std::max(height, known->second);
    }
  return height + 1;
}

void ModuleText::check_used(const Graph& graph, const std::vector<NodeRef>& parameters, size_t at) {
  if (parameters.empty()) return;
  std::set<const Node*> below;
  for (const NodeRef& node : topological(graph.outputs)) below.insert(node.get());
  for (const NodeRef& parameter : parameters)
    if (!below.contains(parameter.get()))
      cursor_.error_at(at, fmt::format("expected a use of each parameter, got none of {}",
                                       sdk::quote(parameter->as<ParamAttr>().name)));
}

}  // namespace tenon
