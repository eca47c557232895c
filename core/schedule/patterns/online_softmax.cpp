// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/schedule/patterns/online_softmax.hpp"

#include <algorithm>
#include <set>

#include "core/schedule/patterns/contraction.hpp"

namespace tenon::scheduling {
namespace {

class OnlineSoftmaxFinder {
 public:
  OnlineSoftmaxFinder(const SchedulerInput& input, const std::vector<int>& again)
      : input_(input), readers_(input.nodes.size()), again_(input.nodes.size()) {
    for (const int i : again) again_[static_cast<size_t>(i)] = true;
    for (size_t i = 0; i < input.nodes.size(); ++i)
      for (const int s : input.sources[i])
        readers_[static_cast<size_t>(s)].push_back(static_cast<int>(i));
    kept_.assign(input.nodes.size(), false);
    for (const NodeRef& output : input.graph.outputs)
      kept_[static_cast<size_t>(input.at(output))] = true;
  }

  std::vector<OnlineSoftmax> run() {
    std::vector<OnlineSoftmax> out;
    for (int i = 0; i < static_cast<int>(input_.nodes.size()); ++i)
      if (is_sum_of_products(i))
        if (OnlineSoftmax softmax = softmax_to(i); softmax.root >= 0)
          out.push_back(std::move(softmax));
    std::vector<int> inside;
    for (const OnlineSoftmax& softmax : out)
      inside.insert(inside.end(), softmax.inside.begin(), softmax.inside.end());
    const std::vector<int> positions = positions_of(input_, inside);
    for (OnlineSoftmax& softmax : out)
      softmax.inside.insert(softmax.inside.end(), positions.begin(), positions.end());
    return out;
  }

 private:
  bool is_reduce(int i, Op op) const {
    return input_.node(i).op == Op::REDUCE && input_.node(i).as<ReduceAttr>().op == op;
  }
  /// Also of one row by a matrix, where nothing is repeated.
  bool is_sum_of_products(int i) const {
    return product_of(input_.node(i)) && input_.node(i).as<ReduceAttr>().axes.size() == 1;
  }
  int terms_of(int sum) const {
    return input_.index.at(&behind_casts(*input_.node(sum).sources[0]));
  }
  bool passes(int i) const { return is_pointwise(input_.node(i)); }

  /// Nodes on the way from `root` down to reductions, and these.
  struct Cone {
    std::vector<int> nodes, reductions;
  };
  Cone cone_of(int root) const {
    Cone out;
    std::vector<bool> seen(input_.nodes.size());
    std::vector<int> work = input_.sources[root];
    while (!work.empty()) {
      const int i = work.back();
      work.pop_back();
      if (seen[static_cast<size_t>(i)]) continue;
      seen[static_cast<size_t>(i)] = true;
      if (input_.node(i).op == Op::REDUCE) out.reductions.push_back(i);
      if (!passes(i)) continue;
      out.nodes.push_back(i);
      work.insert(work.end(), input_.sources[i].begin(), input_.sources[i].end());
    }
    return out;
  }

  OnlineSoftmax softmax_to(int root) const {
    const Cone last = cone_of(root);
    std::vector<int> maxima;
    for (const int r : last.reductions)
      if (is_reduce(r, Op::MAX)) maxima.push_back(r);
    if (maxima.size() != 1) return {};
    const int maximum = maxima[0];
    std::vector<Cone> cones{last, cone_of(maximum)};
    std::vector<int> products;
    for (const int r : cones[1].reductions)
      if (is_sum_of_products(r)) products.push_back(r);
    // For each weight several values: else it is a sum of rows, and the product one by itself.
    if (products.size() != 1 ||
        input_.analysis[terms_of(root)].size <= input_.analysis[products[0]].size)
      return {};
    std::vector<int> rows;
    for (const int r : last.reductions) {
      if (!is_reduce(r, Op::ADD)) continue;
      Cone cone = cone_of(r);
      if (!std::ranges::count(cone.reductions, maximum)) continue;
      rows.push_back(r);
      cones.push_back(std::move(cone));
    }
    for (const int r : sums_above(maximum)) {
      if (r == root || std::ranges::count(rows, r) || !is_row(r, products[0])) continue;
      Cone cone = cone_of(r);
      if (!is_row_of(cone, maximum, cones[1])) continue;
      rows.push_back(r);
      cones.push_back(std::move(cone));
    }
    OnlineSoftmax out;
    out.root = out.sum = root;
    out.maximum = maximum;
    out.product = products[0];
    out.rows = std::move(rows);
    if (!std::ranges::all_of(out.rows, [&](int r) { return is_row(r, out.product); }) ||
        !add_inside(out, cones))
      return {};
    add_factors(out, products[0]);
    add_casts(out);
    return out;
  }

  /// Of no more terms than there are products.
  bool is_row(int sum, int product) const {
    return input_.analysis[input_.sources[sum][0]].size <= input_.analysis[product].size;
  }

