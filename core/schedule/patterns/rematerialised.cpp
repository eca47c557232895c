// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/schedule/patterns/rematerialised.hpp"

#include <algorithm>
#include <set>

#include "core/schedule/axis_map.hpp"
#include "core/schedule/patterns/contraction.hpp"
#include "core/schedule/patterns/online_softmax.hpp"

namespace tenon::scheduling {
namespace {

/// Most terms of a product, and most results of a reduction for each row of the product: beyond,
/// recomputing takes longer than a round trip through memory.
constexpr double kMostTerms = 128;
/// Least ratio of the product's size to that of its factors.
constexpr double kMuchLarger = 4;
constexpr double kUsualCache = 32 << 20;  ///< bytes of the last-level cache, if it is unknown

class RematerialisationMatcher {
 public:
  explicit RematerialisationMatcher(const SchedulerInput& input)
      : input_(input), readers_(input.nodes.size()), is_output_(input.nodes.size()) {
    for (size_t i = 0; i < input.nodes.size(); ++i)
      for (const int s : input.sources[i])
        readers_[static_cast<size_t>(s)].push_back(static_cast<int>(i));
    for (const NodeRef& output : input.graph.outputs)
      is_output_[static_cast<size_t>(input.at(output))] = true;
  }

  std::vector<Rematerialised> run() {
    std::vector<Group> groups;
    for (int i = 0; i < static_cast<int>(input_.nodes.size()); ++i)
      if (is_large_product(i))
        if (Group group = group_of(i); !group.roots.empty()) add(groups, std::move(group));
    std::vector<Rematerialised> out;
    for (Group& group : groups) {
      const auto is_product = [&](int r) { return input_.analysis[r].contraction; };
      if (group.roots.size() < 2 || std::ranges::none_of(group.roots, is_product)) continue;
      std::ranges::sort(group.roots);
      const std::vector<int> positions = positions_of(input_, group.fused_nodes);
      group.fused_nodes.insert(group.fused_nodes.end(), positions.begin(), positions.end());
      std::vector<std::vector<int>> fused_roots = fused_roots_of(group);
      out.push_back({std::move(group.roots), std::move(group.fused_nodes), std::move(fused_roots)});
    }
    return out;
  }

 private:
  struct Group {
    std::vector<int> roots, fused_nodes;
  };

  double length(int reduce) const {
    const Node& node = input_.node(reduce);
    return input_.estimate.of(
        node.sources[0]->shape[static_cast<size_t>(node.as<ReduceAttr>().axes[0])]);
  }
  bool is_row(int i) const {
    return input_.node(i).op == Op::REDUCE && input_.node(i).as<ReduceAttr>().axes.size() == 1;
  }
  bool is_pointwise(int i) const { return scheduling::is_pointwise(input_.node(i)); }

  bool is_large_product(int i) const {
    const NodeAnalysis& analysis = input_.analysis[i];
    if (!analysis.contraction || !is_row(i) || length(i) > kMostTerms) return false;
    const uint64_t cache = input_.capabilities(i).l3_bytes;
    const double bytes = analysis.size * static_cast<double>(dtype_size(input_.node(i).dtype));
    if (bytes <= (cache ? static_cast<double>(cache) : kUsualCache)) return false;
    const std::vector<NodeRef>& factors = product_of(input_.node(i))->sources;
    return std::ranges::all_of(factors, [&](const NodeRef& factor) {
      const int repeated = input_.index.at(&strip_casts_and_views(*factor));
      return input_.analysis[repeated].size * kMuchLarger <= analysis.size;
    });
  }

  /// The product's readers up to reductions; nothing if one of them has to be materialised.
  Group group_of(int product) const {
    Group out;
    std::vector<bool> seen(input_.nodes.size());
    std::vector<int> work{product};
    while (!work.empty()) {
      const int i = work.back();
      work.pop_back();
      if (seen[static_cast<size_t>(i)]) continue;
      seen[static_cast<size_t>(i)] = true;
      if (input_.device[i] != input_.device[product]) return {};
      if (i != product && input_.node(i).op == Op::REDUCE) {
        if (!may_end_at(i, product)) return {};
        out.roots.push_back(i);
        continue;
      }
      if (is_output_[static_cast<size_t>(i)] || (i != product && !is_pointwise(i))) return {};
      out.fused_nodes.push_back(i);
      const std::vector<int>& readers = readers_[static_cast<size_t>(i)];
      work.insert(work.end(), readers.begin(), readers.end());
    }
    add_factors(out, product);
    return out;
  }

