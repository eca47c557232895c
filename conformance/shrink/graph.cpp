// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What no choice expresses: a part of the graph alone, the reference's values in place of another,
// single sizes.
#include <algorithm>
#include <set>

#include "conformance/shrink/edit.hpp"
#include "conformance/shrink/search.hpp"

namespace tenon::conformance::shrink {
namespace {

constexpr double kGraphShare = 0.8;  ///< values come after it

class GraphShrinker {
 public:
  explicit GraphShrinker(Search& search) : search_(search) {}

  bool run() {
    bool any = false;
    for (bool again = true; again && !spent();) {
      again = outputs();
      again = isolate() || again;
      again = cut_above() || again;
      again = inputs_below() || again;
      again = bypass() || again;
      again = sizes() || again;
      any = any || again;
    }
    return any;
  }

 private:
  bool spent() const { return search_.spent(kGraphShare); }
  const Case& best() const { return search_.best(); }
  std::vector<NodeRef> nodes() const { return topological(best().graph.outputs); }

  /// Of written transforms the one list that says something may now belong to the first kernel.
  bool offer(std::optional<Case> candidate, bool smaller = true) {
    if (!candidate || spent()) return false;
    if (smaller ? search_.accept_smaller(candidate) : search_.accept(candidate)) return true;
    std::vector<std::string> lists = candidate->transforms;
    std::erase(lists, kNoTransforms);
    if (lists.size() != 1 || lists == candidate->transforms) return false;
    candidate->transforms = lists;
    return smaller ? search_.accept_smaller(candidate) : search_.accept(candidate);
  }

  /// One output alone, or one fewer.
  bool outputs() {
    const std::vector<NodeRef> all = best().graph.outputs;
    if (all.size() < 2) return false;
    for (const NodeRef& output : all)
      if (offer(with_outputs(best(), {output}), false)) return true;
    for (size_t i = 0; i < all.size(); ++i) {
      std::vector<NodeRef> rest = all;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      if (offer(with_outputs(best(), rest), false)) return true;
    }
    return false;
  }

  /// One op alone, over the reference's values.
  bool isolate() {
    const NodeValues values = evaluate_all(best());
    for (const NodeRef& node : nodes()) {
      if (node->sources.empty()) continue;
      const auto alone = with_outputs(best(), {node});
      if (alone && offer(with_inputs_for(*alone, feeds_of(*node), values, search_.builder())))
        return true;
    }
    return false;
  }

  static std::vector<NodeRef> feeds_of(const Node& node) {
    std::vector<NodeRef> feeds;
    for (const NodeRef& source : node.sources)
      if (source->op != Op::CONST) feeds.push_back(source);
    return feeds;
  }

  /// The smallest part that ends with one node.
  bool cut_above() {
    std::vector<std::pair<size_t, NodeRef>> parts;
    for (const NodeRef& node : nodes())
      if (node->op != Op::PARAM) parts.emplace_back(topological({node}).size(), node);
    std::ranges::stable_sort(parts, {}, &std::pair<size_t, NodeRef>::first);
    return std::ranges::any_of(
        parts, [&](const auto& part) { return offer(with_outputs(best(), {part.second})); });
  }

  /// The reference's values in place of what feeds the outputs, then in place of single nodes.
  bool inputs_below() {
    const NodeValues values = evaluate_all(best());
    std::vector<NodeRef> feeds;
    for (const NodeRef& output : best().graph.outputs)
      for (const NodeRef& source : feeds_of(*output)) feeds.push_back(source);
    if (offer(with_inputs_for(best(), feeds, values, search_.builder()))) return true;
    for (const NodeRef& node : nodes())
      if (!node->sources.empty() &&
          offer(with_inputs_for(best(), {node}, values, search_.builder())))
        return true;
    return false;
  }

  /// A node gives way to one of its own operands.
  bool bypass() {
    for (const NodeRef& node : nodes())
      for (const NodeRef& source : node->sources)
        if (offer(with_replaced(best(), node, source, search_.builder()))) return true;
    return false;
  }

  bool sizes() {
    bool any = offer(with_static_shapes(best(), search_.builder()), false);
    const SymbolValues symbols = best().symbols;
    for (const Expr& symbol : std::vector<Expr>(best().graph.symbols))
      for (int64_t value = symbol.min(); value < symbols.at(symbol.name()); value = value * 2 + 1)
        if (offer(with_smaller_symbol(best(), symbol.name(), value))) {
          any = true;
          break;
        }
    if (!best().graph.symbols.empty()) return any;
    std::set<int64_t, std::greater<>> sizes;
    for (const NodeRef& node : nodes())
      for (const Dim& dim : node->shape) sizes.insert(dim.value());
    for (const int64_t size : sizes) any = smaller_size(size) || any;
    return axes() || any;
  }

  /// Axes of one size that do not belong together, one by one.
  bool axes() {
    bool any = false;
    for (size_t i = 0; i < best().graph.params.size(); ++i)
      for (size_t axis = 0;
           i < best().graph.params.size() && axis < best().graph.params[i]->shape.size(); ++axis)
        for (const Keep keep : {Keep::kFirst, Keep::kLast}) {
          const int64_t size = best().graph.params[i]->shape[axis].value();
          any = least(size,
                      [&](int64_t, int64_t smaller) {
                        return offer(with_smaller_axis(best(), best().graph.params[i], axis,
                                                       smaller, keep, search_.builder()));
                      }) < size ||
                any;
        }
    return any;
  }

  /// The smallest size that still fails, from either end.
  bool smaller_size(int64_t size) {
    int64_t now = size;
    for (const Keep keep : {Keep::kFirst, Keep::kLast})
      now = least(now, [&](int64_t from, int64_t smaller) {
        return offer(with_smaller_size(best(), from, smaller, keep, search_.builder()));
      });
    return now < size;
  }

  /// By trying the small ones and then bisection; `resized(from, smaller)` says whether it fails.
  template <class Resized>
  int64_t least(int64_t size, const Resized& resized) {
    for (const int64_t small : {1, 2, 3})
      if (small < size && resized(size, small)) return small;
    int64_t passes = std::min<int64_t>(3, size), fails = size;
    while (fails - passes > 1 && !spent()) {
      const int64_t middle = passes + (fails - passes) / 2;
      (resized(fails, middle) ? fails : passes) = middle;
    }
    return fails;
  }

  Search& search_;
};

}  // namespace

bool shrink_graph(Search& search) { return GraphShrinker(search).run(); }

}  // namespace tenon::conformance::shrink
