// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints graphs. Values are numbered in topological order; params and named outputs keep their
// names.
#include <algorithm>
#include <set>
#include <unordered_map>

#include "core/ir/text/cursor.hpp"
#include "core/ir/text/text.hpp"
#include "core/support/error.hpp"
#include "core/support/flat_map.hpp"

namespace tenon {
namespace {

constexpr size_t kTypeColumn = 44;

bool is_value_name(std::string_view name) { return is_identifier(name) && name.size() <= kMaxName; }

std::string name_text(std::string_view name) {
  return is_identifier(name) ? std::string(name) : sdk::quote(name);
}

std::string list_text(const std::vector<int>& values) {
  return fmt::format("[{}]", fmt::join(values, ","));
}

std::string pairs_text(const std::vector<std::pair<Dim, Dim>>& pairs) {
  std::string out = "[";
  for (const auto& [a, b] : pairs)
    out += fmt::format("{}({},{})", out.size() > 1 ? "," : "", to_string(a), to_string(b));
  return out + "]";
}

class GraphPrinter {
 public:
  GraphPrinter(const Graph& graph, std::string indent)
      : graph_(graph), indent_(std::move(indent)), order_(topological(graph.outputs)) {}

  std::string print(const std::string& name) {
    name_values();
    out_ = fmt::format("{}graph {}({})", indent_, name_text(name), params());
    if (!graph_.symbols.empty()) out_ += " where " + bounds();
    out_ += " {\n";
    for (const NodeRef& n : order_) local_graphs(n->attr);
    for (const NodeRef& n : order_)
      if (n->op != Op::PARAM || n->as<ParamAttr>().is_dim) line(*n);
    out_ += fmt::format("{}  return{}\n{}}}\n", indent_, returned(), indent_);
    return std::move(out_);
  }

 private:
  /// The first free name among wanted, wanted_1, wanted_2, ...
  std::string free_name(const std::string& wanted) {
    std::string name = wanted;
    for (int i = 1; !taken_.insert(name).second; ++i) name = fmt::format("{}_{}", wanted, i);
    return name;
  }

  std::string output_name(size_t i) const {
    return i < graph_.output_names.size() ? graph_.output_names[i] : "";
  }

  void name_values() {
    for (const NodeRef& p : graph_.params) {
      const std::string& name = p->as<ParamAttr>().name;
      values_.try_emplace(p.get(), free_name(is_value_name(name) ? name : "p"));
    }
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const std::string name = output_name(i);
      const Node* node = graph_.outputs[i].get();
      if (is_value_name(name) && !values_.contains(node) && taken_.insert(name).second)
        values_.try_emplace(node, name);
    }
    size_t number = 0;
    for (const NodeRef& n : order_)
      if (!values_.contains(n.get())) values_.try_emplace(n.get(), std::to_string(number++));
  }

  std::string params() const {
    std::string out;
    for (const NodeRef& p : graph_.params) {
      const std::string &value = values_.at(p.get()), &name = p->as<ParamAttr>().name;
      if (!out.empty()) out += ", ";
      out += "%" + value;
      if (name != value) out += " " + sdk::quote(name);
      out += ": " + type_string(*p);
    }
    return out;
  }

  std::string bounds() const {
    std::string out;
    for (const Expr& s : graph_.symbols)
      out += fmt::format("{}{} <= {} <= {}", out.empty() ? "" : ", ", s.min(), s.name(), s.max());
    return out;
  }

  void local_graph(const GraphRef& graph) {
    if (graph_names_.contains(graph.get())) return;
    std::string name = graph->name;
    for (int i = 1; !taken_graphs_.insert(name).second; ++i)
      name = fmt::format("{}_{}", graph->name.substr(0, kMaxName - 12), i);
    graph_names_.emplace(graph.get(), name);
    out_ += GraphPrinter(*graph, indent_ + "  ").print(name);
  }

  void local_graphs(const Attr& attr) {
    if (const auto* choice = std::get_if<IfAttr>(&attr)) {
      local_graph(choice->then_graph);
      local_graph(choice->else_graph);
    } else if (const auto* loop = std::get_if<LoopAttr>(&attr)) {
      local_graph(loop->body);
    } else if (const auto* call = std::get_if<CallAttr>(&attr)) {
      local_graph(call->body);
      if (call->gradient) local_graph(call->gradient);
    }
  }

  void line(const Node& node) {
    const size_t start = out_.size();
    out_.append(indent_).append("  %").append(values_.at(&node)).append(" = ");
    out_ += statement(node);
    out_.append(std::max(out_.size(), start + kTypeColumn) - out_.size(), ' ');
    out_.append(" : ").append(type_string(node)).append("\n");
  }

  std::string operands(const Node& node) const {
    std::string out;
    for (const NodeRef& s : node.sources)
      out.append(out.empty() ? "%" : ", %").append(values_.at(s.get()));
    return out;
  }

