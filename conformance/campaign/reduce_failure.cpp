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
    const auto after =
        find_history(rerun, whole, finished.process_begin, options_.shrink_seconds / 2);
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

/// Probes in a warm process are quicker, but what it ran before may be why a candidate fails in it.
/// So now and then one is looked at in a fresh process; if it passes there, the last one that did
/// not is taken up again, in fresh processes only.
class FailureReducer::Probes {
 public:
  Probes(Rerun& rerun, const Reduced& reduced, bool is_warm)
      : rerun_(rerun), after_(reduced.reproducer.after), rarely_(reduced.rarely), warm_(is_warm) {}

  std::optional<Outcome> operator()(const Case& candidate) {
    if (misled_) return std::nullopt;
    const Reproducer tried{candidate, rerun_.wanted(), "", after_};
    std::optional<Outcome> outcome = run(tried, warm_);
    if (!outcome || !warm_ || ++accepted_ % kLookedAt != 0) return outcome;
    misled_ = !run(tried, false);
    if (misled_) return std::nullopt;
    sure_ = candidate;
    return outcome;
  }

  bool misled() const { return misled_; }
  const std::optional<Case>& sure() const { return sure_; }

 private:
  static constexpr int kLookedAt = 8;

  std::optional<Outcome> run(const Reproducer& tried, bool is_warm) {
    for (int i = 0; i < (rarely_ ? kPatience : 1); ++i) {
      Outcome outcome = is_warm ? rerun_.warm(tried) : rerun_.fresh(tried);
      if (rerun_.fails_as_wanted(outcome)) return outcome;
    }
    return std::nullopt;
  }

  Rerun& rerun_;
  CaseNames after_;
  bool rarely_, warm_;
  int accepted_ = 0;
  bool misled_ = false;
  std::optional<Case> sure_;
};

/// Takes over the smallest that it finds, if that fails in fresh processes. Otherwise what was last
/// seen to fail in one.
bool FailureReducer::shrink_once(Rerun& rerun, Reduced& reduced, bool is_warm, double seconds) {
  const Reproducer& original = reduced.reproducer;
  Probes probes(rerun, reduced, is_warm);
  const Shrunk found = shrink(original.test, original.outcome,
                              [&](const Case& candidate) { return probes(candidate); }, builder_,
                              {.seconds = seconds});
  const auto take = [&](const Case& test, const CaseNames& after) {
    Reproducer small{test, original.outcome, original.backend, after};
    if (!confirmed(rerun, small, reduced.rarely)) return false;
    if (!found.transform.empty()) reduced.failure.transform = found.transform;
    reduced.reproducer = std::move(small);
    return true;
  };
  if (!probes.misled()) {
    // Cases that had to run first are perhaps not needed any more.
    if (!original.after.empty() && take(found.test, {})) return true;
    if (take(found.test, CaseNames(original.after))) return true;
  }
  if (probes.sure()) take(*probes.sure(), {});
  return false;
}

void FailureReducer::shrink_whole(Rerun& rerun, Reduced& reduced) {
  const Case& test = reduced.reproducer.test;
  if (test.refusal || (test.sequence && !test.sequence->check.empty())) return;
  const auto begin = std::chrono::steady_clock::now();
  const double seconds = options_.shrink_seconds;
  if (reduced.reproducer.after.empty() && shrink_once(rerun, reduced, true, seconds)) return;
  const std::chrono::duration<double> used = std::chrono::steady_clock::now() - begin;
  if (used.count() < seconds) shrink_once(rerun, reduced, false, seconds - used.count());
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
