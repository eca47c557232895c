// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/schedule/group.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <unordered_map>
#include <utility>

#include "core/schedule/contiguous_view.hpp"
#include "core/schedule/cost.hpp"
#include "core/schedule/cut_order.hpp"
#include "core/schedule/horizontal_fusion.hpp"

namespace tenon::scheduling {
namespace {

constexpr size_t kMostRoots = 8;

/// Every edge goes from a lower level to a higher one or stays in a unit, so merging makes no
/// cycle.
class Grouper {
 public:
  Grouper(const SchedulerInput& input, const Cut& cut) : input_(input), cut_(cut) {
    out_.unit_of.assign(input.nodes.size(), -1);
  }

  Units run() {
    for (const CutStep& step : in_order(input_, cut_)) {
      if (step.kernel >= 0) {
        add_kernel(cut_.kernels[step.kernel]);
      } else if (input_.node(step.node).op == Op::COPY) {
        add_command(step.node, Unit::Kind::kCopy);
      } else {
        add_control(step.node);
      }
    }
    if (input_.options.fuse) {
      fuse_into_only_readers();
      fuse_horizontally(input_, out_);
    }
    return ordered();
  }

 private:
  int producer(int node) const { return out_.unit_of[node]; }

  int level_of(const std::vector<CutRead>& reads, int* highest) const {
    int level = 0;
    for (const CutRead& read : reads) {
      const int unit = producer(read.node);
      if (unit < 0) continue;
      if (out_.units[unit].level >= level) {
        level = out_.units[unit].level;
        if (highest) *highest = unit;
      }
    }
    return level + 1;
  }

  std::vector<CutRead> reads_of(const std::vector<CutRead>& raw) const {
    std::vector<CutRead> out;
    std::unordered_map<int, size_t> seen;
    for (CutRead read : raw) {
      read.node = cut_.buffer_of[read.node];
      const auto [it, fresh] = seen.emplace(read.node, out.size());
      if (fresh)
        out.push_back(read);
      else
        out[it->second].identity &= read.identity;
    }
    return out;
  }

  void add(Unit unit) {
    for (int root : unit.roots) out_.unit_of[root] = static_cast<int>(out_.units.size());
    out_.units.push_back(std::move(unit));
  }

  void add_command(int i, Unit::Kind kind) {
    Unit unit;
    unit.kind = kind;
    unit.roots = {i};
    std::vector<CutRead> raw;
    if (kind == Unit::Kind::kCopy) {
      raw.push_back({copied_range(input_, i).base, false});
    } else {
      for (int s : input_.sources[i]) raw.push_back({s, false});
    }
    unit.reads = reads_of(raw);
    unit.level = level_of(unit.reads, nullptr);
    add(std::move(unit));
  }

  /// IF or LOOP nodes that differ only in the result they name are one call.
  void add_control(int i) {
    const Node& node = input_.node(i);
    const void* graphs[2] = {nullptr, nullptr};
    if (node.op == Op::IF) {
      graphs[0] = node.as<IfAttr>().then_graph.get();
      graphs[1] = node.as<IfAttr>().else_graph.get();
    } else {
      graphs[0] = node.as<LoopAttr>().body.get();
      graphs[1] = node.as<LoopAttr>().is_while ? graphs[0] : nullptr;
    }
    const auto key = std::make_tuple(node.op, graphs[0], graphs[1], input_.sources[i]);
    const auto it = controls_.find(key);
    if (it != controls_.end()) {
      out_.units[it->second].roots.push_back(i);
      out_.unit_of[i] = it->second;
      return;
    }
    controls_.emplace(key, static_cast<int>(out_.units.size()));
    add_command(i, Unit::Kind::kControl);
  }

  void add_kernel(const CutKernel& kernel) {
    Unit unit;
    unit.roots = {kernel.root};
    unit.roots.insert(unit.roots.end(), kernel.extra_outputs.begin(), kernel.extra_outputs.end());
    unit.reads = reads_of(kernel.reads);
    unit.reduces = kernel.reduces;
    unit.size = kernel.size;
    unit.reductions = kernel.reductions;
    if (input_.node(kernel.root).op == Op::STORE) unit.kind = Unit::Kind::kStore;
    int highest = -1;
    unit.level = level_of(unit.reads, &highest);
    if (input_.options.fuse && unit.kind == Unit::Kind::kKernel) {
      if (highest >= 0 && may_fuse(unit, highest) && can_fuse_into_producer(unit, highest))
        return merge(unit, highest);
      const int sibling = find_sibling(unit);
      if (sibling >= 0) return merge(unit, sibling);
    }
    remember(unit, static_cast<int>(out_.units.size()));
    add(std::move(unit));
  }

  bool may_fuse(const Unit& unit, int into) const {
    const Unit& target = out_.units[into];
    if (target.kind != Unit::Kind::kKernel || target.reduces.contraction ||
        unit.reduces.contraction || target.roots.size() + unit.roots.size() > kMostRoots ||
        target.size + unit.size > kMostNodes ||
        target.reductions + unit.reductions > kMostReductions)
      return false;
    const int a = unit.roots[0], b = target.roots[0];
    if (input_.device[a] != input_.device[b]) return false;
    if (!same_shape(input_.node(a).shape, input_.node(b).shape)) return false;
    if (unit.reduces.any && target.reduces.any && !(unit.reduces == target.reduces)) return false;
    size_t bindings = target.reads.size() + target.roots.size() + unit.roots.size();
    for (const CutRead& read : unit.reads) bindings += !reads(target, read.node);
    return static_cast<int>(bindings) <= binding_limit(input_, a);
  }

