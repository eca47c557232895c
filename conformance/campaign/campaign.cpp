// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/campaign/campaign.hpp"

#include <chrono>
#include <set>
#include <tuple>

#include "conformance/campaign/folder_lock.hpp"
#include "conformance/campaign/gather.hpp"
#include "conformance/campaign/loop.hpp"
#include "conformance/campaign/regressions.hpp"
#include "conformance/campaign/votes.hpp"

namespace tenon::conformance::campaign {
namespace {

void collect_votes(const CampaignOptions& options, const Loop& loop, report::Report& report) {
  Voters voters(options.worker);
  for (report::Failure& failure : report.failures)
    if (failure.status == Status::kFail && !failure.reproducer.empty() && !loop.stopped())
      failure.votes = voters.ask(failure.reproducer);
}

/// What the book did not list is like the first entry of its cell and kind.
void count_alike(const FailureBook& book, report::Report& report) {
  std::set<std::tuple<std::string, std::string, std::string>> counted;
  for (report::Failure& failure : report.failures)
    if (counted.emplace(failure.op, failure.dtype, failure.kind).second)
      failure.same += book.dropped(failure.op, failure.dtype, failure.kind);
}

}  // namespace

Campaign run_campaign(CampaignOptions options) {
  std::optional<FolderLock> lock;
  if (options.folder) lock.emplace(*options.folder);
  Builder builder;
  std::vector<Regression> regressions = load_regressions(options.replayed, builder);
  Loop loop(options);
  loop.run();
  Campaign out{std::move(loop.report()), loop.lost(), loop.in_doubt(), loop.memory_only()};
  using Clock = std::chrono::steady_clock;
  options.stopped = [&loop, begin = Clock::now(), most = options.shrink_all_seconds] {
    const std::chrono::duration<double> used = Clock::now() - begin;
    return loop.stopped() || (most && used.count() > *most);
  };
  const std::vector<Finished> failures = loop.failures().listed();
  options.lost = out.lost;
  options.async = loop.async();
  if (out.in_doubt || loop.stopped()) options.most_shrunk = 0;
  if (out.lost || out.in_doubt || loop.stopped()) regressions.clear();
  if (out.memory_only)  // it takes calls, and no graphs
    std::erase_if(regressions, [](const Regression& one) { return !one.reproducer.test.sequence; });
  if (out.report.planned) out.report.planned += regressions.size();
  out.report.failures = replay_regressions(regressions, options, out.report);
  gather_failures(options, failures, out.report);
  count_alike(loop.failures(), out.report);
  if (options.vote && !out.memory_only) collect_votes(options, loop, out.report);
  for (const std::string& line : options.expectations.stale()) {
    ++out.report.counts[static_cast<size_t>(Status::kXpass)];
    report::Failure failure;
    failure.status = Status::kXpass;
    failure.name = case_name(options.seed, options.begin);
    failure.text = line;
    out.report.failures.push_back(std::move(failure));
  }
  out.signal = loop.signal();
  return out;
}

}  // namespace tenon::conformance::campaign
