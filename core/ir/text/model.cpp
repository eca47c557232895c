// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models from text: modules, main, loss.
#include <algorithm>
#include <set>

#include "core/ir/substitute.hpp"
#include "core/ir/text/model.hpp"
#include "core/ir/text/module.hpp"
#include "core/ir/verify.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

class ModelParser {
 public:
  ModelParser(Cursor& cursor, Builder& builder, const SymbolValues& sizes)
      : cursor_(cursor), builder_(builder), sizes_(sizes), modules_(cursor, builder) {}

  Model parse() {
    while (cursor_.accept_word("module")) modules_.define();
    const size_t start = cursor_.position();
    cursor_.expect_word("main");
    Body main(cursor_, builder_, 1);
    main.above = start;
    main.graph.name = cursor_.name("main's name");
    read_main(main);
    Model model;
    model.parameters = main.parameters;
    if (cursor_.peek("loss")) {
      loss(main, model);
    } else {
      modules_.check_used(main.graph, main.parameter_nodes, start);
    }
    if (!cursor_.at_end())
      cursor_.expected(model.loss ? "the end of the text after the loss"
                                  : "loss, or the end of the text after main");
    model.bounds = std::move(bounds_);
    model.graph = std::move(main.graph);
    return model;
  }

 private:
  void read_main(Body& main) {
    std::vector<ValueBounds> values;
    main.text.header(
        main.graph, main.scope,
        [&](const std::vector<Expr>& symbols, size_t open) {
          written_ = symbols;
          for (const Expr& s : symbols) {
            const auto given = sizes_.find(s.name());
            if (given == sizes_.end()) {
              main.graph.symbols.push_back(s);
            } else if (given->second < s.min() || given->second > s.max()) {
              cursor_.error_at(open, fmt::format("expected {} in [{}, {}], got {}", s.name(),
                                                 s.min(), s.max(), given->second));
            }
            main.scope.symbols.emplace(s.name(), given == sizes_.end() ? s : Expr(given->second));
          }
        },
        &values);
    modules_.read_body(main);
    keep_bounds(values, main.scope);
    located(cursor_, main.above, [&] { verify(main.graph); });
  }

  void keep_bounds(const std::vector<ValueBounds>& values, const Scope& scope) {
    for (const ValueBounds& bounds : values) {
      const NodeRef& node = scope.value(cursor_, bounds.position, bounds.value);
      if (node->op != Op::PARAM || !std::holds_alternative<ParamAttr>(node->attr))
        cursor_.error_at(bounds.position, "expected bounds of an input, got another value");
      bounds_.push_back({node->as<ParamAttr>().name, bounds.low, bounds.high});
    }
  }

  void loss(const Body& main, Model& model) {
    const size_t start = cursor_.position();
    cursor_.expect_word("loss");
    Body body(cursor_, builder_, 2);
    body.above = main.above;
    body.graph.name = "loss";
    body.scope.symbols = main.scope.symbols;
    std::vector<ValueBounds> values;
    body.text.header(
        body.graph, body.scope,
        [&](const std::vector<Expr>& symbols, size_t open) {
          for (const Expr& s : symbols)
            if (std::ranges::find(written_, s) == written_.end())
              cursor_.error_at(open, fmt::format("expected the symbols of main, with their bounds, "
                                                 "got {} <= {} <= {}",
                                                 s.min(), s.name(), s.max()));
        },
        &values);
    const std::vector<NodeRef> params = body.graph.params;
    modules_.read_body(body);
    keep_bounds(values, body.scope);
    if (!body.parameters.empty())
      cursor_.error_at(start, fmt::format("expected a loss without parameters, got {}",
                                          sdk::quote(body.parameters[0].name)));
    check_losses(body.graph, start);
    model.loss = composed(main, body.graph, params, start);
    located(cursor_, start, [&] { verify(*model.loss); });
    modules_.check_used(inline_calls(only_loss(*model.loss), builder_), main.parameter_nodes,
                        start);
  }

  static Graph only_loss(Graph graph) {
    graph.outputs.resize(1);
    graph.output_names.resize(1);
    return graph;
  }

  void check_losses(const Graph& graph, size_t at) {
    if (graph.outputs.empty()) cursor_.error_at(at, "expected a loss that returns one, got none");
    for (const NodeRef& output : graph.outputs)
      if (!is_float(output->dtype) || is_small_float(output->dtype) ||
          !product(output->shape).is_const(1))
        cursor_.error_at(at, fmt::format("expected outputs of a loss to be floats of one element, "
                                         "got {}",
                                         type_string(*output)));
    std::set<std::string> names;
    for (const std::string& name : graph.output_names)
      if (name.empty() || !names.insert(name).second)
        cursor_.error_at(at, fmt::format("expected outputs of a loss to have names of their own, "
                                         "got {}",
                                         sdk::quote(name)));
  }

  /// Composes main and the loss, which takes outputs and inputs of main, and inputs of its own.
  Graph composed(const Body& main, const Graph& loss, const std::vector<NodeRef>& params,
                 size_t at) {
    Graph graph;
    graph.name = main.graph.name;
    graph.symbols = main.graph.symbols;
    const size_t inputs = main.graph.params.size() - main.parameter_nodes.size();
    graph.params.assign(main.graph.params.begin(),
                        main.graph.params.begin() + static_cast<std::ptrdiff_t>(inputs));
    std::vector<NodeRef> given;
    for (const NodeRef& param : params) {
      const std::string& name = param->as<ParamAttr>().name;
      NodeRef node;
      for (size_t i = 0; i < main.graph.outputs.size() && !node; ++i)
        if (main.graph.output_names[i] == name) node = main.graph.outputs[i];
      for (size_t i = 0; i < inputs && !node; ++i)
        if (graph.params[i]->as<ParamAttr>().name == name) node = graph.params[i];
      if (!node) {
        if (main.names.contains(name))
          cursor_.error_at(at, fmt::format("expected outputs and inputs of main, and other names, "
                                           "as params of the loss, got the parameter {}",
                                           sdk::quote(name)));
        node = param;
        graph.params.push_back(param);
      }
      if (type_string(*node) != type_string(*param))
        cursor_.error_at(
            at, fmt::format("expected {} of the loss to be {} as in main, got {}", sdk::quote(name),
                            type_string(*node), type_string(*param)));
      given.push_back(std::move(node));
    }
    graph.params.insert(graph.params.end(), main.parameter_nodes.begin(),
                        main.parameter_nodes.end());
    const auto body = std::make_shared<const Graph>(loss);
    for (size_t i = 0; i < loss.outputs.size(); ++i) {
      located(cursor_, at,
              [&] { graph.outputs.push_back(builder_.call(given, body, static_cast<int>(i))); });
    }
    graph.output_names = loss.output_names;
    return graph;
  }

  Cursor& cursor_;
  Builder& builder_;
  const SymbolValues& sizes_;
  ModuleText modules_;
  std::vector<Expr> written_;  ///< symbols of main
  std::vector<InputBounds> bounds_;
};

}  // namespace

bool is_model(std::string_view text) {
  Cursor cursor(text, "");
  return cursor.accept_word("module") || cursor.accept_word("main");
}

Model parse_model(std::string_view text, Builder& builder, std::string_view origin,
                  const SymbolValues& sizes) {
  TN_REQUIRE(text.size() <= kMaxText, "{}: expected a text of at most {} bytes, got {}", origin,
             kMaxText, text.size());
  Cursor cursor(text, origin);
  return ModelParser(cursor, builder, sizes).parse();
}

}  // namespace tenon
