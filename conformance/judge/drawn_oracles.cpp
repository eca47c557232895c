// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/judge/drawn_oracles.hpp"

#include <algorithm>

#include "conformance/cases/generator.hpp"
#include "conformance/cases/random.hpp"
#include "conformance/judge/metamorphic.hpp"
#include "conformance/judge/refusal.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::judge {
namespace {

constexpr uint32_t kTrimPercent = 3, kAliasPercent = 6, kScalePercent = 8, kOrderPercent = 6;
constexpr uint32_t kRelationGraphPercent = 12, kRelationPercent = 60;
constexpr uint32_t kDonatedGraphPercent = 8, kDonatedPercent = 50;

/// The low half, one stream an oracle.
Random stream(uint64_t oracle_seed, uint64_t oracle) { return Random(mix(oracle_seed, oracle)); }

std::optional<Finding> damage(const DeviceRun& run, const std::string& relation) {
  if (!run.guards.empty()) return Finding{"guard", fmt::format("{}: {}", relation, run.guards)};
  if (!run.changed.empty()) return Finding{"input", fmt::format("{}: {}", relation, run.changed)};
  return std::nullopt;
}

bool has_loop(const Graph& graph) {
  return std::ranges::any_of(topological(graph.outputs),
                             [](const NodeRef& node) { return node->op == Op::LOOP; });
}

/// Pairs of inputs that could be one.
std::vector<std::pair<size_t, size_t>> alike(const std::vector<Array>& inputs) {
  std::vector<std::pair<size_t, size_t>> pairs;
  for (size_t j = 1; j < inputs.size(); ++j)
    for (size_t i = 0; i < j; ++i)
      if (inputs[i].dtype == inputs[j].dtype && inputs[i].shape == inputs[j].shape &&
          !inputs[i].bytes.empty())
        pairs.emplace_back(i, j);
  return pairs;
}

}  // namespace

DrawnOracles::DrawnOracles(Runtime& runtime, const Profile& profile)
    : runtime_(runtime),
      profile_(profile),
      deterministic_(runtime.device().capabilities().deterministic) {}

bool DrawnOracles::trims(uint64_t oracle_seed) {
  return oracle_seed && stream(oracle_seed, 0).chance(kTrimPercent);
}

std::optional<Finding> DrawnOracles::check(const Passed& passed, const Progress& progress) {
  const uint64_t seed = passed.test.oracle_seed;
  if (seed == 0) return std::nullopt;
  std::optional<Finding> found;
  if (Random random = stream(seed, 1); !found && random.chance(kAliasPercent))
    found = aliased(passed, random.bits(), progress);
  Random graph(seed >> 32);
  if (graph.chance(kRelationGraphPercent) && !passed.plan && !found &&
      stream(seed, 2).chance(kRelationPercent))
    found = related(passed, graph.bits(), progress);
  if (Random random = stream(seed, 3); !found && deterministic_ && random.chance(kScalePercent))
    found = scaled_up(passed, random.bits(), progress);
  if (Random random = stream(seed, 4); !found && deterministic_ && random.chance(kOrderPercent))
    found = earlier(random.bits(), progress);
  if (Random given = Random(mix(seed >> 32, 5)); !found && !passed.plan &&
                                                 given.chance(kDonatedGraphPercent) &&
                                                 stream(seed, 5).chance(kDonatedPercent))
    found = donated(passed, progress);
  if (!found) history_.remember(passed.test, passed.outputs, passed.plan);
  return found;
}

/// Two inputs are one buffer.
std::optional<Finding> DrawnOracles::aliased(const Passed& passed, uint64_t seed,
                                             const Progress& progress) {
  const auto pairs = alike(passed.test.inputs);
  // Any tensor would do as the number of trips, but not in reasonable time.
  if (pairs.empty() || has_loop(passed.test.graph)) return std::nullopt;
  const auto [i, j] = pairs[seed % pairs.size()];
  Case test = passed.test;
  test.inputs[j] = test.inputs[i];
  const std::string relation = fmt::format("inputs {} and {} in one buffer", i, j);
  const DeviceRun run =
      run_on_device(runtime_, test,
                    {.plan = passed.plan.get(), .share_inputs = true, .is_first = false}, progress);
  if (auto found = damage(run, relation)) return found;
  const Comparison comparison = compare(expect(test, profile_), run.outputs, profile_);
  if (!comparison.mismatch) return std::nullopt;
  return Finding{"alias", fmt::format("{}: {}", relation, *comparison.mismatch)};
}

/// Results lie where inputs were.
std::optional<Finding> DrawnOracles::donated(const Passed& passed, const Progress& progress) {
  progress(RunPhase::kCompile);
  const DeviceRun run = run_on_device(runtime_, passed.test, {.donate = true}, progress);
  const std::string relation = "results written over inputs";
  if (auto found = damage(run, relation)) return found;
  const Comparison comparison = compare(passed.expectation, run.outputs, profile_);
  if (!comparison.mismatch) return std::nullopt;
  return Finding{"alias", fmt::format("{}: {}", relation, *comparison.mismatch)};
}

std::optional<Finding> DrawnOracles::related(const Passed& passed, uint64_t seed,
                                             const Progress& progress) {
  const auto variant = draw_variant(passed.test, seed, profile_, runtime_.builder());
  if (!variant) return std::nullopt;
  progress(RunPhase::kCompile);
  DeviceRun run;
  try {
    run = run_on_device(runtime_, variant->test, {}, progress);
  } catch (const Error& error) {
    const Outcome outcome = from_error(error, variant->test, runtime_.device().capabilities());
    if (outcome.status == Status::kUnsupported) return std::nullopt;
    if (outcome.status == Status::kDeviceLost) throw;
    return Finding{outcome.kind, fmt::format("{}: {}", variant->relation, outcome.text)};
  }
  if (auto found = damage(run, variant->relation)) return found;
  const std::vector<Array> outputs = restored(*variant, passed.outputs, run.outputs);
  const Comparison comparison = compare(passed.expectation, outputs, profile_);
  if (!comparison.mismatch) return std::nullopt;
  return Finding{"metamorphic", fmt::format("{}: {}", variant->relation, *comparison.mismatch)};
}

std::optional<Finding> DrawnOracles::scaled_up(const Passed& passed, uint64_t seed,
                                               const Progress& progress) {
  const auto scaling = draw_scaling(passed.test, seed);
  if (!scaling) return std::nullopt;
  const DeviceRun run = run_on_device(runtime_, scaling->test,
                                      {.plan = passed.plan.get(), .is_first = false}, progress);
  const std::string relation = "inputs times a power of two";
  if (auto found = damage(run, relation)) return found;
  const std::string difference =
      first_difference(scaled(passed.outputs, scaling->exponents), run.outputs);
  if (difference.empty()) return std::nullopt;
  return Finding{"metamorphic", fmt::format("{}: {}", relation, difference)};
}

/// An earlier case of this process, now that this one has run.
std::optional<Finding> DrawnOracles::earlier(uint64_t seed, const Progress& progress) {
  const History::Entry* entry = history_.draw(seed);
  if (!entry) return std::nullopt;
  progress(RunPhase::kCompile);
  const DeviceRun run = run_on_device(runtime_, entry->test, {.plan = entry->plan.get()}, progress);
  const std::string relation =
      fmt::format("case {} again", case_name(entry->test.seed, entry->test.index));
  if (auto found = damage(run, relation)) return found;
  const std::string difference = first_difference(entry->outputs, run.outputs);
  if (difference.empty()) return std::nullopt;
  return Finding{"order", fmt::format("{}: {}", relation, difference)};
}

}  // namespace tenon::conformance::judge
