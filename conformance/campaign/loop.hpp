// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loop over workers: shares out the cases, gathers outcomes, says how far it is, and keeps what
// it takes to go on later.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "conformance/campaign/campaign.hpp"
#include "conformance/campaign/checkpoint.hpp"
#include "conformance/campaign/failure_book.hpp"
#include "conformance/campaign/progress.hpp"
#include "conformance/campaign/recheck.hpp"
#include "conformance/campaign/stop_signal.hpp"

namespace tenon::conformance::campaign {

class Loop {
 public:
  /// `options.expectations` takes part.
  explicit Loop(CampaignOptions& options);

  /// Throws kEnvironment if the plugin cannot be loaded, kInvalid if a run to go on with is not
  /// that run.
  void run();

  report::Report& report() { return report_; }
  const FailureBook& failures() const { return book_; }
  bool memory_only() const { return facts_.memory_only; }
  bool async() const { return facts_.async; }
  bool lost() const;
  bool in_doubt() const { return hopeless_; }
  /// A signal has come: what is left is to be done quickly.
  bool stopped() const { return signal() != 0; }
  int signal() const { return signal_.number(); }  ///< 0 if none has come

 private:
  void start();
  void leave_out_compute();
  void resume();
  double elapsed() const;
  std::string why_no_more() const;
  worker::Range next_range();
  bool share_out(bool more);
  void give(worker::WorkerClient& client, const worker::Range& range);
  void call_back();
  void wait();
  void gather();
  void take(Finished finished);
  void take_again(Finished failure);
  void doubt(const std::string& text);
  void save(bool always);
  double seconds_left() const;
  void announce();
  void estimate();
  void tell(const Finished& failure);
  void show_progress();

  CampaignOptions& options_;
  StopSignal signal_;
  ProgressLine progress_;
  DeviceFacts facts_;
  std::vector<std::unique_ptr<worker::WorkerClient>> clients_;
  std::unique_ptr<Recheck> recheck_;
  uint64_t next_;
  /// Given back by workers, or by the run that this one goes on with.
  std::deque<worker::Range> todo_;
  report::Report report_;
  FailureBook book_;
  std::vector<std::pair<std::string, std::string>> identity_;
  int lost_ = 0;
  bool hopeless_ = false, is_estimated_ = false;
  std::set<std::string> told_;  ///< causes
  double seconds_before_ = 0;
  std::chrono::steady_clock::time_point begin_, saved_;
};

}  // namespace tenon::conformance::campaign
