// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules of the text form, and bodies that use them. A module is read anew for each combination of
// sizes and types that it is used with, under a table of symbols that says what they are. Private
// to core/ir/text.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/ir/text/graph.hpp"
#include "core/ir/text/model.hpp"

namespace tenon {

struct Module {
  size_t at = 0;  ///< of its definition
  std::vector<std::string> sizes;
  size_t params = 0;  ///< of what follows the sizes
};

/// A module of certain sizes and types.
struct Instance {
  GraphRef body;  ///< its inputs, then the parameters
  std::vector<ModelParameter> parameters;
  int height = 1;  ///< graphs in each other
};

/// A use of a module, under its name.
struct Use {
  const Instance* instance = nullptr;
  std::vector<NodeRef> operands, inputs;
};

/// The body of a module, of main or of a loss while it is read.
struct Body {
  Body(Cursor& cursor, Builder& builder, int depth) : text(cursor, builder), depth(depth) {}
  GraphText text;
  Graph graph;
  Scope scope;
  int depth;
  size_t above = 0;  ///< modules that begin before this place may be used
  std::vector<ModelParameter> parameters;
  std::vector<NodeRef> parameter_nodes;
  std::set<std::string> names;  ///< of inputs and parameters
  std::map<std::string, Use> uses;
};

/// Reads modules, and the bodies of modules, of main and of a loss.
class ModuleText {
 public:
  ModuleText(Cursor& cursor, Builder& builder) : cursor_(cursor), builder_(builder) {}

  /// A definition, after the word.
  void define();
  /// From "{" to "}", after the header.
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
  GraphRef one_of(Graph graph);
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
