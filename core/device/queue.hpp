// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one in-order queue of a device. Submissions are numbered from 1 and run in that order.
//
// After a failure later submissions fail too, until the failure is reported: a wait for a failed
// submission throws, synchronize throws and clears it, and the queue continues. A lost device fails
// permanently.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/support/error.hpp"
#include "tenon/ext/timing.h"
#include "tenon/plugin.h"

namespace tenon {

/// Work of the host in the submission order of a device.
using HostJob = std::function<void()>;

class Queue {
 public:
  virtual ~Queue() = default;

  /// Queues commands and returns their number. Commands and arguments are read before it returns.
  virtual uint64_t submit(const std::vector<tn_command>& commands) = 0;
  /// Queues a job that a thread of the queue runs after all earlier submissions. The submission
  /// fails with what the job throws. The job is destroyed before it counts as ended.
  virtual uint64_t run(HostJob job) = 0;
  /// Waits while too much is queued. Call it before taking locks that a host job may take.
  virtual void make_room() {}
  /// Runs commands at once, concurrent with queued work and without a number, and waits for them.
  /// Throws their failure. For copies of memory that no queued work touches.
  virtual void run_now(const std::vector<tn_command>& commands) = 0;
  /// The same, and returns seconds by the device clock. Empty if the device has no clock; then
  /// nothing has run.
  virtual std::optional<double> run_timed(const std::vector<tn_command>& commands,
                                          const tn_timing& timing) = 0;
  /// Throws the failure of a lost device.
  virtual void check_alive() = 0;
  /// Waits for `number`. False if it failed; then `failure` and `kind` are set. `is_reported`: the
  /// caller reports the failure to the user, so later submissions run again.
  virtual bool wait(uint64_t number, std::string& failure, ErrorKind& kind, bool is_reported) = 0;
  /// Whether `number` is known to have failed. Does not wait.
  virtual bool has_failed(uint64_t number) = 0;
  /// Waits for all submissions. Throws the first failure since the last call.
  virtual void synchronize() = 0;
  /// All submissions up to this number have ended, failed or not. Cheap.
  virtual uint64_t ended() = 0;
  /// The last number given out.
  virtual uint64_t submitted() = 0;
};

/// Ranges of failed submissions, and the failure not yet reported. Its queue locks; only empty() is
/// thread-safe.
class FailureLog {
 public:
  explicit FailureLog(std::string owner) : owner_(std::move(owner)) {}
  void add(uint64_t first, uint64_t last, int32_t status, const tn_error& error);
  /// Adds the exception of a host job. The loss of another device does not lose this one.
  void add(uint64_t first, uint64_t last, const std::exception_ptr& error);
  /// Extends the newest range to `number`, which was skipped.
  void extend(uint64_t number) { ranges_.back().last = number; }
  bool pending() const { return pending_; }  ///< a failure that synchronize has not thrown
  bool lost() const { return lost_; }
  bool covers(uint64_t number) const { return at(number) != nullptr; }
  bool empty() const { return is_empty_.load(std::memory_order_acquire); }  ///< for every thread
  /// Whether `number` succeeded; else sets text and kind. `is_reported`: the failure is reported,
  /// and everything submitted so far fails with it.
  bool has_succeeded(uint64_t number, uint64_t submitted, bool is_reported, std::string& text,
                     ErrorKind& kind);
  /// Throws the pending failure, and clears it unless the device is lost.
  void throw_pending();
  /// Throws the failure of a lost device.
  void throw_lost() const;

 private:
  struct Range {
    uint64_t first, last;
    ErrorKind kind;
    std::string text;
    bool lost = false;
  };
  void add(Range range);
  const Range* at(uint64_t number) const;
  std::string owner_;
  std::vector<Range> ranges_;
  size_t reported_ = 0;  ///< index of the pending range
  bool pending_ = false, lost_ = false;
  std::atomic<bool> is_empty_{true};
};

/// Commands that own all data they point to.
struct CommandList {
  std::vector<tn_command> commands;
  std::vector<tn_argument> arguments;
  void copy_from(const std::vector<tn_command>& source);
};
/// One submission to the plugin, without waits and signals.
tn_submission submission_of(const std::vector<tn_command>& commands);

/// For plugins without TN_DEVICE_ASYNC: one thread that calls submit.
std::unique_ptr<Queue> make_worker_queue(const tn_plugin& plugin, tn_device* device,
                                         const std::string& owner);
/// For plugins with TN_DEVICE_ASYNC: a timeline.
std::unique_ptr<Queue> make_timeline_queue(const tn_plugin& plugin, tn_device* device,
                                           const std::string& owner);

}  // namespace tenon
