// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/schedule/patterns/online_softmax.hpp"

#include <algorithm>
#include <set>

#include "core/schedule/patterns/contraction.hpp"

namespace tenon::scheduling {
namespace {

class OnlineSoftmaxMatcher {
 public:
  OnlineSoftmaxMatcher(const SchedulerInput& input, const std::vector<int>& rematerialised)
      : input_(input), readers_(input.nodes.size()), rematerialised_(input.nodes.size()) {
    for (const int i : rematerialised) rematerialised_[static_cast<size_t>(i)] = true;
    for (size_t i = 0; i < input.nodes.size(); ++i)
      for (const int s : input.sources[i])
        readers_[static_cast<size_t>(s)].push_back(static_cast<int>(i));
    is_output_.assign(input.nodes.size(), false);
    for (const NodeRef& output : input.graph.outputs)
      is_output_[static_cast<size_t>(input.at(output))] = true;
  }

  std::vector<OnlineSoftmax> run() {
    std::vector<OnlineSoftmax> out;
    for (int i = 0; i < static_cast<int>(input_.nodes.size()); ++i)
      if (is_sum_of_products(i))
        if (OnlineSoftmax softmax = softmax_to(i); softmax.root >= 0)
          out.push_back(std::move(softmax));
    std::vector<int> fused_nodes;
    for (const OnlineSoftmax& softmax : out)
      fused_nodes.insert(fused_nodes.end(), softmax.fused_nodes.begin(), softmax.fused_nodes.end());
    const std::vector<int> positions = positions_of(input_, fused_nodes);
    for (OnlineSoftmax& softmax : out)
      softmax.fused_nodes.insert(softmax.fused_nodes.end(), positions.begin(), positions.end());
    return out;
  }

 private:
  bool is_reduce(int i, Op op) const {
    return input_.node(i).op == Op::REDUCE && input_.node(i).as<ReduceAttr>().op == op;
  }
  /// Includes vector by matrix, where nothing is broadcast.
  bool is_sum_of_products(int i) const {
    return product_of(input_.node(i)) && input_.node(i).as<ReduceAttr>().axes.size() == 1;
  }
  int terms_of(int sum) const {
    return input_.index.at(&strip_casts(*input_.node(sum).sources[0]));
  }
  bool is_pointwise(int i) const { return scheduling::is_pointwise(input_.node(i)); }

  /// Pointwise nodes between `root` and the reductions below it, and these.
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
      if (!is_pointwise(i)) continue;
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
    // Each weight multiplies several values; else this is a sum of rows after a separate product.
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
    out.row_sums = std::move(rows);
    if (!std::ranges::all_of(out.row_sums, [&](int r) { return is_row(r, out.product); }) ||
        !add_fused_nodes(out, cones))
      return {};
    add_factors(out, products[0]);
    add_casts(out);
    return out;
  }

  /// The sum has no more terms than the product has results.
  bool is_row(int sum, int product) const {
    return input_.analysis[input_.sources[sum][0]].size <= input_.analysis[product].size;
  }

  /// Sums of pointwise functions of the maximum.
  std::vector<int> sums_above(int maximum) const {
    std::vector<int> out, work = readers_[static_cast<size_t>(maximum)];
    std::set<int> seen;
    while (!work.empty()) {
      const int i = work.back();
      work.pop_back();
      if (!seen.insert(i).second) continue;
      if (is_reduce(i, Op::ADD)) out.push_back(i);
      if (!is_pointwise(i)) continue;
      const std::vector<int>& readers = readers_[static_cast<size_t>(i)];
      work.insert(work.end(), readers.begin(), readers.end());
    }
    std::ranges::sort(out);
    return out;
  }

  /// True if the sum depends on the maximum and on the maximum's own reductions only.
  static bool is_row_of(const Cone& sum, int maximum, const Cone& of_maximum) {
    return std::ranges::all_of(sum.reductions, [&](int r) {
      return r == maximum || std::ranges::count(of_maximum.reductions, r);
    });
  }

