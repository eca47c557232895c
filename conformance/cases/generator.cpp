// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks of cases that share a graph.
#include "conformance/cases/generator.hpp"

#include <charconv>

#include "conformance/cases/cells.hpp"
#include "conformance/cases/graphs.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance {
namespace {

constexpr uint64_t kRunGraphBlocks = 100;
constexpr uint64_t kCellCases = 8;   ///< of `run`: two cells a block
constexpr uint64_t kGraphCases = 2;  ///< that share one graph
constexpr uint32_t kGraphPercent = 25;
constexpr uint64_t kGraphRecipe = UINT64_MAX;
constexpr uint64_t kExhaustive = uint64_t{1} << 32;

uint64_t cell_cases() { return (all_cells().size() * kCellCases + kBlock - 1) / kBlock * kBlock; }

uint64_t graph_key(uint64_t index) { return index / kGraphCases * kGraphCases; }

}  // namespace

uint64_t run_end() { return kRunBase + cell_cases() + kRunGraphBlocks * kBlock; }

Case Generator::make(uint64_t index, uint64_t attempt) {
  const uint64_t key = shape_key(index);
  if (key != shape_key_) {
    shape_ = build(recipe_of(index), Choices(shape_seed(index)));
    shape_key_ = key;
  }
  return instantiate(shape_, seed_, index, mix(mix(seed_, index), attempt + 1));
}

Case Generator::make_plain(uint64_t index) {
  const auto& cells = all_cells();
  const uint64_t position = index - kCompileBase;
  Choices choices(mix(seed_, index));
  Template shape = position < cells.size() ? build_cell(cells[position], choices, builder_, false)
                                           : build_graph(choices, builder_);
  Case out;
  out.seed = seed_;
  out.index = index;
  out.cell = std::move(shape.cell);
  out.graph = std::move(shape.graph);
  out.refusal = shape.refusal;
  return out;
}

/// The first index of those that share a graph with this one.
uint64_t Generator::shape_key(uint64_t index) const {
  if (index < kRunBase) return is_cell_block(index) ? index / kBlock * kBlock : graph_key(index);
  const uint64_t position = index - kRunBase;
  if (position >= cell_cases()) return graph_key(index);
  // The last case of a cell takes every code.
  const bool last = position % kCellCases == kCellCases - 1;
  return last ? index : kRunBase + position / kCellCases * kCellCases;
}

bool Generator::is_cell_block(uint64_t index) const {
  return !Random(mix(seed_, ~(index / kBlock))).chance(kGraphPercent);
}

/// A cell's number, and whether it takes every code; or a graph.
uint64_t Generator::recipe_of(uint64_t index) const {
  const auto& cells = all_cells();
  if (index >= kRunBase && index - kRunBase < cell_cases()) {
    const uint64_t position = index - kRunBase;
    const uint64_t cell = position / kCellCases % cells.size();
    const bool exhaust = position % kCellCases == kCellCases - 1 && can_exhaust(cells[cell]);
    return exhaust ? cell | kExhaustive : cell;
  }
  if (index < kRunBase && is_cell_block(index))
    return Random(mix(seed_, index / kBlock)).below(cells.size());
  return kGraphRecipe;
}

uint64_t Generator::shape_seed(uint64_t index) const {
  if (index >= kRunBase && index - kRunBase < cell_cases())
    return mix(seed_, (index - kRunBase) / kCellCases);
  if (index < kRunBase && is_cell_block(index)) return mix(mix(seed_, index / kBlock), 1);
  return mix(seed_, ~graph_key(index));
}

Template Generator::build(uint64_t recipe, Choices choices) {
  Template shape = recipe == kGraphRecipe ? build_graph(choices, builder_)
                                          : build_cell(all_cells().at(recipe & ~kExhaustive),
                                                       choices, builder_, recipe & kExhaustive);
  shape.origin = {recipe, choices.draws(), choices.stretches(), 0};
  return shape;
}

Case Generator::remake(const Case& like, const Origin& origin) {
  return instantiate(build(origin.recipe, Choices(origin.draws)), like.seed, like.index,
                     origin.value_seed);
}

std::string case_name(uint64_t seed, uint64_t index) { return fmt::format("{}:{}", seed, index); }

std::pair<uint64_t, uint64_t> parse_case_name(std::string_view text) {
  uint64_t numbers[2] = {};
  const size_t colon = text.find(':');
  const std::string_view parts[2] = {text.substr(0, colon),
                                     colon == text.npos ? "" : text.substr(colon + 1)};
  for (int i = 0; i < 2; ++i) {
    const char* end = parts[i].data() + parts[i].size();
    const auto [stop, error] = std::from_chars(parts[i].data(), end, numbers[i]);
    TN_REQUIRE(error == std::errc() && stop == end && !parts[i].empty(),
               "[replay] expected SEED:INDEX or a file, got \"{}\"", text);
  }
  return {numbers[0], numbers[1]};
}

}  // namespace tenon::conformance
