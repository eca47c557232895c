// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parent's side of one worker: hands it work, keeps the journal and the watchdog, and starts it
// anew when a case took it down. One bad case costs one case.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conformance/cases/outcome.hpp"
#include "conformance/cases/target.hpp"
#include "conformance/worker/worker_process.hpp"

namespace tenon::conformance {

struct WorkerOptions {
  std::string program;  ///< tenon-conformance itself
  Target target;
  double run_seconds = 5, compile_seconds = 20, start_seconds = 30;
  std::string log;      ///< where the plugin's own output goes
  std::string journal;  ///< a line before and after each case; "" for none
};

class WorkerClient {
 public:
  explicit WorkerClient(WorkerOptions options);
  ~WorkerClient();

  /// Starts the process and waits until it is ready. Throws kEnvironment with the reason.
  const DeviceFacts& start();
  void stop();

  void give_range(uint64_t seed, uint64_t begin, uint64_t end);
  bool idle() const { return next_ >= end_; }
  int fd() const { return process_->result_fd(); }
  double seconds_left() const;  ///< until the watchdog bites
  /// Reads what is there, waits for it at most so long, and lets the watchdog bite.
  std::vector<Finished> poll(double seconds);

  /// Runs one reproducer and waits for the outcome.
  Outcome run_text(const std::string& text);

 private:
  using Clock = std::chrono::steady_clock;
  void ensure_started();
  void resume();
  void expect_within(double seconds);
  void take(const std::string& line, std::vector<Finished>& out);
  void died(std::vector<Finished>& out);
  void finish(Outcome outcome, std::vector<Finished>& out);
  void journal(const std::string& line);

  WorkerOptions options_;
  std::unique_ptr<WorkerProcess> process_;
  DeviceFacts facts_;
  uint64_t seed_ = 0, next_ = 0, end_ = 0;  ///< [next_, end_) is still to do
  std::string text_;                        ///< sent instead of a range
  struct Running {
    uint64_t index = 0, attempt = 0;
    Cell cell;
    bool launched = false;
  };
  std::optional<Running> running_;
  bool expired_ = false;
  Clock::time_point deadline_;
  FILE* journal_ = nullptr;
};

}  // namespace tenon::conformance