  /// Sums of what is made of it, element by element.
  std::vector<int> sums_above(int maximum) const {
    std::vector<int> out, work = readers_[static_cast<size_t>(maximum)];
    std::set<int> seen;
    while (!work.empty()) {
      const int i = work.back();
      work.pop_back();
      if (!seen.insert(i).second) continue;
      if (is_reduce(i, Op::ADD)) out.push_back(i);
      if (!passes(i)) continue;
      const std::vector<int>& readers = readers_[static_cast<size_t>(i)];
      work.insert(work.end(), readers.begin(), readers.end());
    }
    std::ranges::sort(out);
    return out;
  }

  /// Whether a sum is made of what the maximum is, and of that.
  static bool is_row_of(const Cone& sum, int maximum, const Cone& of_maximum) {
    return std::ranges::all_of(sum.reductions, [&](int r) {
      return r == maximum || std::ranges::count(of_maximum.reductions, r);
    });
  }

  /// Of the cones, what leads to one of the reductions; false if others need any of it but rows.
  bool add_inside(OnlineSoftmax& out, const std::vector<Cone>& cones) const {
    const int root = out.root;
    std::vector<bool> inside(input_.nodes.size());
    std::vector<int> rows = out.rows;
    rows.push_back(out.maximum);
    for (const int r : rows) inside[static_cast<size_t>(r)] = true;
    inside[static_cast<size_t>(root)] = inside[static_cast<size_t>(out.product)] = true;
    std::vector<int> nodes;
    for (const Cone& cone : cones) nodes.insert(nodes.end(), cone.nodes.begin(), cone.nodes.end());
    std::ranges::sort(nodes);  // sources first
    for (const int i : nodes)
      for (const int s : input_.sources[i])
        if (inside[static_cast<size_t>(s)] && s != root) inside[static_cast<size_t>(i)] = true;
    for (int i = 0; i < static_cast<int>(inside.size()); ++i) {
      if (!inside[static_cast<size_t>(i)] || i == root) continue;
      out.inside.push_back(i);
      const auto is_inside = [&](int reader) { return inside[static_cast<size_t>(reader)]; };
      if (input_.device[i] != input_.device[root]) return false;
      if (!kept_[static_cast<size_t>(i)] &&
          std::ranges::all_of(readers_[static_cast<size_t>(i)], is_inside))
        continue;
      if (std::ranges::count(rows, i))
        out.also.push_back(i);
      else if (again_[static_cast<size_t>(i)])
        out.again = true;
      else
        return false;
    }
    // Who computes the rest again takes these as they are.
    if (out.again) out.also = rows;
    return true;
  }

  /// What narrows the sum, or widens it, is done to it at once.
  void add_casts(OnlineSoftmax& softmax) const {
    std::vector<int> above;
    int i = softmax.root;
    for (;;) {
      const std::vector<int>& readers = readers_[static_cast<size_t>(i)];
      if (kept_[static_cast<size_t>(i)] || readers.size() != 1 ||
          input_.device[readers[0]] != input_.device[softmax.root])
        return;
      above.push_back(i);
      i = readers[0];
      const Node& node = input_.node(i);
      if (node.op == Op::CAST) {
        softmax.root = i;
        softmax.inside.insert(softmax.inside.end(), above.begin(), above.end());
        above.clear();
      } else if (node.op != Op::VIEW || node.as<ViewAttr>().kind != ViewKind::kReshape) {
        return;
      }
    }
  }

  /// The terms of a product, which are more than what they are made of.
  void add_factors(OnlineSoftmax& softmax, int product) const {
    const int terms = terms_of(product);
    for (const int i : cone_of(product).nodes) {
      const NodeAnalysis& analysis = input_.analysis[i];
      const bool is_move = input_.node(i).op == Op::VIEW || analysis.trivial;
      if (i == terms || (is_move && !kept_[static_cast<size_t>(i)] &&
                         analysis.size > input_.analysis[product].size))
        softmax.inside.push_back(i);
    }
  }

  const SchedulerInput& input_;
  std::vector<std::vector<int>> readers_;
  std::vector<bool> again_;
  std::vector<bool> kept_;  ///< outputs
};

}  // namespace

std::vector<OnlineSoftmax> find_online_softmax(const SchedulerInput& input,
                                               const std::vector<int>& again) {
  return OnlineSoftmaxFinder(input, again).run();
}

std::vector<int> positions_of(const SchedulerInput& input, const std::vector<int>& inside) {
  enum class Read : uint8_t { kNever, kInside, kElsewhere };
  std::vector<Read> read(input.nodes.size(), Read::kNever);
  std::vector<bool> is_inside(input.nodes.size());
  for (const int i : inside) is_inside[static_cast<size_t>(i)] = true;
  for (const NodeRef& output : input.graph.outputs)
    read[static_cast<size_t>(input.at(output))] = Read::kElsewhere;
  std::vector<int> out;
  for (int i = static_cast<int>(input.nodes.size()); i-- > 0;) {
    const auto at = static_cast<size_t>(i);
    const bool is_position = !is_inside[at] && read[at] == Read::kInside &&
                             is_pointwise(input.node(i)) && !input.analysis[i].needs_buffer;
    if (is_position) out.push_back(i);
    for (const int s : input.sources[i]) {
      Read& source = read[static_cast<size_t>(s)];
      if (!is_inside[at] && !is_position) source = Read::kElsewhere;
      if (source == Read::kNever) source = Read::kInside;
    }
  }
  return out;
}

}  // namespace tenon::scheduling
