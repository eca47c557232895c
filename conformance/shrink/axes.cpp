// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One axis of the graph gets smaller, and with it those that have to be as long.
#include <algorithm>
#include <set>

#include "conformance/cases/graphs/shapes.hpp"
#include "conformance/shrink/edit.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::shrink {
namespace {

using Axis = std::pair<const Node*, size_t>;

/// Axes of a node and of its sources that are one. Nothing for an op that is not understood, or
/// an axis that only depends on another.
class Links {
 public:
  explicit Links(const Case& test) {
    for (const NodeRef& node : topological(test.graph.outputs)) add(*node);
  }

  /// All that is one with the axis; empty if one of them cannot change alone.
  std::set<Axis> closure(const Axis& axis) const {
    std::set<Axis> seen{axis};
    std::vector<Axis> todo{axis};
    while (!todo.empty()) {
      const Axis now = todo.back();
      todo.pop_back();
      if (fixed_.contains(now)) return {};
      const auto [begin, end] = links_.equal_range(now);
      for (auto link = begin; link != end; ++link)
        if (seen.insert(link->second).second) todo.push_back(link->second);
    }
    return seen;
  }

 private:
  void link(const Node& a, size_t i, const Node& b, size_t k) {
    links_.emplace(Axis{&a, i}, Axis{&b, k});
    links_.emplace(Axis{&b, k}, Axis{&a, i});
  }
  void fix(const Node& node, size_t axis) { fixed_.insert({&node, axis}); }
  void fix(const Node& node) {
    for (size_t i = 0; i < node.shape.size(); ++i) fix(node, i);
  }
  void link_all(const Node& a, const Node& b) {
    for (size_t i = 0; i < a.shape.size(); ++i) link(a, i, b, i);
  }

  void add(const Node& node) {
    switch (node.op) {
      case Op::PARAM:
      case Op::CONST:
      case Op::INDEX:
        return;
      case Op::VIEW:
        return add_view(node, *node.sources[0], node.as<ViewAttr>());
      case Op::REDUCE: {
        const std::vector<int>& axes = node.as<ReduceAttr>().axes;
        for (size_t i = 0; i < node.shape.size(); ++i)
          if (std::ranges::find(axes, static_cast<int>(i)) == axes.end())
            link(node, i, *node.sources[0], i);
        return;
      }
      case Op::TAKE: {
        const auto axis = static_cast<size_t>(node.as<TakeAttr>().axis);
        link_all(node, *node.sources[1]);
        for (size_t i = 0; i < node.shape.size(); ++i)
          if (i != axis) link(node, i, *node.sources[0], i);
        return;
      }
      case Op::STORE: {
        const auto axis = static_cast<size_t>(node.as<StoreAttr>().axis);
        link_all(node, *node.sources[0]);
        link_all(*node.sources[1], *node.sources[2]);
        for (size_t i = 0; i < node.shape.size(); ++i)
          if (i != axis) link(node, i, *node.sources[1], i);
        return;
      }
      case Op::IF:
      case Op::LOOP:
      case Op::COPY:
        fix(node);
        for (const NodeRef& source : node.sources) fix(*source);
        return;
      default:  // elementwise: operands have the result's shape
        for (const NodeRef& source : node.sources) link_all(node, *source);
    }
  }

  void add_view(const Node& node, const Node& source, const ViewAttr& view) {
    switch (view.kind) {
      case ViewKind::kFlip:
        return link_all(node, source);
      case ViewKind::kPermute:
        for (size_t i = 0; i < view.axes.size(); ++i)
          link(node, i, source, static_cast<size_t>(view.axes[i]));
        return;
      case ViewKind::kExpand:
        for (size_t i = 0; i < node.shape.size(); ++i)
          if (!source.shape[i].is_const(1) || node.shape[i].is_const(1)) link(node, i, source, i);
        return;
      case ViewKind::kReshape:
        return add_reshape(node, source);
      case ViewKind::kPad:
      case ViewKind::kShrink:
        for (size_t i = 0; i < node.shape.size(); ++i) {
          const bool whole =
              view.kind == ViewKind::kPad
                  ? view.pairs[i].first.is_const(0) && view.pairs[i].second.is_const(0)
                  : view.pairs[i].first.is_const(0) && node.shape[i] == source.shape[i];
          if (whole) {
            link(node, i, source, i);
          } else {
            fix(node, i);
            fix(source, i);
          }
        }
        return;
    }
  }

  /// Axes with as many elements before them, and as long, are one.
  void add_reshape(const Node& node, const Node& source) {
    std::set<size_t> matched, matched_source;
    int64_t before = 1;
    for (size_t i = 0; i < node.shape.size(); before *= node.shape[i].value(), ++i) {
      int64_t before_source = 1;
      for (size_t k = 0; k < source.shape.size(); before_source *= source.shape[k].value(), ++k)
        if (before == before_source && node.shape[i] == source.shape[k] &&
            !node.shape[i].is_const(1)) {
          link(node, i, source, k);
          matched.insert(i);
          matched_source.insert(k);
        }
    }
    for (size_t i = 0; i < node.shape.size(); ++i)
      if (!matched.contains(i)) fix(node, i);
    for (size_t k = 0; k < source.shape.size(); ++k)
      if (!matched_source.contains(k)) fix(source, k);
  }

  std::multimap<Axis, Axis> links_;
  std::set<Axis> fixed_;
};

}  // namespace

std::optional<Case> with_smaller_axis(const Case& test, const NodeRef& node, size_t axis,
                                      int64_t smaller, Keep keep, Builder& builder) {
  if (!test.graph.symbols.empty() || smaller >= node->shape[axis].value()) return std::nullopt;
  const std::set<Axis> one = Links(test).closure({node.get(), axis});
  if (one.empty()) return std::nullopt;
  const auto shape_of = [&](const Node& old) {
    Shape shape = old.shape;
    for (size_t i = 0; i < shape.size(); ++i)
      if (one.contains({&old, i})) shape[i] = Dim(smaller);
    return shape;
  };
  return rebuilt(
      test,
      [&](const Node& old, const std::vector<NodeRef>& sources) {
        Attr attr = old.attr;
        auto* view = std::get_if<ViewAttr>(&attr);
        if (view && view->kind == ViewKind::kShrink)
          for (size_t i = 0; i < old.shape.size(); ++i)
            if (one.contains({&old, i})) view->pairs[i].second = Dim(smaller);
        return builder.make(old.op, old.dtype, shape_of(old), sources, attr);
      },
      keep, builder);
}

}  // namespace tenon::conformance::shrink
