// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/abi/harness.hpp"

#include "conformance/abi/call_watch.hpp"
#include "conformance/abi/checks/check.hpp"
#include "conformance/abi/sequences/runner.hpp"
#include "conformance/cases/abi/programs.hpp"
#include "conformance/cases/abi/rules.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::abi {
namespace {

Outcome outcome_of(Status status, std::string text) {
  Outcome outcome;
  outcome.status = status;
  outcome.text = std::move(text);
  return outcome;
}

}  // namespace

Outcome ApiHarness::run_steps(const Sequence& sequence, const std::function<void()>& alive) {
  sequences::SequenceRunner runner(subject_);
  try {
    runner.run(sequence, alive);
  } catch (const Finding& finding) {
    return failed(finding.kind, with_rule(fmt::format("{}, at {}", finding.text, runner.where()),
                                          rule_of_finding(finding.kind, runner.verb())));
  } catch (const IllegalCase& illegal) {
    return tool_error(illegal.kind, fmt::format("{}, at {}", illegal.text, runner.where()));
  } catch (const Lost& lost) {
    return outcome_of(Status::kDeviceLost, fmt::format("{}, at {}", lost.text, runner.where()));
  } catch (const Error& error) {  // of a sequence that is none
    return tool_error(std::string(kProgramKind),
                      fmt::format("{}, at {}", error.what(), runner.where()));
  }
  if (runner.done() == 0 && is_programs(sequence)) {
    const programs::LeftOut& left_out = runner.left_out();
    return outcome_of(left_out.too_long ? Status::kVacuous : Status::kUnsupported, left_out.why);
  }
  if (runner.done() == 0) return outcome_of(Status::kVacuous, "no step was possible");
  return {};
}

/// What a call did to the process is a fault of its own, whatever the case was about.
Outcome ApiHarness::run(const Case& test, const std::function<void()>& alive) {
  put_back_floats();
  take_process_change();  // of calls before this case
  Outcome outcome = run_case(test, alive);
  const std::string change = take_process_change();
  if (!change.empty() && !is_failure(outcome.status))
    return failed("error", with_rule(change, kRuleOfProcess));
  return outcome;
}

Outcome ApiHarness::run_case(const Case& test, const std::function<void()>& alive) {
  try {
    if (test.sequence->check.empty()) return run_steps(*test.sequence, alive);
    checks::run_check(test.sequence->check, {subject_, test.seed, alive});
    return {};
  } catch (const Finding& finding) {
    return failed(finding.kind, finding.text);
  } catch (const NotThere& reason) {
    return outcome_of(Status::kUnsupported, reason.text);
  } catch (const Lost& lost) {
    return outcome_of(Status::kDeviceLost, lost.text);
  } catch (const std::exception& error) {
    return failed("sequence", error.what());
  }
}

}  // namespace tenon::conformance::abi
