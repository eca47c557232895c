// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Templates by plan, the last few cached.
#include "conformance/cases/generator.hpp"

#include <algorithm>

#include "conformance/cases/abi/memory_cases.hpp"
#include "conformance/cases/abi/patterns/pattern.hpp"
#include "conformance/cases/abi/programs.hpp"
#include "conformance/cases/graphs/cells.hpp"
#include "conformance/cases/graphs/coverage.hpp"
#include "conformance/cases/graphs/edge.hpp"
#include "conformance/cases/graphs/gradients.hpp"
#include "conformance/cases/graphs/graphs.hpp"
#include "conformance/cases/plan.hpp"
#include "core/support/error.hpp"
#include "sdk/support/scanner.hpp"

namespace tenon::conformance {
namespace {

constexpr size_t kMostCached = 4;
constexpr double kMostElements = 1 << 20;
constexpr uint32_t kProgramShare = 67;  ///< of sequences

/// Edited draws may not make a case that takes minutes or gigabytes.
void check_sizes(const Graph& graph) {
  for (const NodeRef& node : topological(graph.outputs)) {
    double count = 1;
    for (const Dim& dim : node->shape) count *= static_cast<double>(dim.max());
    TN_REQUIRE(count <= kMostElements,
               "[generator] expected tensors of at most {} elements, got {}", kMostElements,
               to_string(node->shape));
  }
}

graphs::Template sequence_template(std::string op, abi::Sequence sequence) {
  graphs::Template out;
  out.cell = {"api." + std::move(op), "-", "-"};
  out.sequence = std::move(sequence);
  return out;
}

graphs::Template build_template(const TemplateSpec& spec, Choices& choices, Builder& builder) {
  switch (spec.layer) {
    case Layer::kCell:
      TN_REQUIRE(spec.number < graphs::all_cells().size(),
                 "[generator] expected a cell below {}, got {}", graphs::all_cells().size(),
                 spec.number);
      return graphs::build_cell(graphs::all_cells()[spec.number], choices, builder, spec.flags);
    case Layer::kGraph:
    case Layer::kGradient: {
      TN_REQUIRE(spec.number <= graphs::edge_count(),
                 "[generator] expected an aim below {}, got {}", graphs::edge_count(), spec.number);
      std::optional<uint32_t> aim;
      if (spec.number > 0) aim = spec.number - 1;
      if (spec.layer == Layer::kGradient)
        return graphs::build_gradient(choices, builder, aim, spec.flags);
      return graphs::build_graph(choices, builder, aim, spec.flags);
    }
    case Layer::kCheck: {
      TN_REQUIRE(spec.number < abi::abi_checks().size(),
                 "[generator] expected a check below {}, got {}", abi::abi_checks().size(),
                 spec.number);
      const std::string& name = abi::abi_checks()[spec.number];
      return sequence_template(name, {name, {}});
    }
    case Layer::kPattern: {
      TN_REQUIRE(spec.number < abi::all_patterns().size(),
                 "[generator] expected a pattern below {}, got {}", abi::all_patterns().size(),
                 spec.number);
      const abi::Pattern& pattern = abi::all_patterns()[spec.number];
      abi::DrawnPattern drawn = pattern.draw(choices);
      graphs::Template out =
          sequence_template(std::string(pattern.family), {"", std::move(drawn.steps)});
      if (drawn.dtype != TN_DTYPE_VOID)
        out.cell.dtype = dtype_name(static_cast<DType>(drawn.dtype));
      out.cell.layout = pattern.name;
      return out;
    }
    case Layer::kSequence:
      if (choices.chance(kProgramShare))
        return sequence_template("program", abi::draw_programs(choices));
      return sequence_template("sequence", abi::draw_sequence(choices));
  }
  fail(ErrorKind::kInvalid, "[generator] expected a recipe, got {:#x}", spec.pack());
}

graphs::Template build(uint64_t word, Choices choices, Builder& builder) {
  graphs::Template shape = build_template(TemplateSpec::unpack(word), choices, builder);
  check_sizes(shape.graph);
  shape.origin = {word, choices.draws(), choices.stretches(), 0};
  return shape;
}

}  // namespace

Case Generator::make(uint64_t index, uint64_t attempt) {
  if (index >= kMemoryBase) return abi::memory_case(seed_, index - kMemoryBase);
  const Plan plan = plan_case(seed_, index);
  const graphs::Template& shape = cached(plan);
  Case out = graphs::instantiate(shape, seed_, index, mix(mix(seed_, index), attempt + 1));
  out.transform_seed = plan.transform_seed;
  // Every second list is of a device of other sizes; what is fused goes by them more.
  const bool fused = plan.spec.flags & kFused;
  if (Random random(plan.transform_seed.value_or(0));
      plan.transform_seed && random.chance(fused ? 85 : 50))
    out.sizes = draw_device_sizes(random, fused ? 85 : 60);
  return out;
}

const graphs::Template& Generator::cached(const Plan& plan) {
  const uint64_t spec = plan.spec.pack();
  for (const CachedTemplate& one : cache_)
    if (one.key == plan.key && one.shape.origin.recipe == spec) return one.shape;
  if (cache_.size() == kMostCached) cache_.erase(cache_.begin());
  // What the core refuses, a size it cannot bound perhaps, is drawn again.
  constexpr uint64_t kTries = 4;
  for (uint64_t attempt = 0;; ++attempt) {
    try {
      const uint64_t seed = attempt ? mix(plan.seed, attempt) : plan.seed;
      cache_.push_back({plan.key, build(spec, Choices(seed), builder_)});
      return cache_.back().shape;
    } catch (const Error&) {
      if (attempt == kTries) throw;
    }
  }
}

Case Generator::make_plain(uint64_t index) {
  const auto& cells = graphs::all_cells();
  const uint64_t position = index - kCompileBase;
  Choices choices(mix(seed_, index));
  graphs::Template shape = position < cells.size()
                               ? graphs::build_cell(cells[position], choices, builder_)
                               : graphs::build_graph(choices, builder_);
  Case out;
  out.seed = seed_;
  out.index = index;
  out.cell = std::move(shape.cell);
  out.graph = std::move(shape.graph);
  out.refusal = shape.refusal;
  return out;
}

Case Generator::remake(const Case& like, const Origin& origin) {
  const graphs::Template shape = build(origin.recipe, Choices(origin.draws), builder_);
  Case out = graphs::instantiate(shape, like.seed, like.index, origin.value_seed);
  out.mode = like.mode;
  out.transform_seed = like.transform_seed;
  out.transforms = like.transforms;
  out.sizes = like.sizes;
  out.oracle_seed = like.oracle_seed;
  return out;
}

std::string case_name(uint64_t seed, uint64_t index) { return fmt::format("{}:{}", seed, index); }

std::pair<uint64_t, uint64_t> parse_case_name(std::string_view text) {
  const size_t colon = std::min(text.find(':'), text.size());
  const auto seed = sdk::number_of<uint64_t>(text.substr(0, colon));
  const auto index = sdk::number_of<uint64_t>(text.substr(std::min(colon + 1, text.size())));
  TN_REQUIRE(seed && index, "[replay] expected SEED:INDEX or a file, got \"{}\"", text);
  return {*seed, *index};
}

}  // namespace tenon::conformance
