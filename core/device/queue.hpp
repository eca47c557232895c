// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one in-order queue of a device. Submissions are numbered from 1 and run in that order.
//
// After a failure the later submissions fail too, until someone has been told: a wait for one
// of the failed ones throws, synchronize throws and forgets, and the queue goes on. A lost device
// fails for good.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/support/error.hpp"
#include "tenon/ext/timing.h"
#include "tenon/plugin.h"

namespace tenon {

/// Part of a device's order, done by the host.
using HostJob = std::function<void()>;

class Queue {
 public:
  virtual ~Queue() = default;

  /// The commands and their arguments are read before it returns. Gives the number.
  virtual uint64_t submit(const std::vector<tn_command>& commands) = 0;
  /// A submission that a thread of the queue runs when all before it have ended; it fails with what
  /// the job throws. The job is gone before it counts as ended.
  virtual uint64_t run(HostJob job) = 0;
  /// Waits while too much is queued. To be called before locks that a host job may take.
  virtual void make_room() {}
  /// Runs commands at once, without a number, beside what is queued, and waits for their end.
  /// Throws their failure. For copies of memory that no queued work touches.
  virtual void run_now(const std::vector<tn_command>& commands) = 0;
  /// The same, and what that took by the device's clock, in seconds; nothing where the device has
  /// none: then nothing has run.
  virtual std::optional<double> run_timed(const std::vector<tn_command>& commands,
                                          const tn_timing& timing) = 0;
  /// Throws the failure of a lost device.
  virtual void check_alive() = 0;
  /// Until `number` has ended; true unless it failed, then `failure` says how. `told`: the caller
  /// passes that on to the user, so what is submitted from now on runs again.
  virtual bool wait(uint64_t number, std::string& failure, ErrorKind& kind, bool told) = 0;
  /// Whether `number` has failed, as far as is known by now. Waits for nothing.
  virtual bool has_failed(uint64_t number) = 0;
  /// Until all has ended; throws the first failure since the last call.
  virtual void synchronize() = 0;
  /// Numbers up to it have ended, well or not. Cheap.
  virtual uint64_t ended() = 0;
  /// The last number given out.
  virtual uint64_t submitted() = 0;
};

/// Failed ranges of submissions and what was not yet reported. Not thread-safe but where it says
/// so: its queue locks.
class FailureLog {
 public:
  explicit FailureLog(std::string owner) : owner_(std::move(owner)) {}
  void add(uint64_t first, uint64_t last, int32_t status, const tn_error& error);
  /// What a host job threw. A device lost elsewhere does not lose this one.
  void add(uint64_t first, uint64_t last, const std::exception_ptr& error);
  /// Stretches the newest range to `number`: it was skipped.
  void extend(uint64_t number) { ranges_.back().last = number; }
  bool pending() const { return pending_; }  ///< a failure that synchronize has not thrown
  bool lost() const { return lost_; }
  bool covers(uint64_t number) const { return at(number) != nullptr; }
  bool empty() const { return is_empty_.load(std::memory_order_acquire); }  ///< for every thread
  /// Whether `number` ended well; else text and kind are set. `told`: the failure is passed on, and
  /// all that is submitted so far fails with it.
  bool ended_well(uint64_t number, uint64_t submitted, bool told, std::string& text,
                  ErrorKind& kind);
  /// Throws the pending failure, and forgets it unless the device is lost.
  void throw_pending();
  /// Throws the failure that the device was lost with, if it is.
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
  size_t reported_ = 0;  ///< index of the range that is pending
  bool pending_ = false, lost_ = false;
  std::atomic<bool> is_empty_{true};
};

/// Commands with everything they point to.
struct CommandList {
  std::vector<tn_command> commands;
  std::vector<tn_argument> arguments;
  void copy_from(const std::vector<tn_command>& source);
};
/// As one submission to the plugin, without waits and signals.
tn_submission submission_of(const std::vector<tn_command>& commands);

/// For plugins without TN_DEVICE_ASYNC: one thread that calls submit.
std::unique_ptr<Queue> make_worker_queue(const tn_plugin& plugin, tn_device* device,
                                         const std::string& owner);
/// For plugins with it: a timeline.
std::unique_ptr<Queue> make_timeline_queue(const tn_plugin& plugin, tn_device* device,
                                           const std::string& owner);

}  // namespace tenon
