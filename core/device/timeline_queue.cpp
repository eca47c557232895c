// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Submission n waits for n - 1 on the device's timeline and raises it to n.
//
// Submissions after a host job are deferred until the job is done, so all work given to the plugin
// can end by itself. A thread, started with the first host job, runs jobs and deferred submissions.
// The timeline skips the numbers of host jobs.
#include <atomic>
#include <condition_variable>
#include <deque>
#include <thread>

#include "core/device/plugin_queue.hpp"
#include "core/device/process_end.hpp"
#include "core/plugin/abi_struct.hpp"
#include "core/plugin/status.hpp"

namespace tenon {
namespace {

constexpr size_t kMaxDeferred = 256;

class TimelineQueue final : public PluginQueue {
 public:
  TimelineQueue(const tn_plugin& plugin, tn_device* device, const std::string& owner)
      : PluginQueue(plugin, device, owner) {
    timeline_ = make_timeline(0);
  }

  ~TimelineQueue() override {
    if (host_thread_.joinable()) {
      {
        const std::lock_guard lock(mutex_);
        stop_ = true;
      }
      host_wake_.notify_all();
      host_thread_.join();
    }
    await(submitted_);
  }

  uint64_t submit(const std::vector<tn_command>& commands) override {
    const std::lock_guard lock(mutex_);
    if (failures_.pending()) return fail_with_pending();
    const uint64_t number = ++submitted_;
    if (is_deferring()) {
      deferred_.emplace_back().number = number;
      deferred_.back().list.copy_from(commands);
    } else {
      issue(number, commands);
    }
    return number;
  }

  uint64_t run(HostJob job) override {
    const std::lock_guard lock(mutex_);
    if (failures_.pending()) return fail_with_pending();
    if (!host_thread_.joinable())
      host_thread_ = std::thread([this] { work(); });  // before any change: it may throw
    deferred_.emplace_back().number = ++submitted_;
    deferred_.back().host = std::move(job);
    host_wake_.notify_one();
    return submitted_;
  }