  /// Producer-consumer fusion is legal: the unit reads `into` at its own position, and nothing else
  /// of that level.
  bool can_fuse_into_producer(const Unit& unit, int into) const {
    const int level = out_.units[into].level;
    for (const CutRead& read : unit.reads) {
      const int from = producer(read.node);
      if (from == into) {
        if (!read.identity) return false;
      } else if (from >= 0 && out_.units[from].level >= level) {
        return false;
      }
    }
    return true;
  }

  /// Merges a unit into its only reader, which reads it at its own position. Levels do not matter:
  /// no other path joins the two.
  void fuse_into_only_readers() {
    constexpr int kNone = -1, kSeveral = -2;
    std::vector<int> reader(out_.units.size(), kNone);
    for (size_t u = 0; u < out_.units.size(); ++u)
      for (const CutRead& read : out_.units[u].reads)
        if (const int from = producer(read.node); from >= 0 && reader[from] != static_cast<int>(u))
          reader[from] = reader[from] == kNone ? static_cast<int>(u) : kSeveral;
    for (size_t u = 0; u < out_.units.size(); ++u) {
      const int into = reader[u];
      if (into < 0 || !may_fuse_into_reader(static_cast<int>(u), into)) continue;
      const Unit unit = std::exchange(out_.units[u], {});
      for (const CutRead& read : unit.reads)
        if (const int from = producer(read.node); from >= 0 && reader[from] == static_cast<int>(u))
          reader[from] = into;
      std::erase_if(out_.units[into].reads, [&](const CutRead& read) {
        return producer(read.node) == static_cast<int>(u);
      });
      merge(unit, into);
    }
  }

  bool may_fuse_into_reader(int unit, int into) const {
    const Unit &from = out_.units[unit], &to = out_.units[into];
    return from.kind == Unit::Kind::kKernel && !from.reduces.any && !to.reduces.any &&
           may_fuse(from, into) && std::ranges::all_of(to.reads, [&](const CutRead& read) {
             return producer(read.node) != unit || read.identity;
           });
  }

  static bool reads(const Unit& unit, int node) {
    for (const CutRead& read : unit.reads)
      if (read.node == node) return true;
    return false;
  }

  using SiblingKey = std::pair<int, int>;  // level, node read

  int find_sibling(const Unit& unit) const {
    for (const CutRead& read : unit.reads) {
      if (input_.analysis[read.node].size < input_.analysis[unit.roots[0]].size) continue;
      for (const int shared : sibling_keys(unit, read)) {
        const auto it = siblings_.find({unit.level, shared});
        if (it != siblings_.end() && out_.units[it->second].level == unit.level &&
            may_fuse(unit, it->second))
          return it->second;
      }
    }
    return -1;
  }

  /// Keys under which siblings are found: a node that both read. Reductions, such as second stages,
  /// are also siblings if one unit made what they read.
  std::vector<int> sibling_keys(const Unit& unit, const CutRead& read) const {
    const int from = producer(read.node);
    if (!unit.reduces.any || from < 0) return {read.node};
    return {read.node, out_.units[from].roots[0]};
  }

  void remember(const Unit& unit, int number) {
    if (unit.kind != Unit::Kind::kKernel || unit.reduces.contraction) return;
    for (const CutRead& read : unit.reads)
      for (const int shared : sibling_keys(unit, read)) siblings_[{unit.level, shared}] = number;
  }

  void merge(const Unit& unit, int into) {
    Unit& target = out_.units[into];
    for (const CutRead& read : unit.reads) {
      if (producer(read.node) == into) continue;
      bool known = false;
      for (CutRead& r : target.reads) {
        if (r.node != read.node) continue;
        r.identity &= read.identity;
        known = true;
      }
      if (!known) target.reads.push_back(read);
    }
    if (unit.reduces.any) target.reduces = unit.reduces;
    target.size += unit.size;
    target.reductions += unit.reductions;
    for (const int root : unit.roots) {
      target.roots.push_back(root);
      out_.unit_of[root] = into;
    }
    remember(target, into);
  }

  /// Topological order; ready units in the graph's order, which keeps lifetimes short.
  Units ordered() {
    const size_t count = out_.units.size();
    std::vector<std::vector<int>> readers(count);
    std::vector<int> waiting(count);
    for (size_t u = 0; u < count; ++u) {
      for (const CutRead& read : out_.units[u].reads) {
        const int from = producer(read.node);
        if (from < 0) continue;
        readers[from].push_back(static_cast<int>(u));
        ++waiting[u];
      }
    }
    using Entry = std::pair<int, int>;  // first root, unit
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    for (size_t u = 0; u < count; ++u)
      if (!waiting[u] && !out_.units[u].roots.empty())
        ready.emplace(out_.units[u].roots[0], static_cast<int>(u));
    Units result;
    result.unit_of.assign(input_.nodes.size(), -1);
    while (!ready.empty()) {
      const int u = ready.top().second;
      ready.pop();
      for (int r : readers[u])
        if (--waiting[r] == 0) ready.emplace(out_.units[r].roots[0], r);
      for (int root : out_.units[u].roots)
        result.unit_of[root] = static_cast<int>(result.units.size());
      result.units.push_back(std::move(out_.units[u]));
    }
    return result;
  }

  const SchedulerInput& input_;
  const Cut& cut_;
  Units out_;
  std::map<std::tuple<Op, const void*, const void*, std::vector<int>>, int> controls_;
  std::map<SiblingKey, int> siblings_;
};

}  // namespace

Units group(const SchedulerInput& input, const Cut& cut) { return Grouper(input, cut).run(); }

}  // namespace tenon::scheduling
