// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From seed and index to a template.
#include "conformance/cases/plan.hpp"

#include <map>
#include <tuple>

#include "conformance/cases/abi/check_order.hpp"
#include "conformance/cases/abi/patterns/pattern.hpp"
#include "conformance/cases/abi/sequence.hpp"
#include "conformance/cases/generator.hpp"
#include "conformance/cases/graphs/cells.hpp"
#include "conformance/cases/graphs/coverage.hpp"
#include "conformance/cases/random.hpp"

namespace tenon::conformance {
namespace {

constexpr uint64_t kCellCases = 32;    ///< of a template, in `fuzz`
constexpr uint64_t kSweepCases = 4;    ///< of an op and dtype: each mode of values
constexpr uint64_t kRunCellCases = 8;  ///< of a cell, in `run`
constexpr uint64_t kRunTurn = 5;       ///< blocks of `run`, of which one is not of cells
/// Of so many cases of the first pass of `run`; the rest of them are the others.
constexpr uint64_t kPassBlock = 16, kPassCells = 8, kPassRefusals = 4;
constexpr uint64_t kBeforeSlow = 8;      ///< blocks between the quick checks and the slow ones
constexpr uint64_t kStride = 389;        ///< prime: from one op or cell to the next, far apart
constexpr uint64_t kTwinCount = 4;       ///< templates of a block of twins
constexpr uint64_t kGraphCases = 4;      ///< that share one graph
constexpr uint64_t kTransformCases = 8;  ///< that share one list of transforms
constexpr uint64_t kFusedCases = 4;      ///< the same where lists matter more than values

/// all_cells() in the groups that plans draw from.
struct Groups {
  std::vector<uint32_t> cells;  ///< that compute something
  std::vector<uint32_t> refusals;
  std::vector<uint32_t> movable;                ///< that transforms can change
  std::vector<std::vector<uint32_t>> by_op;     ///< cells of one op and dtype
  std::vector<std::vector<uint32_t>> twins;     ///< cells that differ in dtype only
  std::vector<uint32_t> products;               ///< of all_patterns()
  std::vector<std::vector<uint32_t>> patterns;  ///< of all_patterns(), by family
};

bool is_movable(const graphs::CellSpec& spec) {
  return graphs::can_be_big(spec) && spec.kind != graphs::CellKind::kIndex &&
         spec.kind != graphs::CellKind::kStore;
}

Groups make_groups() {
  Groups out;
  std::map<std::pair<std::string, std::string>, std::vector<uint32_t>> by_op;
  std::map<std::tuple<graphs::CellKind, Op, DType, int, graphs::Layout>, std::vector<uint32_t>>
      twins;
  for (uint32_t i = 0; i < graphs::all_cells().size(); ++i) {
    const graphs::CellSpec& spec = graphs::all_cells()[i];
    if (spec.kind == graphs::CellKind::kRefusal) {
      out.refusals.push_back(i);
      continue;
    }
    const Cell cell = graphs::describe(spec);
    out.cells.push_back(i);
    by_op[{cell.op, cell.dtype}].push_back(i);
    twins[{spec.kind, spec.op, spec.other, spec.variant, spec.layout}].push_back(i);
    if (is_movable(spec)) out.movable.push_back(i);
  }
  for (auto& [name, cells] : by_op) out.by_op.push_back(std::move(cells));
  for (auto& [name, cells] : twins)
    if (cells.size() > 1) out.twins.push_back(std::move(cells));
  for (const std::string_view family : abi::kFamilies) {
    auto& numbers = out.patterns.emplace_back();
    for (uint32_t i = 0; i < abi::all_patterns().size(); ++i)
      if (abi::all_patterns()[i].family == family) numbers.push_back(i);
    if (family == "products") out.products = numbers;
  }
  return out;
}

const Groups& groups() {
  static const Groups all = make_groups();
  return all;
}

template <class T>
const T& pick(const std::vector<T>& items, uint64_t random) {
  return items[random % items.size()];
}

uint64_t first_of(uint64_t index, uint64_t cases) { return index / cases * cases; }

bool has_layer_4() { return !abi::abi_checks().empty(); }

Plan plan_of(TemplateSpec spec, uint64_t seed, uint64_t key) {
  return {spec, mix(mix(seed, key), static_cast<uint64_t>(spec.layer) + 1), key, {}};
}

/// Graphs number 0, 1, 2, ... aim at one cell of coverage after the other, in an order that the
/// seed chooses.
TemplateSpec graph_spec(uint64_t seed, uint64_t key) {
  return {Layer::kGraph, 1 + graphs::coverage_aim(seed, key / kGraphCases)};
}

Plan plan_graph(uint64_t seed, uint64_t index) {
  const uint64_t key = first_of(index, kGraphCases);
  const bool fused = mix(seed, key) % 4 == 0;
  return plan_of(fused ? TemplateSpec{Layer::kGraph, 0, kFused} : graph_spec(seed, key), seed, key);
}

Plan plan_gradient(uint64_t seed, uint64_t index) {
  const uint64_t key = first_of(index, kGraphCases);
  return plan_of({Layer::kGradient, graph_spec(seed, key).number}, seed, key);
}

Plan plan_transforms(uint64_t seed, uint64_t index) {
  const uint64_t key = first_of(index, kBlock / 2);
  const uint64_t random = mix(seed, key);
  TemplateSpec spec{Layer::kCell, pick(groups().movable, random >> 8), kTailed};
  if (random % 4 == 1) spec = {Layer::kGraph, graph_spec(seed, key).number, kTailed};
  if (random % 4 > 1) spec = {random / 4 % 5 ? Layer::kGraph : Layer::kGradient, 0, kFused};
  Plan plan = plan_of(spec, seed, key);
  const uint64_t cases = spec.flags & kFused ? kFusedCases : kTransformCases;
  plan.transform_seed = mix(seed, ~first_of(index, cases));
  return plan;
}

Plan plan_sequence(uint64_t seed, uint64_t index) {
  return plan_of({Layer::kSequence}, seed, index);
}

Plan plan_pattern_number(uint64_t seed, uint64_t index, uint64_t number) {
  return plan_of({Layer::kPattern, static_cast<uint32_t>(number % abi::all_patterns().size())},
                 seed, index);
}

/// A third in the order of the table, which has families by turns: so all of the small ones come
/// soon. A third in an order that the seed chooses, and a third of products, of which there are
/// many in each.
Plan plan_sweep_pattern(uint64_t seed, uint64_t index, uint64_t ordinal) {
  const uint64_t place = ordinal / 3, count = abi::all_patterns().size();
  if (ordinal % 3 == 0) return plan_pattern_number(seed, index, place);
  if (ordinal % 3 == 1)
    return plan_pattern_number(seed, index, place % count * kStride + mix(seed, 5) % count);
  return plan_pattern_number(seed, index, pick(groups().products, place + mix(seed, 7)));
}

/// Any of all, or any of any family; of products more.
Plan plan_pattern(uint64_t seed, uint64_t index) {
  Random random(mix(seed, ~index));
  if (random.chance(35)) return plan_pattern_number(seed, index, random.pick(groups().products));
  if (random.chance(65)) return plan_pattern_number(seed, index, random.below(1 << 20));
  return plan_pattern_number(seed, index, random.pick(random.pick(groups().patterns)));
}

Plan plan_check(uint64_t seed, uint64_t index, uint64_t number) {
  return plan_of({Layer::kCheck, static_cast<uint32_t>(number % abi::abi_checks().size())}, seed,
                 index);
}

Plan plan_refusal(uint64_t seed, uint64_t index) {
  return plan_of({Layer::kCell, pick(groups().refusals, mix(seed, index))}, seed, index);
}

/// Half of the templates are of any cell, half of any op and dtype: of both casts and layouts there
/// are many.
Plan plan_cell(uint64_t seed, uint64_t index) {
  const uint64_t key = first_of(index, kCellCases);
  Random random(mix(seed, ~key));
  uint32_t cell = random.pick(groups().cells);
  if (random.chance(50)) cell = random.pick(random.pick(groups().by_op));
  const bool has_big = random.chance(12) && graphs::can_be_big(graphs::all_cells()[cell]);
  if (has_big && index == key + kCellCases - 1)
    return plan_of({Layer::kCell, cell, kBig}, seed, index);
  return plan_of({Layer::kCell, cell}, seed, key);
}

/// All with the same choices, in turns.
Plan plan_twin(uint64_t seed, uint64_t index) {
  const uint64_t block = index / kBlock, turn = index / 2 % kTwinCount;
  Random random(mix(seed, ~block));
  const auto& family = random.pick(groups().twins);
  const uint64_t first = random.below(family.size());
  uint64_t second = first + 1 + random.below(family.size() - 1);
  const auto size = [&](uint64_t i) {
    return dtype_size(graphs::all_cells()[pick(family, i)].dtype);
  };
  // Of one size, mostly: then nothing but the dtype itself tells the programs apart.
  for (uint64_t i = 0; i < 2 * family.size() && size(second) != size(first); ++i)
    second = first + 1 + random.below(family.size() - 1);
  const uint32_t cell = pick(family, turn % 2 ? second : first);
  Plan plan = plan_of({Layer::kCell, cell, kWithConstant}, seed, block * kBlock);
  if (turn >= 2) plan.spec.flags |= kOtherConstant;
  plan.key += turn * 2;
  return plan;
}

/// Every op and dtype, in an order that the seed chooses, with some layout.
Plan plan_sweep_cell(uint64_t seed, uint64_t index, uint64_t ordinal) {
  const auto& all = groups().by_op;
  const uint64_t place = (ordinal * kStride + mix(seed, 3)) % all.size();
  const uint64_t key = first_of(index, kSweepCases);
  return plan_of({Layer::kCell, pick(all[place], mix(seed, key))}, seed, key);
}

/// The other layers by turns.
Plan plan_other(uint64_t seed, uint64_t index, uint64_t turn) {
  switch (turn % 5) {
    case 0:
      return turn == 0 ? plan_refusal(seed, index) : plan_graph(seed, index);
    case 1:
      return plan_graph(seed, index);
    case 2:
      return plan_transforms(seed, index);
    case 3:
      return plan_twin(seed, index);
    default:
      return has_layer_4() ? plan_sequence(seed, index) : plan_graph(seed, index);
  }
}

uint64_t in_units(uint64_t count, uint64_t unit) { return (count + unit - 1) / unit; }

uint64_t slow_checks() { return abi::abi_checks().size() - abi::quick_check_count(); }

uint64_t quick_blocks() { return in_units(abi::quick_check_count(), kBlock); }
uint64_t slow_blocks() { return in_units(slow_checks(), kBlock); }

/// Each quick check once; sequences fill the last block.
Plan plan_quick_check(uint64_t seed, uint64_t index, uint64_t number) {
  return number < abi::quick_check_count() ? plan_check(seed, index, number)
                                           : plan_sequence(seed, index);
}

/// The same of the slow ones.
Plan plan_slow_check(uint64_t seed, uint64_t index, uint64_t number) {
  return number < slow_checks() ? plan_check(seed, index, abi::quick_check_count() + number)
                                : plan_sequence(seed, index);
}

/// Of positions behind the quick checks: the number of a slow check, or nothing and the position
/// without them.
std::optional<uint64_t> take_slow(uint64_t& position) {
  constexpr uint64_t kBegin = kBeforeSlow * kBlock;
  const uint64_t count = slow_blocks() * kBlock;
  if (position >= kBegin && position < kBegin + count) return position - kBegin;
  if (position >= kBegin) position -= count;
  return {};
}

/// Blocks of the sweep after the checks: of six, three are of cells, two are of patterns, and one
/// of the other layers.
uint64_t sweep_blocks() { return in_units(groups().by_op.size() * kSweepCases, kBlock) * 2 + 2; }

Plan plan_fuzz(uint64_t seed, uint64_t index) {
  if (index < quick_blocks() * kBlock) return plan_quick_check(seed, index, index);
  uint64_t position = index - quick_blocks() * kBlock;
  if (const auto slow = take_slow(position)) return plan_slow_check(seed, index, *slow);
  const uint64_t block = position / kBlock;
  if (block < sweep_blocks()) {
    if (block % 2 == 1 && block % 6 != 3) {
      const uint64_t number = block / 6 * 2 + (block % 6 == 5);
      return plan_sweep_pattern(seed, index, number * kBlock + index % kBlock);
    }
    if (block % 6 == 3) return plan_other(seed, index, block / 6);
    const uint64_t before = block / 2;
    return plan_sweep_cell(seed, index, (before * kBlock + index % kBlock) / kSweepCases);
  }
  const uint64_t share = Random(mix(seed, index / kBlock)).below(100);
  if (share < 30) return plan_cell(seed, index);
  if (share < 36) return has_layer_4() ? plan_pattern(seed, index) : plan_graph(seed, index);
  if (share < 42) return plan_twin(seed, index);
  if (share < 55) return plan_graph(seed, index);
  if (share < 59) return plan_gradient(seed, index);
  if (share < 69) return plan_transforms(seed, index);
  if (share == 99) return plan_refusal(seed, index);
  if (!has_layer_4()) return plan_graph(seed, index);
  if (share == 98) return plan_check(seed, index, mix(seed, index));
  return share < 84 ? plan_pattern(seed, index) : plan_sequence(seed, index);
}

/// The last case of a cell takes every code, or tens of thousands of elements.
Plan plan_run_cell(uint64_t seed, uint64_t index, uint64_t number) {
  const uint64_t place = index % kRunCellCases;
  const uint32_t cell = groups().cells[number * kStride % groups().cells.size()];
  const graphs::CellSpec& spec = graphs::all_cells()[cell];
  if (place == kRunCellCases - 1) {
    if (graphs::can_exhaust(spec)) return plan_of({Layer::kCell, cell, kExhaustive}, seed, index);
    if (graphs::can_be_big(spec) && mix(seed, index) % 4 == 0)
      return plan_of({Layer::kCell, cell, kBig}, seed, index);
  }
  return plan_of({Layer::kCell, cell}, seed, index - place);
}

/// What `run` has beside cells, checks and refusals. Patterns come in the order of their table.
Plan plan_run_other(uint64_t seed, uint64_t index, uint64_t turn) {
  using PlanFunction = Plan (*)(uint64_t, uint64_t);
  static constexpr PlanFunction kPlanFunctions[] = {
      plan_graph,   plan_pattern,    plan_transforms, plan_sequence, plan_graph,    plan_twin,
      plan_pattern, plan_transforms, plan_sequence,   plan_graph,    plan_gradient, plan_pattern};
  constexpr uint64_t kTurns = std::size(kPlanFunctions);
  const PlanFunction plan_function = kPlanFunctions[turn % kTurns];
  const bool is_pattern = plan_function == plan_pattern;
  if ((plan_function == plan_sequence || is_pattern) && !has_layer_4())
    return plan_graph(seed, index);
  if (!is_pattern) return plan_function(seed, index);
  const auto patterns_before = [](uint64_t turns) {
    return static_cast<uint64_t>(std::count(kPlanFunctions, kPlanFunctions + turns, plan_pattern));
  };
  const uint64_t number = turn / kTurns * patterns_before(kTurns) + patterns_before(turn % kTurns);
  return plan_pattern_number(seed, index, number * kBlock + index % kBlock);
}

/// A case of the first pass of `run`: every op in every dtype, in the order of the sweep, every
/// refusal, and some of the others.
Plan plan_run_pass(uint64_t seed, uint64_t index, uint64_t position) {
  const uint64_t turn = position / kPassBlock, place = position % kPassBlock;
  const auto& all = groups().by_op;
  if (place < kPassCells) {
    const auto& cells = all[((turn * kPassCells + place) * kStride + mix(seed, 3)) % all.size()];
    return plan_of({Layer::kCell, pick(cells, mix(seed, index))}, seed, index);
  }
  if (place < kPassCells + kPassRefusals) {
    const uint64_t number = turn * kPassRefusals + place - kPassCells;
    const uint32_t cell = pick(groups().refusals, number * kStride);
    return plan_of({Layer::kCell, cell}, seed, index);
  }
  return plan_run_other(seed, index, turn);
}

/// Cells one after the other; of kRunTurn blocks, the last belongs to the others.
Plan plan_run_rest(uint64_t seed, uint64_t index, uint64_t position) {
  const uint64_t block = position / kBlock, turn = block / kRunTurn, place = block % kRunTurn;
  if (place == kRunTurn - 1) return plan_run_other(seed, index, turn);
  const uint64_t cells = (turn * (kRunTurn - 1) + place) * kBlock + position % kBlock;
  return plan_run_cell(seed, index, cells / kRunCellCases);
}

/// Counts of `run`, in its order, each a multiple of the block. What rounding leaves over comes
/// again, with other values.
struct RunCounts {
  uint64_t quick = quick_blocks() * kBlock, slow = slow_blocks() * kBlock;
  uint64_t pass = in_units(std::max(in_units(groups().by_op.size(), kPassCells),
                                    in_units(groups().refusals.size(), kPassRefusals)) *
                               kPassBlock,
                           kBlock) *
                  kBlock;
  uint64_t rest =
      in_units(groups().cells.size() * kRunCellCases, (kRunTurn - 1) * kBlock) * kRunTurn * kBlock;
};

Plan plan_run(uint64_t seed, uint64_t index) {
  static const RunCounts counts;
  const uint64_t position = index - kRunBase;
  if (position < counts.quick) return plan_quick_check(seed, index, position);
  uint64_t after = position - counts.quick;
  if (const auto slow = take_slow(after)) return plan_slow_check(seed, index, *slow);
  return after < counts.pass ? plan_run_pass(seed, index, after)
                             : plan_run_rest(seed, index, after - counts.pass);
}

}  // namespace

uint64_t run_end() {
  const RunCounts c;
  return kRunBase + c.quick + c.slow + c.pass + c.rest;
}

int layer_of(const Plan& plan) {
  if (plan.transform_seed) return 2;
  switch (plan.spec.layer) {
    case Layer::kCell:
      return 0;
    case Layer::kGraph:
      return 1;
    case Layer::kSequence:
      return 3;
    case Layer::kCheck:
      return 4;
    case Layer::kGradient:
      return 5;
    case Layer::kPattern:
      return 6;
  }
  return 0;
}

Plan plan_case(uint64_t seed, uint64_t index) {
  if (index < kRunBase) return plan_fuzz(seed, index);
  return index < run_end() ? plan_run(seed, index) : plan_graph(seed, index);
}

}  // namespace tenon::conformance