  void make_room() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return deferred_.size() < kMaxDeferred; });
  }

  uint64_t ended() override {
    const std::lock_guard lock(mutex_);
    if (ended_ == submitted_) return ended_;
    tn_error error = abi_struct<tn_error>();
    uint64_t value = 0;
    const int32_t status = plugin_.timeline_query(timeline_->handle, &value, &error);
    record_outcome(timeline_, status == TN_OK ? value : submitted_, status, error);
    return ended_;
  }

 private:
  struct Timeline {
    const tn_plugin& plugin;
    tn_timeline* handle = nullptr;
    uint64_t begin = 0;
    ~Timeline() {
      if (handle) plugin.timeline_destroy(handle);
    }
  };

  struct Deferred {
    uint64_t number = 0;
    CommandList list;
    HostJob host;  ///< instead of commands
  };

  std::shared_ptr<Timeline> make_timeline(uint64_t begin) {
    auto timeline = std::make_shared<Timeline>(Timeline{plugin_, nullptr, begin});
    tn_error error = abi_struct<tn_error>();
    check_status(plugin_.timeline_create(device_, begin, &timeline->handle, &error), error,
                 "timeline", owner_);
    return timeline;
  }

  int32_t complete(const std::vector<tn_command>& commands, tn_error& error) override {
    tn_submission submission = submission_of(commands);
    int32_t status = TN_OK;
    std::shared_ptr<Timeline> timeline;
    {
      const std::lock_guard lock(mutex_);
      timeline = make_timeline(0);
      const tn_point signal{timeline->handle, 1};
      submission.signals = &signal;
      submission.signal_count = 1;
      status = plugin_.submit(device_, &submission, &error);
    }
    if (status != TN_OK) return status;
    return plugin_.timeline_wait(timeline->handle, 1, UINT64_MAX, &error);
  }

  bool is_deferring() const { return host_busy_ || !deferred_.empty(); }

  /// Fails a new submission with the failure not yet reported.
  uint64_t fail_with_pending() {
    failures_.extend(++submitted_);
    ended_ = issued_ = submitted_;
    return submitted_;
  }

  /// Submits commands to the plugin. Needs mutex_.
  void issue(uint64_t number, const std::vector<tn_command>& commands) {
    tn_error error = abi_struct<tn_error>();
    const tn_point after{timeline_->handle, number - 1};
    const tn_point signal{timeline_->handle, number};
    tn_submission submission = submission_of(commands);
    submission.wait_count = number - 1 > std::max<uint64_t>(timeline_->begin, ended_) ? 1 : 0;
    submission.waits = &after;
    submission.signals = &signal;
    submission.signal_count = 1;
    const int32_t status = plugin_.submit(device_, &submission, &error);
    if (status == TN_OK) {
      issued_ = number;
    } else {
      // Nothing was queued, but earlier work may still run on this timeline.
      drain(number - 1);
      if (!failures_.pending()) failures_.add(number, number, status, error);
      failures_.extend(submitted_);
      restart();
    }
    changed_.notify_all();
  }

  void work() {
    always_in_use();
    const WithinForkHold within;  // fork waits for the queue
    std::unique_lock lock(mutex_);
    for (;;) {
      host_wake_.wait(lock, [&] { return stop_ || !deferred_.empty(); });
      if (deferred_.empty()) return;
      Deferred next = std::move(deferred_.front());
      deferred_.pop_front();
      host_busy_ = true;
      if (next.host) {
        lock.unlock();
        run_host(next);
        lock.lock();
      } else if (next.number > ended_) {
        issue(next.number, next.list.commands);
      }
      host_busy_ = false;
      changed_.notify_all();
    }
  }

  void run_host(Deferred& deferred) {
    await(deferred.number - 1);
    std::exception_ptr thrown;
    bool skipped = false;
    {
      const std::lock_guard lock(mutex_);
      skipped = deferred.number <= ended_;  // it failed with earlier work
    }
    try {
      if (!skipped) deferred.host();
    } catch (...) {
      thrown = std::current_exception();
    }
    deferred.host = nullptr;
    std::deque<Deferred> failed;
    const std::lock_guard lock(mutex_);
    if (thrown) {
      failures_.add(deferred.number, submitted_, thrown);
      failed.swap(deferred_);
      ended_ = issued_ = submitted_;
    } else if (!skipped) {
      ended_ = issued_ = deferred.number;
    }
  }

  void await(uint64_t number) override {
    if (number <= ended_.load(std::memory_order_acquire)) return;
    std::shared_ptr<Timeline> timeline;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return issued_ >= number; });
      timeline = timeline_;
    }
    if (number <= ended_.load(std::memory_order_acquire)) return;
    tn_error error = abi_struct<tn_error>();
    const int32_t status = plugin_.timeline_wait(timeline->handle, number, UINT64_MAX, &error);
    const std::lock_guard lock(mutex_);
    record_outcome(timeline, number, status, error);
  }

  /// Records the outcome of a wait or query; a failure once for each timeline.
  void record_outcome(const std::shared_ptr<Timeline>& timeline, uint64_t reached, int32_t status,
                      const tn_error& error) {
    if (timeline != timeline_) return;
    if (status == TN_OK) {
      if (reached > ended_) ended_ = std::min(reached, submitted_);
      return;
    }
    failures_.add(ended_ + 1, submitted_, status, error);
    restart();
  }

  void drain(uint64_t number) {
    if (number <= ended_) return;
    tn_error error = abi_struct<tn_error>();
    const int32_t status = plugin_.timeline_wait(timeline_->handle, number, UINT64_MAX, &error);
    if (status == TN_OK) {
      ended_ = number;
    } else {
      failures_.add(ended_ + 1, submitted_, status, error);
    }
  }

  /// Continues with a new timeline, as a failed one stays failed.
  void restart() {
    ended_ = issued_ = submitted_;
    changed_.notify_all();
    if (failures_.lost()) return;
    try {
      timeline_ = make_timeline(submitted_);
    } catch (const Error&) {
      tn_error error = abi_struct<tn_error>();
      failures_.add(submitted_ + 1, submitted_ + 1, TN_ERROR_DEVICE_LOST, error);
    }
  }

  std::condition_variable changed_, host_wake_;
  std::shared_ptr<Timeline> timeline_;
  std::deque<Deferred> deferred_;
  uint64_t issued_ = 0;  ///< last number given to the plugin, or ended
  std::atomic<uint64_t> ended_{0};
  bool host_busy_ = false, stop_ = false;
  std::thread host_thread_;  ///< runs host jobs and deferred submissions
};

}  // namespace

std::unique_ptr<Queue> make_timeline_queue(const tn_plugin& plugin, tn_device* device,
                                           const std::string& owner) {
  return std::make_unique<TimelineQueue>(plugin, device, owner);
}

}  // namespace tenon
