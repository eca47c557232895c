// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One run with guard zones, a second one with the other poison, the verdict, and then what else is
// drawn.
#include "conformance/judge/harness.hpp"

#include "conformance/judge/claimed_limits.hpp"
#include "conformance/judge/declared.hpp"
#include "conformance/judge/findings.hpp"
#include "conformance/judge/needs.hpp"
#include "conformance/judge/refusal.hpp"
#include "conformance/judge/steps.hpp"
#include "conformance/judge/transform_choice.hpp"
#include "core/plugin/discovery.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::judge {
namespace {

constexpr uint32_t kGuardBytes = 256;
constexpr uint64_t kRefusalsALimit = 4;  ///< there are few limits, and each is compiled

/// `guard_bytes` on both sides of each buffer; 0: the host writes nothing beside what it is told.
std::unique_ptr<Runtime> make_runtime(const Target& target, uint32_t guard_bytes) {
  RuntimeOptions options;
  options.devices = target.backend;
  if (target.plugin) options.plugins.push_back(*target.plugin);
  options.probe = false;  // a worker process is one
  options.disk_cache = false;
  options.validate = false;
  options.matmul = Precision::kDefault;  // what a case allows, its graph says
  options.guard_bytes = guard_bytes;
  options.constants_vary = false;
  return std::make_unique<Runtime>(std::move(options));
}

/// The operands of one element, where all inputs have the output's shape.
std::string operands_text(const Case& test, int64_t index, int64_t count) {
  std::string text;
  for (const Array& input : test.inputs) {
    if (input.count() != count) return {};
    text += (text.empty() ? "" : ", ") + to_string(input.at(index));
  }
  return text;
}

/// A written list of transforms that the kernels do not take.
struct TransformsRefused {
  std::string why;
  bool is_lack;  ///< of something on the device, as vectors
};

/// Every bit as the reference has it.
bool has_values(const Expectation& expectation, const std::vector<Array>& outputs) {
  for (size_t k = 0; k < outputs.size(); ++k)
    if (outputs[k].bytes != expectation[k].value.bytes) return false;
  return true;
}

/// What is written outside says more than what is wrong inside, and comes first.
std::string with_mismatch(const std::string& guards, const Comparison& comparison) {
  return comparison.mismatch ? fmt::format("{}; and {}", guards, *comparison.mismatch) : guards;
}

/// The verdict of an exception; what was known before it stays.
void become(const Outcome& verdict, Outcome& outcome) {
  outcome.status = verdict.status;
  outcome.kind = verdict.kind;
  outcome.text = verdict.text;
}

}  // namespace

Harness::Harness(const Target& target)
    : runtime_(make_runtime(target, kGuardBytes)),
      target_(target),
      capabilities_(runtime_->device().capabilities()),
      profile_(Profile::of(capabilities_)),
      drawn_(*runtime_, profile_) {}

std::string Harness::device_id() const { return runtime_->device().id(); }
std::string Harness::device_name() const { return runtime_->device().info().name; }
std::string Harness::properties() const { return declared_properties(runtime_->device()); }

std::string Harness::plugin_path() const {
  if (target_.plugin) return target_.plugin->string();
  const std::string id = device_id(), backend = id.substr(0, id.find(':'));
  const Discovery found = installed_plugins();
  const PluginCandidate* candidate = find_backend(found, backend);
  return candidate ? candidate->path.string() : backend;
}

std::string Harness::declaration() const {
  std::string text = capabilities_.strict ? "strict" : "relaxed";
  constexpr std::string_view kNumerics[] = {"flushes subnormal inputs",
                                            "flushes subnormal results",
                                            "no NaN",
                                            "no infinity",
                                            "no signed zero",
                                            "contracts"};
  for (size_t i = 0; i < std::size(kNumerics); ++i)
    if (capabilities_.numerics >> i & 1) text += fmt::format(", {}", kNumerics[i]);
  return text + (capabilities_.deterministic ? ", deterministic" : ", not deterministic");
}

/// Layer 3: a plan with the case's transforms. Cases that follow one another share it.
SchedulePlanRef Harness::transformed(const Case& test, std::string& transforms) {
  if (latest_.plan && latest_.outputs == test.graph.outputs &&
      latest_.params == test.graph.params && latest_.seed == test.transform_seed &&
      latest_.written == test.transforms && latest_.sizes == test.sizes) {
    transforms = latest_.applied;
    return latest_.plan;
  }
  latest_ = {};
  TransformChoice choice(test);
  try {
    SchedulePlanRef plan = runtime_->plan(test.graph, choice);
    transforms = choice.text();
    latest_ = {test.graph.outputs,
               test.graph.params,
               test.transform_seed,
               test.transforms,
               test.sizes,
               transforms,
               plan};
    return plan;
  } catch (const Error& error) {
    transforms = choice.text();
    if (const std::string why = choice.refused(); !why.empty())
      throw TransformsRefused{why, error.kind() == ErrorKind::kUnsupported};
    throw;
  }
}

