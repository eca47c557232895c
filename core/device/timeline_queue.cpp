// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Submission n waits for n - 1 on the device's timeline and raises it to n.
//
// Behind a job of the host submissions are held back until it is done, by a thread that is there
// from the first such job on: so all that the plugin has been given can end by itself. The timeline
// passes over the numbers of such jobs.
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

constexpr size_t kMostHeld = 256;

class TimelineQueue final : public PluginQueue {
 public:
  TimelineQueue(const tn_plugin& plugin, tn_device* device, const std::string& owner)
      : PluginQueue(plugin, device, owner) {
    timeline_ = make_timeline(0);
  }

  ~TimelineQueue() override {
    if (lane_.joinable()) {
      {
        const std::lock_guard lock(mutex_);
        stop_ = true;
      }
      lane_wake_.notify_all();
      lane_.join();
    }
    await(submitted_);
  }

  uint64_t submit(const std::vector<tn_command>& commands) override {
    const std::lock_guard lock(mutex_);
    if (failures_.pending()) return fail_with_pending();
    const uint64_t number = ++submitted_;
    if (is_held_back()) {
      held_.emplace_back().number = number;
      held_.back().list.copy_from(commands);
    } else {
      issue(number, commands);
    }
    return number;
  }

  uint64_t run(HostJob job) override {
    const std::lock_guard lock(mutex_);
    if (failures_.pending()) return fail_with_pending();
    if (!lane_.joinable()) lane_ = std::thread([this] { work(); });  // first: it may throw
    held_.emplace_back().number = ++submitted_;
    held_.back().host = std::move(job);
    lane_wake_.notify_one();
    return submitted_;
  }

  void make_room() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return held_.size() < kMostHeld; });
  }

  uint64_t ended() override {
    const std::lock_guard lock(mutex_);
    if (ended_ == submitted_) return ended_;
    tn_error error = abi_struct<tn_error>();
    uint64_t value = 0;
    const int32_t status = plugin_.timeline_query(timeline_->handle, &value, &error);
    settle(timeline_, status == TN_OK ? value : submitted_, status, error);
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

  struct Held {
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

  bool is_held_back() const { return lane_busy_ || !held_.empty(); }

  /// Already failed, not yet told: this one fails with it.
  uint64_t fail_with_pending() {
    failures_.extend(++submitted_);
    ended_ = issued_ = submitted_;
    return submitted_;
  }

  /// Hands commands to the plugin. Under mutex_.
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
      // Nothing of it was queued. What came before may still run on this timeline.
      drain(number - 1);
      if (!failures_.pending()) failures_.add(number, number, status, error);
      failures_.extend(submitted_);
      restart();
    }
    changed_.notify_all();
  }

  void work() {
    always_in_use();
    const WithinForkHold within;  // a fork waits for the queue
    std::unique_lock lock(mutex_);
    for (;;) {
      lane_wake_.wait(lock, [&] { return stop_ || !held_.empty(); });
      if (held_.empty()) return;
      Held next = std::move(held_.front());
      held_.pop_front();
      lane_busy_ = true;
      if (next.host) {
        lock.unlock();
        run_host(next);
        lock.lock();
      } else if (next.number > ended_) {
        issue(next.number, next.list.commands);
      }
      lane_busy_ = false;
      changed_.notify_all();
    }
  }

  void run_host(Held& held) {
    await(held.number - 1);
    std::exception_ptr thrown;
    bool skipped = false;
    {
      const std::lock_guard lock(mutex_);
      skipped = held.number <= ended_;  // it failed with what came before
    }
    try {
      if (!skipped) held.host();
    } catch (...) {
      thrown = std::current_exception();
    }
    held.host = nullptr;
    std::deque<Held> failed;
    const std::lock_guard lock(mutex_);
    if (thrown) {
      failures_.add(held.number, submitted_, thrown);
      failed.swap(held_);
      ended_ = issued_ = submitted_;
    } else if (!skipped) {
      ended_ = issued_ = held.number;
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
    settle(timeline, number, status, error);
  }

  /// Takes the outcome of a wait or query into account, once a timeline.
  void settle(const std::shared_ptr<Timeline>& timeline, uint64_t reached, int32_t status,
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

  /// A failed timeline stays failed, so the queue goes on with a new one.
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

  std::condition_variable changed_, lane_wake_;
  std::shared_ptr<Timeline> timeline_;
  std::deque<Held> held_;
  uint64_t issued_ = 0;  ///< the plugin has it, or it has ended
  std::atomic<uint64_t> ended_{0};
  bool lane_busy_ = false, stop_ = false;
  std::thread lane_;  ///< runs what is held back
};

}  // namespace

std::unique_ptr<Queue> make_timeline_queue(const tn_plugin& plugin, tn_device* device,
                                           const std::string& owner) {
  return std::make_unique<TimelineQueue>(plugin, device, owner);
}

}  // namespace tenon
