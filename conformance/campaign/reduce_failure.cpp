// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Confirms and shrinks through workers.
#include "conformance/campaign/reduce_failure.hpp"

#include <chrono>

#include "conformance/cases/files.hpp"
#include "conformance/cases/generator.hpp"
#include "conformance/shrink/shrink.hpp"
#include "conformance/shrink/size.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance {
namespace {

constexpr int kConfirmations = 3;
constexpr int kPatience = 4;  ///< runs in which a failure that comes rarely has to come once

std::string backend_text(const Target& target) {
  return target.plugin ? target.plugin->string() : target.backend;
}

}  // namespace

std::string target_arguments(const Target& target) {
  const std::string name = target.name.empty() ? "" : " --target " + target.name;
  if (target.plugin) return fmt::format("--plugin {}{}", target.plugin->string(), name);
  return fmt::format("--backend {}{}", target.backend, name);
}

Failure FailureReducer::describe(const Finished& finished) const {
  Failure failure;
  failure.name = case_name(options_.seed, finished.index);
  failure.status = finished.outcome.status;
  failure.kind = finished.outcome.kind;
  failure.op = finished.cell.op;
  failure.dtype = finished.cell.dtype;
  failure.layout = finished.cell.layout;
  failure.text = finished.outcome.text;
  failure.diff = finished.outcome.diff;
  failure.replay = fmt::format("tenon-conformance replay {} {}", failure.name,
                               target_arguments(options_.worker.target));
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
  const int failures = rerun.count(whole, kConfirmations, seen);
  reduced.rarely = failures > 0 && failures < kConfirmations;
  if (failures == 0) {
    const auto after = find_history(rerun, whole, finished.process_begin, options_.shrink_seconds);
    if (!after) {
      whole.outcome = std::move(seen);
      return false;
    }
    whole.after = *after;
    rerun.count(whole, 1, seen);
  }
  whole.outcome = std::move(seen);
  return true;
}

bool FailureReducer::confirmed(Rerun& rerun, Reproducer& small, bool rarely) {
  Outcome seen;
  const int runs = rarely ? kConfirmations * kPatience : kConfirmations;
  const int failures = rerun.count(small, runs, seen, true);
  if (rarely ? failures == 0 : failures < runs) return false;
  small.outcome = seen;
  return true;
}

/// The smallest that it found; nullopt if that does not fail in fresh processes.
std::optional<Reproducer> FailureReducer::shrunk(Rerun& rerun, Reduced& reduced, bool is_warm) {
  const Reproducer& original = reduced.reproducer;
  const Probe probe = [&](const Case& candidate) -> std::optional<Outcome> {
    const Reproducer tried{candidate, rerun.wanted(), "", original.after};
    for (int i = 0; i < (reduced.rarely ? kPatience : 1); ++i) {
      Outcome outcome = is_warm ? rerun.warm(tried) : rerun.fresh(tried);
      if (rerun.fails_as_wanted(outcome)) return outcome;
    }
    return std::nullopt;
  };
  const Shrunk found = shrink(original.test, original.outcome, probe, builder_,
                              {.seconds = options_.shrink_seconds});
  Reproducer small{found.test, original.outcome, original.backend, {}};
  reduced.failure.transform = found.transform;
  // Cases that had to run first are perhaps not needed any more.
  if (!original.after.empty() && confirmed(rerun, small, reduced.rarely)) return small;
  small.after = original.after;
  if (confirmed(rerun, small, reduced.rarely)) return small;
  return std::nullopt;
}

void FailureReducer::shrink_whole(Rerun& rerun, Reduced& reduced) {
  const Case& test = reduced.reproducer.test;
  if (test.refusal || (test.sequence && !test.sequence->check.empty())) return;
  // A warm process is quicker, but what it ran before may be why a candidate fails in it.
  std::optional<Reproducer> small;
  if (reduced.reproducer.after.empty()) small = shrunk(rerun, reduced, true);
  if (!small) small = shrunk(rerun, reduced, false);
  if (small) reduced.reproducer = std::move(*small);
}

void FailureReducer::write(Reduced& reduced) const {
  Failure& failure = reduced.failure;
  const Reproducer& reproducer = reduced.reproducer;
  const Size size = size_of(reproducer.test);
  failure.nodes = size.nodes;
  failure.elements = size.elements;
  failure.text = reproducer.outcome.text;
  failure.diff = reproducer.outcome.diff;
  if (reduced.rarely) failure.text += "; not in every run";
  if (!reproducer.after.empty())
    failure.text += fmt::format("; only after {} other cases", reproducer.after.size());
  failure.reproducer = write_reproducer(reproducer);
  if (!options_.folder) return;
  const auto folder = *options_.folder / "failures";
  std::filesystem::create_directories(folder);
  const auto path = folder / fmt::format("{}-{}.tn", reproducer.test.seed, reproducer.test.index);
  write_file(path, failure.reproducer);
  failure.replay = fmt::format("tenon-conformance replay {} {}", path.string(),
                               target_arguments(options_.worker.target));
}

Reduced FailureReducer::reduce(const Finished& finished) {
  const auto begin = std::chrono::steady_clock::now();
  Reduced out{describe(finished), {}};
  Rerun rerun(options_.worker, finished.outcome);
  Reproducer whole{make(finished), finished.outcome, backend_text(options_.worker.target), {}};
  if (!find(rerun, out, whole, finished)) {
    out.failure.status = Status::kFlaky;
    out.failure.text += fmt::format("; and in a fresh process: {} {}",
                                    status_name(whole.outcome.status), whole.outcome.text);
    return out;
  }
  out.reproducer = std::move(whole);
  shrink_whole(rerun, out);
  const std::chrono::duration<double> used = std::chrono::steady_clock::now() - begin;
  out.failure.shrink_seconds = used.count();
  write(out);
  return out;
}

}  // namespace tenon::conformance