  std::string statement(const Node& node) const {
    if (const auto* a = std::get_if<ConstAttr>(&node.attr)) return "const " + to_string(a->value);
    if (const auto* a = std::get_if<ParamAttr>(&node.attr)) return "dim " + to_string(a->dim);
    if (const auto* a = std::get_if<IndexAttr>(&node.attr))
      return fmt::format("index axis={}", a->axis);
    const std::string xs = operands(node);
    if (const auto* a = std::get_if<CastAttr>(&node.attr))
      return (a->bits ? "bitcast " : "cast ") + xs;
    if (const auto* a = std::get_if<ViewAttr>(&node.attr)) return view(*a, xs);
    if (const auto* a = std::get_if<ReduceAttr>(&node.attr)) return reduce(node, *a, xs);
    if (const auto* a = std::get_if<TakeAttr>(&node.attr))
      return fmt::format("take {}, axis={}", xs, a->axis);
    if (const auto* a = std::get_if<StoreAttr>(&node.attr))
      return fmt::format("{} {}, axis={}", a->mode == StoreMode::kAdd ? "store.add" : "store", xs,
                         a->axis);
    if (const auto* a = std::get_if<CopyAttr>(&node.attr))
      return fmt::format("copy {}, device={}", xs, sdk::quote(a->device));
    if (const auto* a = std::get_if<IfAttr>(&node.attr))
      return fmt::format("if {}, then={}, else={}, result={}", xs, graph_name(a->then_graph),
                         graph_name(a->else_graph), a->result);
    if (const auto* a = std::get_if<LoopAttr>(&node.attr))
      return fmt::format("loop {}, body={}, carried={}{}, result={}", xs, graph_name(a->body),
                         a->carried, a->is_while ? ", while=true" : "", a->result);
    if (const auto* a = std::get_if<CallAttr>(&node.attr)) return call(*a, xs);
    return std::string(op_info(node.op).text).append(" ").append(xs);
  }

  std::string graph_name(const GraphRef& graph) const {
    return name_text(graph_names_.at(graph.get()));
  }

  std::string call(const CallAttr& attr, const std::string& xs) const {
    std::string out = fmt::format("call{}{}body={}", xs.empty() ? " " : " " + xs,
                                  xs.empty() ? "" : ", ", graph_name(attr.body));
    if (attr.gradient) out += ", gradient=" + graph_name(attr.gradient);
    if (attr.mode == CallMode::kRecompute) out += ", recompute=true";
    if (attr.mode == CallMode::kStop) out += ", stop=true";
    if (attr.body->outputs.size() > 1) out += fmt::format(", result={}", attr.result);
    return out;
  }

  static std::string view(const ViewAttr& attr, const std::string& x) {
    switch (attr.kind) {
      case ViewKind::kReshape:
        return "reshape " + x;
      case ViewKind::kExpand:
        return "expand " + x;
      case ViewKind::kPermute:
        return fmt::format("permute {}, axes={}", x, list_text(attr.axes));
      case ViewKind::kFlip:
        return fmt::format("flip {}, axes={}", x, list_text(attr.axes));
      case ViewKind::kPad:
        return fmt::format("pad {}, pairs={}, fill={}", x, pairs_text(attr.pairs),
                           to_string(attr.fill));
      case ViewKind::kShrink:
        return fmt::format("shrink {}, ranges={}", x, pairs_text(attr.pairs));
    }
    TN_ASSERT(false);
  }

  static std::string reduce(const Node& node, const ReduceAttr& attr, const std::string& x) {
    std::string out =
        fmt::format("reduce.{} {}, axes={}", op_info(attr.op).text, x, list_text(attr.axes));
    if (attr.accumulator != default_accumulator(node.dtype))
      out += fmt::format(", acc={}", dtype_name(attr.accumulator));
    if (attr.precision != Precision::kDefault)
      out += fmt::format(", matmul={}", precision_name(attr.precision));
    return out;
  }

  std::string returned() const {
    std::string out;
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const std::string& value = values_.at(graph_.outputs[i].get());
      const std::string name = output_name(i);
      const bool numbered = value.find_first_not_of("0123456789") == std::string::npos;
      out += out.empty() ? " " : ", ";
      if (name != (numbered ? "" : value)) out += name_text(name) + "=";
      out += "%" + value;
    }
    return out;
  }

  const Graph& graph_;
  const std::string indent_;
  const std::vector<NodeRef> order_;
  FlatMap<const Node*, std::string> values_;
  std::unordered_map<const Graph*, std::string> graph_names_;
  std::set<std::string> taken_, taken_graphs_;
  std::string out_;
};

}  // namespace

std::string print(const Graph& graph) { return GraphPrinter(graph, "").print(graph.name); }

}  // namespace tenon
