// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/campaign/recurrence.hpp"

#include <algorithm>
#include <chrono>

#include "conformance/shrink/minimise.hpp"

namespace tenon::conformance {
namespace {

/// What was run long ago hardly matters, and takes long to run again.
constexpr uint64_t kWindows[] = {64, 512, 4096};
/// Within which a case that hangs has to say so while it shrinks; the last runs wait in full.
constexpr double kQuickRun = 0.7, kQuickCompile = 3;
constexpr double kHistorySeconds = 60;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

bool same_failure(const Outcome& a, const Outcome& b) {
  return a.status == b.status && a.kind == b.kind;
}

Rerun::Rerun(WorkerOptions worker, Outcome wanted)
    : patient_(std::move(worker)), wanted_(std::move(wanted)) {
  patient_.journal.clear();
  quick_ = patient_;
  if (wanted_.status == Status::kTimeout) {
    quick_.run_seconds = std::min(quick_.run_seconds, kQuickRun);
    quick_.compile_seconds = std::min(quick_.compile_seconds, kQuickCompile);
  }
}

Outcome Rerun::fresh(const Reproducer& reproducer, bool patient) {
  WorkerOptions options = patient ? patient_ : quick_;
  if (!reproducer.after.empty()) options.compile_seconds = kHistorySeconds;
  WorkerClient client(options);
  return client.run_text(write_reproducer(reproducer));
}

Outcome Rerun::warm(const Reproducer& reproducer) {
  if (!warm_) warm_ = std::make_unique<WorkerClient>(quick_);
  return warm_->run_text(write_reproducer(reproducer));
}

int Rerun::count(const Reproducer& reproducer, int runs, Outcome& seen, bool patient) {
  int failures = 0;
  for (int i = 0; i < runs; ++i) {
    Outcome outcome = fresh(reproducer, patient && i + 1 == runs);
    const bool fails = fails_as_wanted(outcome);
    failures += fails;
    if (fails || failures == 0) seen = std::move(outcome);
  }
  return failures;
}

std::optional<Outcome> Rerun::range(uint64_t seed, uint64_t begin, uint64_t index, double seconds) {
  WorkerClient client(quick_);
  client.give_range(seed, begin, index + 1);
  for (const auto start = Clock::now(); seconds_since(start) < seconds;)
    for (Finished& finished : client.poll(0.5))
      if (finished.index == index) return std::move(finished.outcome);
  return std::nullopt;
}

std::optional<CaseNames> find_history(Rerun& rerun, const Reproducer& reproducer,
                                      uint64_t process_begin, double seconds) {
  const uint64_t seed = reproducer.test.seed, index = reproducer.test.index;
  Reproducer candidate = reproducer;
  const auto fails_after = [&](const CaseNames& names) {
    candidate.after = names;
    return rerun.fails_as_wanted(rerun.fresh(candidate));
  };
  uint64_t first = index;
  for (const uint64_t window : kWindows) {
    if (first <= process_begin) break;  // that was all
    first = std::max(process_begin, index - std::min(index, window));
    const auto outcome = rerun.range(seed, first, index, kHistorySeconds);
    if (!outcome || !rerun.fails_as_wanted(*outcome)) continue;
    CaseNames names;
    for (uint64_t i = first; i < index; ++i) names.emplace_back(seed, i);
    if (!fails_after(names)) continue;
    const auto begin = Clock::now();
    return minimise(names, [&](const CaseNames& fewer) {
      return seconds_since(begin) < seconds && fails_after(fewer);
    });
  }
  return std::nullopt;
}

}  // namespace tenon::conformance
