// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/schedule/patterns/rematerialised.hpp"

#include <algorithm>
#include <set>

#include "core/schedule/axis_map.hpp"
#include "core/schedule/patterns/contraction.hpp"
#include "core/schedule/patterns/online_softmax.hpp"

namespace tenon::scheduling {
namespace {

/// Terms of the products, and results of a reduction for each row of them: beyond, computing them
/// again takes longer than a trip through memory.
constexpr double kMostTerms = 128;
/// How much larger a product is than what it is made of.
constexpr double kMuchLarger = 4;
constexpr double kUsualCache = 32 << 20;  ///< the last one, where the device does not say

class RematerialisedFinder {
 public:
  explicit RematerialisedFinder(const SchedulerInput& input)
      : input_(input), readers_(input.nodes.size()), kept_(input.nodes.size()) {
    for (size_t i = 0; i < input.nodes.size(); ++i)
      for (const int s : input.sources[i])
        readers_[static_cast<size_t>(s)].push_back(static_cast<int>(i));
    for (const NodeRef& output : input.graph.outputs)
      kept_[static_cast<size_t>(input.at(output))] = true;
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
      const std::vector<int> positions = positions_of(input_, group.inside);
      group.inside.insert(group.inside.end(), positions.begin(), positions.end());
      std::vector<std::vector<int>> joined = joined_of(group);
      out.push_back({std::move(group.roots), std::move(group.inside), std::move(joined)});
    }
    return out;
  }

 private:
  struct Group {
    std::vector<int> roots, inside;
  };

  double length(int reduce) const {
    const Node& node = input_.node(reduce);
    return input_.estimate.of(
        node.sources[0]->shape[static_cast<size_t>(node.as<ReduceAttr>().axes[0])]);
  }
  bool is_row(int i) const {
    return input_.node(i).op == Op::REDUCE && input_.node(i).as<ReduceAttr>().axes.size() == 1;
  }
  bool passes(int i) const { return is_pointwise(input_.node(i)); }

  bool is_large_product(int i) const {
    const NodeAnalysis& analysis = input_.analysis[i];
    if (!analysis.contraction || !is_row(i) || length(i) > kMostTerms) return false;
    const uint64_t cache = input_.capabilities(i).l3_bytes;
    const double bytes = analysis.size * static_cast<double>(dtype_size(input_.node(i).dtype));
    if (bytes <= (cache ? static_cast<double>(cache) : kUsualCache)) return false;
    const std::vector<NodeRef>& factors = product_of(input_.node(i))->sources;
    return std::ranges::all_of(factors, [&](const NodeRef& factor) {
      const int repeated = input_.index.at(&behind_moves(*factor));
      return input_.analysis[repeated].size * kMuchLarger <= analysis.size;
    });
  }

  /// What the product leads to, down to reductions; nothing if anyone else wants any of it.
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
      if (kept_[static_cast<size_t>(i)] || (i != product && !passes(i))) return {};
      out.inside.push_back(i);
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

  /// The terms of the product, which are more than what they are made of.
  void add_factors(Group& group, int product) const {
    std::vector<int> work{input_.sources[product][0]};
    while (!work.empty()) {
      const int i = work.back();
      work.pop_back();
      if (!passes(i) || input_.analysis[i].size <= input_.analysis[product].size) continue;
      group.inside.push_back(i);
      work.insert(work.end(), input_.sources[i].begin(), input_.sources[i].end());
    }
  }

  /// Sums of products over one axis of what is computed again, at the same positions: the products
  /// of both are then computed once.
  std::vector<std::vector<int>> joined_of(const Group& group) const {
    int product = group.roots.back();
    for (const int i : group.inside)
      if (input_.node(i).op == Op::REDUCE) product = std::min(product, i);
    std::vector<std::vector<int>> out;
    std::vector<IndexMap> ways;  // from those to the product
    for (const int root : group.roots) {
      const Node& node = input_.node(root);
      IndexMap map = anywhere(node.sources[0]->shape);
      if (!input_.analysis[root].contraction ||
          !find_below(input_, input_.sources[root][0], product, map))
        continue;
      size_t i = 0;
      while (i < out.size() && !(ways[i] == map && can_join(out[i], root))) ++i;
      if (i == out.size()) {
        out.emplace_back();
        ways.push_back(std::move(map));
      }
      out[i].push_back(root);
    }
    std::erase_if(out, [](const std::vector<int>& roots) { return roots.size() < 2; });
    return out;
  }

  /// Of results of one shape, if none waits for another.
  bool can_join(const std::vector<int>& roots, int root) const {
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

  /// Groups that have a node in common are one.
  static void add(std::vector<Group>& groups, Group group) {
    const auto meets = [&](const Group& other) {
      return std::ranges::any_of(group.roots,
                                 [&](int r) { return std::ranges::count(other.roots, r) > 0; });
    };
    const auto join = [](std::vector<int>& to, const std::vector<int>& more) {
      for (const int i : more)
        if (!std::ranges::count(to, i)) to.push_back(i);
    };
    for (size_t g = 0; g < groups.size();) {
      if (!meets(groups[g])) {
        ++g;
        continue;
      }
      join(group.roots, groups[g].roots);
      join(group.inside, groups[g].inside);
      groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(g));
    }
    groups.push_back(std::move(group));
  }

  const SchedulerInput& input_;
  std::vector<std::vector<int>> readers_;
  std::vector<bool> kept_;  ///< outputs
};

}  // namespace

std::vector<Rematerialised> find_rematerialised(const SchedulerInput& input) {
  return RematerialisedFinder(input).run();
}

}  // namespace tenon::scheduling
