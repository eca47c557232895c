// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/rewrite/driver.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "core/support/error.hpp"
#include "core/support/flat_map.hpp"
#include "core/support/log.hpp"

namespace tenon::rewrite {
namespace {

/// Most successive replacements of one node by rules of applications.
constexpr int kMaxChain = 64;

class Driver {
 public:
  Driver(const Rules& rules, Builder& builder, bool bounded)
      : builder_(builder), bounded_(bounded) {
    for (const Rule& rule : rules)
      for (const Op op : rule.roots) by_op_[static_cast<size_t>(op)].push_back(&rule);
  }

  Graph run(const Graph& graph) {
    Graph out = graph;
    std::vector<NodeRef> roots = graph.outputs;
    roots.insert(roots.end(), graph.params.begin(), graph.params.end());
    budget_ += 1000 + (bounded_ ? 8 : 64) * topological(roots).size();
    for (NodeRef& param : out.params) param = rewrite(param);
    for (NodeRef& output : out.outputs) output = rewrite(output);
    return out;
  }

 private:
  /// A node on the stack: first its sources, then itself, then its replacement are rewritten.
  struct Visit {
    NodeRef node;
    size_t next = 0;
    NodeRef rebuilt;      ///< the node with rewritten sources
    NodeRef replacement;  ///< the result of a rule
    int chain = 0;        ///< replacements that led to it
  };

  NodeRef rewrite(const NodeRef& root) {
    std::vector<Visit> stack;
    stack.push_back({root, 0, nullptr, nullptr});
    while (!stack.empty()) {
      Visit& top = stack.back();
      if (done_.contains(top.node.get())) {
        stack.pop_back();
      } else if (top.next < top.node->sources.size()) {
        const NodeRef& source = top.node->sources[top.next++];
        if (!done_.contains(source.get()))
          stack.push_back({source, 0, nullptr, nullptr, top.chain});
      } else if (!top.rebuilt) {
        top.rebuilt = rebuild(top.node);
        if (const NodeRef* known = done_.find(top.rebuilt.get())) {
          finish(top.node, NodeRef(*known));
        } else if (NodeRef made = apply(top.rebuilt, top.chain)) {
          top.replacement = made;
          stack.push_back({made, 0, nullptr, nullptr, top.chain + 1});
        } else {
          finish(top.rebuilt, top.rebuilt);
          finish(top.node, top.rebuilt);
        }
      } else {
        const NodeRef result = done_.at(top.replacement.get());
        finish(top.rebuilt, result);
        finish(top.node, result);
      }
    }
    return done_.at(root.get());
  }

  void finish(const NodeRef& node, NodeRef result) {
    const bool keeps_itself = node == result;
    if (done_.try_emplace(node.get(), std::move(result)).second && !keeps_itself)
      alive_.push_back(node);
  }

  bool is_final(const Node& node) const {
    return node.op != Op::IF && node.op != Op::LOOP &&
           std::ranges::all_of(node.sources,
                               [&](const NodeRef& s) { return done_.at(s.get()) == s; });
  }

  NodeRef rebuild(const NodeRef& at) {
    const Node& node = *at;
    if (is_final(node) && builder_.owns(node)) return at;
    std::vector<NodeRef> sources;
    sources.reserve(node.sources.size());
    for (const NodeRef& source : node.sources) sources.push_back(done_.at(source.get()));
    Attr attr = node.attr;
    if (auto* choice = std::get_if<IfAttr>(&attr)) {
      choice->then_graph = region(choice->then_graph);
      choice->else_graph = region(choice->else_graph);
    } else if (auto* loop = std::get_if<LoopAttr>(&attr)) {
      loop->body = region(loop->body);
    }
    return builder_.make(node.op, node.dtype, node.shape, std::move(sources), std::move(attr));
  }

  /// Cached by graph, so that the results of one loop still share it.
  GraphRef region(const GraphRef& graph) {
    const auto known = regions_.find(graph.get());
    if (known != regions_.end()) return known->second.second;
    GraphRef out = std::make_shared<const Graph>(run(*graph));
    regions_[graph.get()] = {graph, out};
    regions_[out.get()] = {out, out};
    return out;
  }

  NodeRef apply(const NodeRef& node, int chain) {
    for (const Rule* rule : by_op_[static_cast<size_t>(node->op)]) {
      NodeRef made = rule->apply(node, builder_);
      if (!made || made == node) continue;
      TN_ASSERT(made->dtype == node->dtype && same_shape(made->shape, node->shape));
      if (bounded_ && (budget_ == 0 || chain >= kMaxChain))
        fail(ErrorKind::kInvalid,
             "[rules] expected rules that come to an end, after {} replacements of one node at "
             "most; got '{}' once more",
             kMaxChain, rule->name);
      if (budget_ == 0) {
        TN_LOG("rewrite", "no end of rewriting {} by {}: left as it is", op_info(node->op).text,
               rule->name);
        return nullptr;
      }
      --budget_;
      if (bounded_)
        TN_LOG("rewrite", "{} is replaced by the rule '{}'", op_info(node->op).text, rule->name);
      return made;
    }
    return nullptr;
  }

  Builder& builder_;
  const bool bounded_;
  std::array<std::vector<const Rule*>, 256> by_op_;
  FlatMap<const Node*, NodeRef> done_;
  std::vector<NodeRef> alive_;  ///< keeps keys of done_ alive that are not results
  std::unordered_map<const Graph*, std::pair<GraphRef, GraphRef>> regions_;
  size_t budget_ = 0;  ///< replacements left, which bounds rules that undo each other
};

}  // namespace

Rules operator+(Rules a, const Rules& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Graph run(const Graph& graph, const Rules& rules, Builder& builder) {
  return Driver(rules, builder, /*bounded=*/false).run(graph);
}

Graph run_bounded(const Graph& graph, const Rules& rules, Builder& builder) {
  return Driver(rules, builder, /*bounded=*/true).run(graph);
}

}  // namespace tenon::rewrite
