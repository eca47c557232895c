// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Edges first, then pairs of ops under each kind of transform.
#include "conformance/cases/graphs/coverage.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "conformance/cases/graphs/edge.hpp"
#include "core/kernel/transforms/transform.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::graphs {
namespace {

/// What random lists are made of.
const std::vector<TransformInfo>& drawn() {
  static const std::vector<TransformInfo> all = [] {
    std::vector<TransformInfo> out;
    for (const TransformInfo& info : all_transforms())
      if (info.weight > 0) out.push_back(info);
    return out;
  }();
  return all;
}

uint32_t drawn_count() { return static_cast<uint32_t>(drawn().size()); }

/// Pairs of ops with an edge of any dtype between them.
struct Pairs {
  std::vector<std::pair<int, int>> all;
  std::vector<int> place;  ///< by producer * ops + consumer; -1 for none
};

Pairs make_pairs() {
  Pairs out;
  const size_t count = edge_ops().size();
  out.place.assign(count * count, -1);
  for (uint32_t i = 0; i < edge_count(); i += kEdgeLayoutCount) {
    const Edge edge = edge_at(i);
    int& place =
        out.place[static_cast<size_t>(edge.producer) * count + static_cast<size_t>(edge.consumer)];
    if (place >= 0) continue;
    place = static_cast<int>(out.all.size());
    out.all.emplace_back(edge.producer, edge.consumer);
  }
  return out;
}

const Pairs& pairs() {
  static const Pairs all = make_pairs();
  return all;
}

std::string op_name(int place) { return edge_op_name(edge_ops()[static_cast<size_t>(place)]); }

/// Kinds that the lists name, as bits.
uint32_t kinds_of(const std::vector<std::string>& lists) {
  uint32_t kinds = 0;
  for (std::string_view list : lists) {
    while (!list.empty()) {
      list.remove_prefix(std::min(list.find_first_not_of(" ;"), list.size()));
      const std::string_view word = list.substr(0, list.find(' '));
      for (uint32_t k = 0; k < drawn_count(); ++k)
        if (drawn()[k].word == word) kinds |= 1u << k;
      list.remove_prefix(std::min(list.find(';'), list.size()));
    }
  }
  return kinds;
}

/// A step through all edges that has no common factor with their number and lies far from simple
/// fractions of it.
uint32_t stride() {
  static const uint32_t value = [] {
    auto step = static_cast<uint32_t>(edge_count() * 0.6180339887);
    while (std::gcd(step, edge_count()) != 1) ++step;
    return step;
  }();
  return value;
}

}  // namespace

uint32_t coverage_size() {
  return edge_count() + static_cast<uint32_t>(pairs().all.size()) * drawn_count();
}

std::string coverage_name(uint32_t cell) {
  TN_REQUIRE(cell < coverage_size(), "[coverage] expected a cell below {}, got {}", coverage_size(),
             cell);
  if (cell < edge_count()) {
    const Edge edge = edge_at(cell);
    return fmt::format("{} > {} {} {}", op_name(edge.producer), op_name(edge.consumer),
                       dtype_name(edge.dtype), edge_layout_name(edge.layout));
  }
  const auto [producer, consumer] = pairs().all[(cell - edge_count()) / drawn_count()];
  return fmt::format("{} > {}, {}", op_name(producer), op_name(consumer),
                     drawn()[(cell - edge_count()) % drawn_count()].word);
}

std::vector<uint32_t> coverage_of(const Case& test) {
  std::set<uint32_t> cells;
  const uint32_t kinds = kinds_of(test.transforms);
  for (const NodeRef& node : topological(test.graph.outputs))
    for (const Edge& edge : edges_into(*node)) {
      if (const auto number = edge_number(edge)) cells.insert(*number);
      const int pair = pairs().place[static_cast<size_t>(edge.producer) * edge_ops().size() +
                                     static_cast<size_t>(edge.consumer)];
      for (uint32_t k = 0; pair >= 0 && k < drawn_count(); ++k)
        if (kinds >> k & 1)
          cells.insert(edge_count() + static_cast<uint32_t>(pair) * drawn_count() + k);
    }
  return {cells.begin(), cells.end()};
}

uint32_t next_aim(uint32_t cell) {
  return static_cast<uint32_t>((uint64_t{cell} + stride()) % edge_count());
}

uint32_t coverage_aim(uint64_t seed, uint64_t ordinal) {
  const uint64_t steps = (ordinal % edge_count()) * kAims;
  return static_cast<uint32_t>((mix(seed, 5) + steps % edge_count() * stride()) % edge_count());
}

}  // namespace tenon::conformance::graphs
