// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parent's side of one worker: hands it work, keeps the journal and the watchdog, and starts it
// anew when a case took it down. One bad case costs one case.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/cases/outcome.hpp"
#include "conformance/cases/target.hpp"
#include "conformance/judge/progress.hpp"
#include "conformance/worker/journal.hpp"
#include "conformance/worker/watchdog.hpp"
#include "conformance/worker/wire.hpp"
#include "conformance/worker/worker_process.hpp"

namespace tenon::conformance::worker {

struct WorkerOptions {
  std::string program;  ///< tenon-conformance itself
  Target target;
  double run_seconds = 5, compile_seconds = 20, start_seconds = 30;
  uint64_t memory_mib = 4096;  ///< a process that grows over it is killed; 0: no limit
  bool probe = false;          ///< each process first answers a case with a known answer
  std::string log;             ///< where the plugin's own output goes
  std::string journal;         ///< a line before and after each case; "" for none
};

/// Indices [begin, end).
struct Range {
  uint64_t begin = 0, end = 0;
  bool empty() const { return begin >= end; }
};

class WorkerClient {
 public:
  explicit WorkerClient(WorkerOptions options);

  /// Starts the process and waits until it is ready. Throws kEnvironment with the reason.
  const DeviceFacts& start();
  void stop();
  /// Of the device that it started last.
  const DeviceFacts& facts() const { return facts_; }

  /// Call when idle. Does not wait.
  void give_range(uint64_t seed, uint64_t begin, uint64_t end);
  /// The next range is run by a fresh process. Call when idle.
  void renew() { process_.reset(); }
  /// Ends after the case in flight; what it gives up is returned.
  Range finish_soon();
  Range left() const { return {next_, end_}; }
  bool idle() const { return next_ >= end_; }
  int fd() const { return process_ ? process_->result_fd() : -1; }
  double seconds_left() const { return watchdog_.seconds_left(); }  ///< until it bites
  uint64_t memory_mib() const { return process_ ? process_->memory_mib() : 0; }
  /// Reads what is there, waits for it at most so long, and lets the watchdog bite.
  std::vector<Finished> poll(double seconds);

  /// Runs one reproducer and waits for the outcome; CRASH of kind "start" if there is no worker.
  Outcome run_text(const std::string& text);

  /// Since the last call: sentences on starts that failed, wrong answers to the probe, and
  /// processes that ended with nothing to do. Each puts the device in doubt.
  std::vector<std::string> take_doubts() { return std::exchange(doubts_, {}); }
  /// Three starts or probes in a row have failed: it does not go on.
  bool hopeless() const { return failed_starts_ >= kMostStarts; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int kMostStarts = 3;
  enum class Phase : uint8_t { kStarting, kProbing, kServing };
  enum class Kill : uint8_t { kNone, kLate, kMemory, kGarbage };

  void settle();
  void spawn();
  void send_work();
  void step(double seconds, std::vector<Finished>& out);
  void take(const std::string& line, std::vector<Finished>& out);
  void take_start(const Message& message);
  void take_case(Message& message, std::vector<Finished>& out);
  bool too_big();
  void bite(Kill reason, std::vector<Finished>& out);
  void died(std::vector<Finished>& out);
  void start_failed(const std::string& reason);
  void charge(const WorkerProcess::End& how, std::vector<Finished>& out);
  void enter(judge::RunPhase phase);
  double limit_of_phase() const;
  void finish(Finished finished, std::vector<Finished>& out);

  WorkerOptions options_;
  Journal journal_;
  std::unique_ptr<WorkerProcess> process_;
  DeviceFacts facts_;
  std::string token_;
  Phase phase_ = Phase::kStarting;
  Kill kill_ = Kill::kNone;
  std::string reason_;   ///< of a refusal, or what was written that is not ours
  bool bye_ = false;     ///< the process ends by its own will
  bool cut_ = false;     ///< it runs cases that nobody waits for any more
  bool is_new_ = false;  ///< the process has begun no case
  bool was_ready_ = false, answered_ = false, probes_ = false;
  int failed_starts_ = 0;  ///< in a row
  std::vector<std::string> doubts_;

  uint64_t seed_ = 0, next_ = 0, end_ = 0;  ///< [next_, end_) is still to do
  std::string text_;                        ///< sent instead of a range
  uint64_t process_begin_ = 0;
  std::optional<Finished> running_;
  judge::RunPhase run_phase_ = judge::RunPhase::kCompile;  ///< of the case in flight
  Clock::time_point memory_seen_;
  Watchdog watchdog_;
};

}  // namespace tenon::conformance::worker
