// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/campaign/votes.hpp"

#include <algorithm>

#include "core/plugin/discovery.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::campaign {
namespace {

constexpr size_t kMostVoters = 3;
constexpr double kVoteSeconds = 20;  ///< of a whole run
constexpr double kStartSeconds = 10;

}  // namespace

Voters::Voters(const worker::WorkerOptions& worker) {
  const std::string own = worker.target.backend_name();
  for (const PluginCandidate& candidate : installed_plugins().candidates) {
    if (!candidate.serves() || candidate.backend == own) continue;
    worker::WorkerOptions other = worker;
    other.target = {candidate.backend, candidate.path};
    other.journal.clear();
    other.log.clear();
    other.probe = false;
    other.start_seconds = std::min(worker.start_seconds, kStartSeconds);
    // The CPU plugin runs everywhere; it comes first.
    if (candidate.backend == "cpu")
      candidates_.push_front(std::move(other));
    else
      candidates_.push_back(std::move(other));
  }
}

/// Plugins without a device on this machine, or without compute, have no vote.
void Voters::call_in() {
  while (voters_.size() < kMostVoters && !candidates_.empty()) {
    const worker::WorkerOptions options = std::move(candidates_.front());
    candidates_.pop_front();
    auto client = std::make_unique<worker::WorkerClient>(options);
    try {
      if (!client->start().memory_only)
        voters_.push_back({options.target.backend, std::move(client)});
    } catch (const Error&) {
      continue;
    }
  }
}

std::string Voters::ask(const std::string& reproducer) {
  using Clock = std::chrono::steady_clock;
  if (spent_ > kVoteSeconds) return {};
  const auto begin = Clock::now();
  call_in();
  std::string lines;
  int agree = 0, fail = 0;
  for (const Voter& voter : voters_) {
    const Outcome outcome = voter.client->run_text(reproducer);
    agree += outcome.status == Status::kPass;
    fail += is_failure(outcome.status);
    lines += fmt::format("{}{}: {}{}", lines.empty() ? "" : "\n", voter.backend,
                         status_name(outcome.status),
                         is_failure(outcome.status) ? " too: " + outcome.text : "");
  }
  spent_ += std::chrono::duration<double>(Clock::now() - begin).count();
  if (fail > 0)
    lines += "\nlook at the reference first";
  else if (agree > 0)
    lines += "\nthe others agree with the reference";
  return lines;
}

}  // namespace tenon::conformance::campaign