/// What else it may be, by the rule that is broken then.
std::string Harness::or_too_early() const {
  return capabilities_.async
             ? ", or a signal rose before the work before it had ended (rule 32 of docs/abi.md)"
             : ", or submit returned before its work had ended, which a device without "
               "TN_DEVICE_ASYNC may not do (rule 20 of docs/abi.md)";
}

/// Why the two runs differ, as far as what is left in the outputs tells.
std::string Harness::likely_cause(const Passed& runs, const DeviceRun& first,
                                  const DeviceRun& second) const {
  const int64_t left =
      std::max(still_poisoned(runs.expectation, first.outputs, profile_, kPoison),
               still_poisoned(runs.expectation, second.outputs, profile_, kOtherPoison));
  if (left > 0)
    return fmt::format(
        "; {} element{} still hold{} the poison that memory was filled with: they "
        "were never written{}",
        left, left == 1 ? "" : "s", left == 1 ? "s" : "", or_too_early());
  return "; it read what nothing wrote" + or_too_early();
}

/// Both runs, and what they say together.
std::optional<Finding> Harness::compare_runs(const Passed& runs, const Comparison& comparison,
                                             const DeviceRun& first, const DeviceRun& second) {
  const Comparison again = compare(runs.expectation, second.outputs, profile_);
  if (!second.guards.empty()) return Finding{"guard", with_mismatch(second.guards, again)};
  const auto poison = [&](const Comparison& wrong, const char* otherwise) {
    return Finding{"poison", *wrong.mismatch + otherwise + likely_cause(runs, first, second)};
  };
  const bool deterministic = capabilities_.deterministic;
  if (comparison.mismatch) {
    // Wrong once and right with other garbage around: what it read was never written.
    if (!again.mismatch) return poison(comparison, "; right with another poison");
    if (deterministic && !first_difference(first.outputs, second.outputs).empty())
      return poison(comparison, "; wrong otherwise with another poison");
    return Finding{"mismatch", *comparison.mismatch};
  }
  if (again.mismatch) return poison(again, "; right with another poison");
  if (deterministic)
    if (const std::string text = first_difference(first.outputs, second.outputs); !text.empty())
      return Finding{"nondeterminism", text + "; sums in another order each time" + or_too_early()};
  return std::nullopt;
}

void Harness::judge(const Case& test, const Expectation& expectation, const Progress& progress,
                    Outcome& outcome) {
  SchedulePlanRef plan;
  if (TransformChoice::wanted(test)) plan = transformed(test, outcome.transforms);
  const DeviceRun first =
      run_on_device(*runtime_, test, {.poison = kPoison, .plan = plan.get()}, progress);
  outcome.digest = digest_of(first.outputs);
  const Comparison comparison = compare(expectation, first.outputs, profile_);
  outcome.worst_ulp = comparison.worst_ulp;
  if (comparison.worst_index >= 0)
    outcome.worst_input = operands_text(test, comparison.worst_index, first.outputs[0].count());
  outcome.ulps = worst_ulps(test, expectation, first.outputs);
  const auto fails = [&](const Finding& finding) {
    outcome.status = Status::kFail;
    outcome.kind = finding.kind;
    outcome.text = finding.text;
  };
  if (!first.guards.empty()) return fails({"guard", with_mismatch(first.guards, comparison)});
  if (!first.changed.empty()) return fails({"input", first.changed});
  if (DrawnOracles::trims(test.oracle_seed)) runtime_->device().trim();
  const DeviceRun second = run_on_device(
      *runtime_, test, {.poison = kOtherPoison, .plan = plan.get(), .is_first = false}, progress);
  const Passed runs{test, expectation, first.outputs, plan};
  if (const auto finding = compare_runs(runs, comparison, first, second)) {
    if (comparison.mismatch) outcome.diff = diff_of(expectation, first.outputs, profile_);
    return fails(*finding);
  }
  if (!has_values(expectation, first.outputs))
    outcome.needs = needs_of(test, first.outputs, profile_);
  if (const auto finding = drawn_.check(runs, progress)) fails(*finding);
}

Outcome Harness::run(const Case& test, const Expectation* expectation, const Progress& progress) {
  Outcome outcome;
  try {
    if (test.refusal) {
      Device& device = runtime_->device();
      outcome = offer_op(TargetCompiler(device), *test.graph.outputs[0]);
      if (outcome.status == Status::kPass && test.oracle_seed % kRefusalsALimit == 1)
        outcome = check_limit(device, test.oracle_seed / kRefusalsALimit, progress);
      return outcome;
    }
    if (test.steps)
      return run_steps(*runtime_, *make_runtime(target_, 0), test, profile_, progress);
    judge(test, *expectation, progress, outcome);
  } catch (const TransformsRefused& refused) {
    become(refused.is_lack ? Outcome{Status::kUnsupported, "transforms", refused.why}
                           : failed("transforms", refused.why),
           outcome);
  } catch (const Error& error) {
    become(from_error(error, test, capabilities_), outcome);
  } catch (const std::exception& error) {
    become(failed("error", error.what()), outcome);
  }
  return outcome;
}

}  // namespace tenon::conformance::judge