  /// Collects the nodes of the cones that depend on one of the reductions. Returns false if
  /// anything but rows has readers outside.
  bool add_fused_nodes(OnlineSoftmax& out, const std::vector<Cone>& cones) const {
    const int root = out.root;
    std::vector<bool> fused(input_.nodes.size());
    std::vector<int> rows = out.row_sums;
    rows.push_back(out.maximum);
    for (const int r : rows) fused[static_cast<size_t>(r)] = true;
    fused[static_cast<size_t>(root)] = fused[static_cast<size_t>(out.product)] = true;
    std::vector<int> nodes;
    for (const Cone& cone : cones) nodes.insert(nodes.end(), cone.nodes.begin(), cone.nodes.end());
    std::ranges::sort(nodes);  // sources first
    for (const int i : nodes)
      for (const int s : input_.sources[i])
        if (fused[static_cast<size_t>(s)] && s != root) fused[static_cast<size_t>(i)] = true;
    for (int i = 0; i < static_cast<int>(fused.size()); ++i) {
      if (!fused[static_cast<size_t>(i)] || i == root) continue;
      out.fused_nodes.push_back(i);
      const auto is_fused = [&](int reader) { return fused[static_cast<size_t>(reader)]; };
      if (input_.device[i] != input_.device[root]) return false;
      if (!is_output_[static_cast<size_t>(i)] &&
          std::ranges::all_of(readers_[static_cast<size_t>(i)], is_fused))
        continue;
      if (std::ranges::count(rows, i))
        out.extra_outputs.push_back(i);
      else if (rematerialised_[static_cast<size_t>(i)])
        out.rematerialised = true;
      else
        return false;
    }
    // Readers that recompute the rest load the row values.
    if (out.rematerialised) out.extra_outputs = rows;
    return true;
  }

  /// Fuses casts of the sum into the kernel.
  void add_casts(OnlineSoftmax& softmax) const {
    std::vector<int> above;
    int i = softmax.root;
    for (;;) {
      const std::vector<int>& readers = readers_[static_cast<size_t>(i)];
      if (is_output_[static_cast<size_t>(i)] || readers.size() != 1 ||
          input_.device[readers[0]] != input_.device[softmax.root])
        return;
      above.push_back(i);
      i = readers[0];
      const Node& node = input_.node(i);
      if (node.op == Op::CAST) {
        softmax.root = i;
        softmax.fused_nodes.insert(softmax.fused_nodes.end(), above.begin(), above.end());
        above.clear();
      } else if (node.op != Op::VIEW || node.as<ViewAttr>().kind != ViewKind::kReshape) {
        return;
      }
    }
  }

  /// Fuses the terms of the product, which are larger than its factors.
  void add_factors(OnlineSoftmax& softmax, int product) const {
    const int terms = terms_of(product);
    for (const int i : cone_of(product).nodes) {
      const NodeAnalysis& analysis = input_.analysis[i];
      const bool is_move = input_.node(i).op == Op::VIEW || analysis.trivial;
      if (i == terms || (is_move && !is_output_[static_cast<size_t>(i)] &&
                         analysis.size > input_.analysis[product].size))
        softmax.fused_nodes.push_back(i);
    }
  }

  const SchedulerInput& input_;
  std::vector<std::vector<int>> readers_;
  std::vector<bool> rematerialised_;
  std::vector<bool> is_output_;
};

}  // namespace

std::vector<OnlineSoftmax> find_online_softmax(const SchedulerInput& input,
                                               const std::vector<int>& rematerialised) {
  return OnlineSoftmaxMatcher(input, rematerialised).run();
}

std::vector<int> positions_of(const SchedulerInput& input, const std::vector<int>& fused_nodes) {
  enum class Read : uint8_t { kNever, kFused, kElsewhere };
  std::vector<Read> read(input.nodes.size(), Read::kNever);
  std::vector<bool> is_fused(input.nodes.size());
  for (const int i : fused_nodes) is_fused[static_cast<size_t>(i)] = true;
  for (const NodeRef& output : input.graph.outputs)
    read[static_cast<size_t>(input.at(output))] = Read::kElsewhere;
  std::vector<int> out;
  for (int i = static_cast<int>(input.nodes.size()); i-- > 0;) {
    const auto at = static_cast<size_t>(i);
    const bool is_position = !is_fused[at] && read[at] == Read::kFused &&
                             is_pointwise(input.node(i)) && !input.analysis[i].needs_buffer;
    if (is_position) out.push_back(i);
    for (const int s : input.sources[i]) {
      Read& source = read[static_cast<size_t>(s)];
      if (!is_fused[at] && !is_position) source = Read::kElsewhere;
      if (source == Read::kNever) source = Read::kFused;
    }
  }
  return out;
}

}  // namespace tenon::scheduling
