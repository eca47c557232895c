// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Confirms and shrinks through workers.
#include "conformance/campaign/reduce_failure.hpp"

#include <chrono>
#include <optional>

#include "conformance/campaign/buckets.hpp"
#include "conformance/campaign/shrink_failure.hpp"
#include "conformance/cases/abi/rules.hpp"
#include "conformance/cases/files.hpp"
#include "conformance/cases/generator.hpp"
#include "conformance/shrink/size.hpp"
#include "conformance/worker/run_reproducer.hpp"
#include "core/support/error.hpp"
#include "core/support/shell.hpp"

namespace tenon::conformance::campaign {
namespace {

/// What looks like this: a result that is read before it is there.
constexpr int kRuleOfSignals = 32, kRuleOfReturns = 20;

std::string replay_line(const std::string& what, const Target& target) {
  return fmt::format("tenon-conformance replay {} {}", shell_word(what), target_arguments(target));
}

}  // namespace

std::string target_arguments(const Target& target) {
  std::string out;
  const auto add = [&](const char* option, const std::string& word) {
    out += fmt::format("{}{} {}", out.empty() ? "" : " ", option, shell_word(word));
  };
  // The name of a plugin's file says the backend, but neither its device nor its options.
  if (!target.plugin || target.backend != target.backend_name()) add("--backend", target.backend);
  if (target.plugin) add("--plugin", target.plugin->string());
  if (!target.name.empty()) add("--target", target.name);
  return out;
}

report::Failure FailureReducer::describe(const Finished& finished) const {
  report::Failure failure;
  failure.name = case_name(options_.seed, finished.index);
  failure.status = finished.outcome.status;
  failure.kind = finished.outcome.kind;
  failure.op = finished.cell.op;
  failure.dtype = finished.cell.dtype;
  failure.layout = finished.cell.layout;
  failure.text = finished.outcome.text;
  failure.diff = finished.outcome.diff;
  failure.replay = replay_line(failure.name, options_.worker.target);
  return failure;
}

Case FailureReducer::make(const Finished& finished) {
  return Generator(options_.seed, builder_).make(finished.index, finished.attempt);
}

/// Does it come alone, now and then, or after others? `whole` gets the outcome, and the cases that
/// must run first.
bool FailureReducer::find(Rerun& rerun, Reduced& reduced, Reproducer& whole,
                          const Finished& finished) {
  Outcome seen;
  int failures = 0;
  // What depends on a history never shows without one.
  if (finished.outcome.kind != worker::kHistoryKind)
    failures = rerun.count(whole, kConfirmations, seen);
  reduced.rarely = failures > 0 && failures < kConfirmations;
  if (failures == 0) {
    std::optional<std::vector<Case>> after;
    if (finished.outcome.kind != worker::kProcessKind && !rerun.exhausted())
      after = find_history(rerun, whole, finished, options_.shrink_seconds / 2, builder_);
    if (!after) {
      whole.outcome = std::move(seen);
      return false;
    }
    whole.after = std::move(*after);
    if (rerun.count(whole, 1, seen) == 0) seen = finished.outcome;
  }
  whole.outcome = std::move(seen);
  return true;
}

void FailureReducer::write(Reduced& reduced) const {
  report::Failure& failure = reduced.failure;
  const Reproducer& reproducer = reduced.reproducer;
  const shrink::Size size = shrink::size_of(reproducer.test);
  failure.nodes = size.nodes;
  failure.elements = size.elements;
  failure.text = reproducer.outcome.text;
  failure.diff = reproducer.outcome.diff;
  // A cell has its op in its name.
  if (const std::string ops = few_ops(reproducer.test);
      !ops.empty() && reproducer.test.cell.op == "graph")
    failure.text += fmt::format("; shrunk to {}", ops);
  // What ends the process says no more than where: the last call of the fewest that do it.
  if (const std::optional<abi::Sequence>& calls = reproducer.test.sequence;
      calls && !calls->steps.empty() && failure.status != Status::kFail) {
    const std::string& last = calls->steps.back().verb;
    failure.text = abi::with_rule(fmt::format("{}; the last step is {}", failure.text, last),
                                  abi::rule_of_step(last));
  }
  if (reduced.rarely) failure.text += "; not in every run";
  if (!reproducer.after.empty())
    failure.text += fmt::format("; only after {} other case{}", reproducer.after.size(),
                                reproducer.after.size() == 1 ? "" : "s");
  failure.reproducer = write_reproducer(reproducer);
  if (!options_.folder) return;
  const auto folder = *options_.folder / "failures";
  std::filesystem::create_directories(folder);
  const auto path = folder / fmt::format("{}-{}.tn", reproducer.test.seed, reproducer.test.index);
  write_file(path, failure.reproducer);
  failure.replay = replay_line(path.string(), options_.worker.target);
}

Reduced FailureReducer::reduce(const Finished& finished) {
  const auto begin = std::chrono::steady_clock::now();
  Reduced out{describe(finished), {}};
  std::optional<Rerun> rerun(std::in_place, options_.worker, finished.outcome);
  const Target& target = options_.worker.target;
  Reproducer whole{.test = make(finished),
                   .outcome = finished.outcome,
                   .backend = target.backend,
                   .apart = shows_apart(finished.outcome),
                   .plugin = target.plugin ? target.plugin->string() : ""};
  bool is_found = find(*rerun, out, whole, finished);
  if (!is_found && whole.outcome.status == finished.outcome.status && !rerun->gone() &&
      !whole.apart) {
    // It fails alone too, but in another way: then that is what there is to show.
    Finished other = finished;
    other.outcome = whole.outcome;
    rerun.emplace(options_.worker, other.outcome);
    is_found = find(*rerun, out, whole, other);
  }
  if (!is_found) {
    // Nothing can be said of a device that does not start any more; and several processes have
    // seen it already.
    out.gone = rerun->gone();
    if (out.gone || whole.apart) return out;
    out.failure.status = Status::kFlaky;
    const std::string& text = whole.outcome.text;
    out.failure.text +=
        fmt::format("; and in a fresh process: {}{}{}", status_name(whole.outcome.status),
                    text.empty() ? "" : " ", text);
    if (finished.outcome.status == Status::kFail)
      out.failure.text = abi::with_rule(out.failure.text + "; perhaps it was read too early",
                                        options_.async ? kRuleOfSignals : kRuleOfReturns);
    return out;
  }
  out.failure.kind = whole.outcome.kind;
  ShrunkFailure small =
      shrink_failure(*rerun, whole, out.rarely, options_.shrink_seconds, builder_);
  out.reproducer = std::move(small.reproducer);
  out.failure.transform = std::move(small.transform);
  const std::chrono::duration<double> used = std::chrono::steady_clock::now() - begin;
  out.failure.shrink_seconds = used.count();
  write(out);
  return out;
}

}  // namespace tenon::conformance::campaign