  bool may_end_at(int reduce, int product) const {
    const double terms = input_.analysis[input_.sources[reduce][0]].size,
                 size = input_.analysis[product].size;
    return is_row(reduce) && terms <= size * kMostTerms &&
           input_.analysis[reduce].size * kMuchLarger <= size;
  }

  /// Fuses the terms of the product, which are larger than its factors.
  void add_factors(Group& group, int product) const {
    std::vector<int> work{input_.sources[product][0]};
    while (!work.empty()) {
      const int i = work.back();
      work.pop_back();
      if (!is_pointwise(i) || input_.analysis[i].size <= input_.analysis[product].size) continue;
      group.fused_nodes.push_back(i);
      work.insert(work.end(), input_.sources[i].begin(), input_.sources[i].end());
    }
  }

  /// Roots that are contractions over the same axis of the recomputed product, at the same
  /// positions: one kernel recomputes the product once for all of them.
  std::vector<std::vector<int>> fused_roots_of(const Group& group) const {
    int product = group.roots.back();
    for (const int i : group.fused_nodes)
      if (input_.node(i).op == Op::REDUCE) product = std::min(product, i);
    std::vector<std::vector<int>> out;
    std::vector<IndexMap> maps;  // from each list of `out` to the product
    for (const int root : group.roots) {
      const Node& node = input_.node(root);
      IndexMap map = identity_map(node.sources[0]->shape);
      if (!input_.analysis[root].contraction ||
          !trace_to(input_, input_.sources[root][0], product, map))
        continue;
      size_t i = 0;
      while (i < out.size() && !(maps[i] == map && can_fuse(out[i], root))) ++i;
      if (i == out.size()) {
        out.emplace_back();
        maps.push_back(std::move(map));
      }
      out[i].push_back(root);
    }
    std::erase_if(out, [](const std::vector<int>& roots) { return roots.size() < 2; });
    return out;
  }

  /// True if all results have one shape and none depends on another.
  bool can_fuse(const std::vector<int>& roots, int root) const {
    const Node &x = input_.node(roots[0]), &y = input_.node(root);
    return x.shape == y.shape && x.as<ReduceAttr>().axes == y.as<ReduceAttr>().axes &&
           std::ranges::none_of(roots, [&](int other) {
             return needs(std::max(root, other), std::min(root, other));
           });
  }

  bool needs(int i, int other) const {
    std::vector<int> work{i};
    std::set<int> seen;
    while (!work.empty()) {
      const int at = work.back();
      work.pop_back();
      if (at == other) return true;
      if (at > other && seen.insert(at).second)
        work.insert(work.end(), input_.sources[at].begin(), input_.sources[at].end());
    }
    return false;
  }

  /// Adds a group, merged with the groups that share a root with it.
  static void add(std::vector<Group>& groups, Group group) {
    const auto overlaps = [&](const Group& other) {
      return std::ranges::any_of(group.roots,
                                 [&](int r) { return std::ranges::count(other.roots, r) > 0; });
    };
    const auto add_missing = [](std::vector<int>& to, const std::vector<int>& more) {
      for (const int i : more)
        if (!std::ranges::count(to, i)) to.push_back(i);
    };
    for (size_t g = 0; g < groups.size();) {
      if (!overlaps(groups[g])) {
        ++g;
        continue;
      }
      add_missing(group.roots, groups[g].roots);
      add_missing(group.fused_nodes, groups[g].fused_nodes);
      groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(g));
    }
    groups.push_back(std::move(group));
  }

  const SchedulerInput& input_;
  std::vector<std::vector<int>> readers_;
  std::vector<bool> is_output_;
};

}  // namespace

std::vector<Rematerialised> find_rematerialised(const SchedulerInput& input) {
  return RematerialisationMatcher(input).run();
}

}  // namespace tenon::scheduling
