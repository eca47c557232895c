// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/campaign/recurrence.hpp"

#include <algorithm>
#include <chrono>

#include "conformance/worker/run_reproducer.hpp"

namespace tenon::conformance::campaign {
namespace {

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

bool shows_apart(const Outcome& failure) {
  return failure.status == Status::kFail &&
         (failure.kind == worker::kHistoryKind || failure.kind == worker::kProcessKind);
}

Rerun::Rerun(worker::WorkerOptions worker, Outcome wanted)
    : patient_(std::move(worker)), wanted_(std::move(wanted)) {
  patient_.journal.clear();
  // Is it back? Then it knows the known answer.
  if (wanted_.status == Status::kDeviceLost) patient_.probe = true;
  quick_ = patient_;
  if (wanted_.status == Status::kTimeout) {
    quick_.run_seconds = std::min(quick_.run_seconds, kQuickRun);
    quick_.compile_seconds = std::min(quick_.compile_seconds, kQuickCompile);
  }
}

Outcome Rerun::note(Outcome outcome) {
  losses_ += outcome.status == Status::kDeviceLost;
  gone_ = gone_ || (outcome.status == Status::kCrash && outcome.kind == "start");
  return outcome;
}

Outcome Rerun::fresh(const Reproducer& reproducer, bool patient) {
  worker::WorkerOptions options = patient ? patient_ : quick_;
  if (!reproducer.after.empty()) options.compile_seconds = kHistorySeconds;
  worker::WorkerClient client(options);
  return note(worker::run_reproducer(client, reproducer));
}

Outcome Rerun::warm(const Reproducer& reproducer) {
  if (!warm_) warm_ = std::make_unique<worker::WorkerClient>(quick_);
  return note(worker::run_reproducer(*warm_, reproducer));
}

int Rerun::count(const Reproducer& reproducer, int runs, Outcome& seen, bool patient) {
  int failures = 0;
  for (int i = 0; i < runs && !gone_; ++i) {
    Outcome outcome = fresh(reproducer, patient && i + 1 == runs);
    const bool fails = fails_as_wanted(outcome);
    failures += fails;
    if (fails || failures == 0) seen = std::move(outcome);
  }
  return failures;
}

std::vector<Finished> Rerun::in_order(uint64_t seed, const std::vector<uint64_t>& indices,
                                      double seconds) {
  worker::WorkerClient client(quick_);
  std::vector<Finished> out;
  const auto start = Clock::now();
  for (size_t i = 0; i < indices.size();) {
    size_t end = i + 1;
    while (end < indices.size() && indices[end] == indices[end - 1] + 1) ++end;
    client.give_range(seed, indices[i], indices[end - 1] + 1);
    while (!client.idle()) {
      if (seconds_since(start) > seconds || client.hopeless()) return {};
      for (Finished& finished : client.poll(0.5)) out.push_back(std::move(finished));
    }
    i = end;
  }
  deterministic_ = client.facts().deterministic;
  for (const Finished& finished : out) losses_ += finished.outcome.status == Status::kDeviceLost;
  // A process that ended in between has left its history behind.
  if (out.empty() || out.back().process_begin != indices.front()) return {};
  return out;
}

bool Rerun::differs(const Outcome& a, const Outcome& b) const {
  return !worker::agree(a, b, deterministic_);
}

}  // namespace tenon::conformance::campaign
