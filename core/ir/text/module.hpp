// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules of the text form, and bodies that use them. A module is parsed again (instantiated) for
// each combination of sizes and types that it is used with. Private to core/ir/text.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/ir/text/graph.hpp"
#include "core/ir/text/model.hpp"

namespace tenon {

struct Module {
  size_t at = 0;  ///< position of its definition
  std::vector<std::string> sizes;
  size_t params = 0;  ///< position of the params, after the sizes
};

/// A module with given sizes and types.
struct Instance {
  GraphRef body;  ///< its inputs, then the parameters
  std::vector<ModelParameter> parameters;
  int height = 1;  ///< nesting depth of graphs
};

/// A named use of a module.
struct Use {
  const Instance* instance = nullptr;
  std::vector<NodeRef> operands, inputs;
};

/// The body of a module, main or loss during parsing.
struct Body {
  Body(Cursor& cursor, Builder& builder, int depth) : text(cursor, builder), depth(depth) {}
  GraphText text;
  Graph graph;
  Scope scope;
  int depth;
  size_t above = 0;  ///< modules defined before this position may be used
  std::vector<ModelParameter> parameters;
  std::vector<NodeRef> parameter_nodes;
  std::set<std::string> names;  ///< of inputs and parameters
  std::map<std::string, Use> uses;
};

/// Parses modules, and bodies of modules, main and loss.
class ModuleText {
 public:
  ModuleText(Cursor& cursor, Builder& builder) : cursor_(cursor), builder_(builder) {}

  /// Parses a definition after its keyword.
  void define();
  /// Parses from "{" to "}", after the header.
  void read_body(Body& body);
  /// Throws for a parameter that no output depends on.
  void check_used(const Graph& graph, const std::vector<NodeRef>& parameters, size_t at);

 private:
  void add_name(Body& body, size_t at, const std::string& name);
  NodeRef add_parameter(Body& body, size_t at, ModelParameter parameter);
  void parameter(Body& body);
  NodeRef use(Body& body);
  std::vector<int64_t> sizes_of_use(const Body& body);
  std::vector<NodeRef> operands_of_use(const Body& body);
  bool named_key(std::string_view key);
  const Instance& instance(const std::string& name, const Module& module,
                           const std::vector<int64_t>& sizes, const std::vector<NodeRef>& operands,
                           size_t used_at, int depth);
  Instance read_module(const std::string& name, const Module& module,
                       const std::vector<int64_t>& sizes, const std::vector<NodeRef>& operands,
                       size_t used_at, int depth);
  GraphRef intern(Graph graph);
  void bind_symbols(const std::vector<Expr>& symbols, const std::vector<NodeRef>& operands,
                    size_t open, SymbolTable& table);
  void check_operands(const std::string& name, const Graph& graph,
                      const std::vector<NodeRef>& operands, size_t at);
  int height_of(const Graph& graph);
  [[noreturn]] void too_deep(size_t at);

  Cursor& cursor_;
  Builder& builder_;
  std::map<std::string, Module> modules_;
  std::map<std::string, Instance> instances_;  ///< by module, sizes and types
  std::map<std::pair<std::string, std::vector<const Node*>>, GraphRef> bodies_;
  std::map<const Graph*, int> heights_;
  size_t read_anew_ = 0;
};

}  // namespace tenon
