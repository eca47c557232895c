// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loop over workers.
#include "conformance/campaign/campaign.hpp"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "conformance/campaign/reduce_failure.hpp"
#include "conformance/cases/generator.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance {
namespace {

constexpr uint64_t kChunk = 4 * kBlock;
constexpr int kMostLost = 3;
constexpr size_t kMostFailures = 1000;  ///< listed one by one; all are counted

using Clock = std::chrono::steady_clock;

class Loop {
 public:
  explicit Loop(CampaignOptions& options) : options_(options), next_(options.begin) {
    report_.seed = options.seed;
    report_.jobs = options.jobs;
    report_.backend = options.worker.target.backend;
  }

  void run() {
    start();
    begin_ = Clock::now();
    while (share_out()) {
      wait();
      for (auto& client : clients_)
        for (Finished& finished : client->poll(0)) take(std::move(finished));
      if (options_.progress) show_progress();
      if (lost_ >= kMostLost) break;
    }
    report_.seconds = elapsed();
    if (options_.progress) fprintf(stderr, "\r\033[K");
    clients_.clear();
  }

  Report& report() { return report_; }
  std::vector<Finished>& failures() { return failures_; }
  bool lost() const { return lost_ >= kMostLost; }

 private:
  void start() {
    for (int i = 0; i < options_.jobs; ++i) {
      WorkerOptions worker = options_.worker;
      if (options_.folder) {
        worker.journal = (*options_.folder / fmt::format("journal-{}.txt", i)).string();
        worker.log = (*options_.folder / fmt::format("worker-{}.log", i)).string();
      }
      clients_.push_back(std::make_unique<WorkerClient>(std::move(worker)));
      const DeviceFacts& facts = clients_.back()->start();
      report_.device = fmt::format("{} ({})", facts.id, facts.name);
      report_.declaration = facts.declaration;
      report_.plugin = facts.plugin;
      report_.properties = facts.properties;
    }
  }

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  /// False when nothing is left to do.
  bool share_out() {
    bool busy = false;
    for (auto& client : clients_) {
      const bool enough =
          options_.stop_after > 0 && failures_.size() >= static_cast<size_t>(options_.stop_after);
      const bool more =
          !enough && next_ < options_.end && (!options_.seconds || elapsed() < *options_.seconds);
      if (client->idle() && more) {
        const uint64_t end = std::min(next_ + kChunk, options_.end);
        client->give_range(options_.seed, next_, end);
        next_ = end;
      }
      busy = busy || !client->idle();
    }
    return busy;
  }

  void wait() {
    std::vector<pollfd> fds;
    double seconds = 0.2;
    for (auto& client : clients_)
      if (!client->idle()) {
        fds.push_back({client->fd(), POLLIN, 0});
        seconds = std::min(seconds, client->seconds_left());
      }
    ::poll(fds.data(), fds.size(), static_cast<int>(std::max(seconds, 0.0) * 1000) + 1);
  }

  void take(Finished finished) {
    lost_ += finished.outcome.status == Status::kDeviceLost;
    options_.expectations.apply(finished);
    report_.add(finished);
    if (is_failure(finished.outcome.status) && report_.first_failure_seconds < 0)
      report_.first_failure_seconds = elapsed();
    if (is_failure(finished.outcome.status) && failures_.size() < kMostFailures)
      failures_.push_back(std::move(finished));
  }

  void show_progress() {
    if (elapsed() - shown_ < 0.2) return;
    shown_ = elapsed();
    uint64_t failed = 0;
    for (int i = 0; i < kStatusCount; ++i)
      if (is_failure(static_cast<Status>(i))) failed += report_.counts[static_cast<size_t>(i)];
    fprintf(stderr, "\r\033[K%s",
            fmt::format("{} cases, {:.0f} a second, {} failed, {} vacuous", report_.cases(),
                        static_cast<double>(report_.cases()) / std::max(shown_, 0.01), failed,
                        report_.counts[static_cast<size_t>(Status::kVacuous)])
                .c_str());
  }

  CampaignOptions& options_;
  std::vector<std::unique_ptr<WorkerClient>> clients_;
  uint64_t next_;
  Report report_;
  std::vector<Finished> failures_;
  int lost_ = 0;
  double shown_ = 0;
  Clock::time_point begin_;
};

/// One failure a cell and kind is shrunk; of graphs each is its own.
std::string signature(const Finished& f) {
  if (f.cell.op == "graph") return std::to_string(f.index);
  return f.cell.op + " " + f.cell.dtype + " " + f.outcome.kind;
}

}  // namespace

Campaign run_campaign(CampaignOptions options) {
  if (options.folder) std::filesystem::create_directories(*options.folder);
  Loop loop(options);
  loop.run();
  Campaign out{std::move(loop.report()), loop.lost()};
  auto& failures = loop.failures();
  std::ranges::sort(failures, {}, &Finished::index);
  FailureReducer reducer(options);
  std::set<std::string> seen;
  for (const Finished& finished : failures) {
    const bool shrinks = finished.outcome.status != Status::kXpass && !out.lost &&
                         static_cast<int>(seen.size()) < options.most_shrunk &&
                         seen.insert(signature(finished)).second;
    Failure failure = shrinks ? reducer.reduce(finished) : reducer.describe(finished);
    if (failure.status != finished.outcome.status) {  // it did not come again: FLAKY
      const auto from = static_cast<size_t>(finished.outcome.status);
      const auto to = static_cast<size_t>(failure.status);
      --out.report.counts[from], ++out.report.counts[to];
      CellRow& row = out.report.cells[{finished.cell.op, finished.cell.dtype}];
      --row.counts[from], ++row.counts[to];
    }
    out.report.failures.push_back(std::move(failure));
  }
  for (const std::string& line : options.expectations.stale()) {
    ++out.report.counts[static_cast<size_t>(Status::kXpass)];
    Failure failure;
    failure.status = Status::kXpass;
    failure.name = case_name(options.seed, options.begin);
    failure.text = line;
    out.report.failures.push_back(std::move(failure));
  }
  return out;
}

}  // namespace tenon::conformance
