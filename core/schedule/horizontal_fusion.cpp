// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/schedule/horizontal_fusion.hpp"

#include <algorithm>
#include <utility>

#include "core/schedule/cost.hpp"

namespace tenon::scheduling {
namespace {

constexpr size_t kLeastSections = 4;  // fewer save too few launches
constexpr size_t kMostSections = 12;  // more take longer to compile than separate kernels
constexpr int kMostSectionNodes = 4 * kMostNodes;  // of all sections: each is compiled
constexpr size_t kMostBound = 256;                 // buffers, if the device has no limit
constexpr size_t kMostLoops = 240;     // of a kernel: less than AxisSet holds (core/kernel)
constexpr double kMostHeld = 1 << 20;  // elements: the launch is a small part of so much work

class HorizontalFuser {
 public:
  HorizontalFuser(const SchedulerInput& input, Units& units) : input_(input), units_(units) {
    is_read_.assign(units.units.size(), false);
    for (const Unit& unit : units.units)
      for (const CutRead& read : unit.reads)
        if (const int from = units.unit_of[read.node]; from >= 0) is_read_[from] = true;
  }

  void run() {
    for (int device = 0; device < static_cast<int>(input_.options.devices.size()); ++device) {
      std::vector<int> all;
      for (int u = 0; u < static_cast<int>(units_.units.size()); ++u)
        if (is_candidate(u) && device_of(u) == device) all.push_back(u);
      if (all.size() >= kLeastSections) merge(std::move(all));
    }
  }

 private:
  const Unit& unit(int u) const { return units_.units[u]; }
  const Node& root(int u) const { return input_.node(unit(u).roots[0]); }
  double size(int u) const { return input_.analysis[unit(u).roots[0]].size; }
  int device_of(int u) const { return std::max(0, input_.device[unit(u).roots[0]]); }

  bool is_candidate(int u) const {
    const Unit& unit = units_.units[u];
    if (unit.kind != Unit::Kind::kKernel || unit.roots.empty() || unit.reduces.any || is_read_[u])
      return false;
    for (const Dim& dim : root(u).shape)
      if (!dim.is_const() || dim.is_const(0)) return false;
    return std::ranges::all_of(unit.reads, [&](const CutRead& read) {
      const bool is_given = units_.unit_of[read.node] < 0;
      return (read.identity && (is_given || size(u) <= kMostHeld)) ||
             input_.analysis[read.node].size <= 1;
    });
  }

  /// Largest first: it sets the workgroup size. Equal shapes are neighbours, so that equal kernels
  /// result and compile once.
  bool comes_before(int a, int b) const {
    if (size(a) != size(b)) return size(a) > size(b);
    return std::ranges::lexicographical_compare(
        root(a).shape, root(b).shape, {}, [](const Dim& dim) { return dim.value(); },
        [](const Dim& dim) { return dim.value(); });
  }

  void merge(std::vector<int> all) {
    std::ranges::stable_sort(all, [&](int a, int b) { return comes_before(a, b); });
    int into = -1;
    for (const int u : all) {
      if (into >= 0 && fits(u, into)) {
        add(u, into);
      } else {
        into = u;
      }
    }
  }

  /// Most axes that its nest may get: one a dimension, one for each fusion of these, and splits.
  static size_t axes(const Node& root) { return 2 * root.shape.size() + 8; }

  bool fits(int u, int into) const {
    const Unit &from = unit(u), &to = unit(into);
    const Capabilities& caps = input_.capabilities(from.roots[0]);
    const size_t sections = std::max<size_t>(1, to.sections.size()) + 1;
    const size_t most = caps.max_grid[0] ? caps.max_grid[0] : kMostSections;
    if (sections > std::min(most, kMostSections) || to.size + from.size > kMostSectionNodes)
      return false;
    size_t loops = axes(root(u)), first = 0;
    for (const int count : to.sections.empty() ? std::vector{1} : to.sections) {
      loops += axes(input_.node(to.roots[first]));
      first += static_cast<size_t>(count);
    }
    size_t bound = to.reads.size() + to.roots.size() + from.roots.size();
    for (const CutRead& read : from.reads) bound += find(to, read.node) == to.reads.end();
    return loops <= kMostLoops && bound <= (caps.max_bindings ? caps.max_bindings : kMostBound);
  }

  static std::vector<CutRead>::const_iterator find(const Unit& unit, int node) {
    return std::ranges::find(unit.reads, node, &CutRead::node);
  }

  void add(int u, int into) {
    const Unit from = std::exchange(units_.units[u], {});
    Unit& to = units_.units[into];
    if (to.sections.empty()) to.sections.push_back(static_cast<int>(to.roots.size()));
    to.sections.push_back(static_cast<int>(from.roots.size()));
    for (const CutRead& read : from.reads) {
      const auto known = std::ranges::find(to.reads, read.node, &CutRead::node);
      if (known == to.reads.end())
        to.reads.push_back(read);
      else
        known->identity = false;  // sections read it at different times
    }
    for (const int root : from.roots) {
      to.roots.push_back(root);
      units_.unit_of[root] = into;
    }
    to.size += from.size;
  }

  const SchedulerInput& input_;
  Units& units_;
  std::vector<bool> is_read_;
};

}  // namespace

void fuse_horizontally(const SchedulerInput& input, Units& units) {
  HorizontalFuser(input, units).run();
}

}  // namespace tenon::scheduling
