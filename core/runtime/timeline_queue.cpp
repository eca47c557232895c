// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Submission n waits for n - 1 on the device's timeline and raises it to n.
#include <atomic>

#include "core/runtime/abi_struct.hpp"
#include "core/runtime/queue.hpp"
#include "core/runtime/status.hpp"

namespace tenon {
namespace {

class TimelineQueue final : public Queue {
 public:
  TimelineQueue(const tn_plugin& plugin, tn_device* device, std::string owner)
      : plugin_(plugin), device_(device), owner_(std::move(owner)), failures_(owner_) {
    timeline_ = make_timeline(0);
  }

  ~TimelineQueue() override {
    std::string failure;
    ErrorKind kind{};
    wait(submitted_, failure, kind, false);
  }

  uint64_t submit(const std::vector<tn_command>& commands) override {
    const std::lock_guard lock(mutex_);
    if (failures_.pending()) {  // already failed, not yet told: this one fails with it
      failures_.extend(++submitted_);
      ended_ = submitted_;
      return submitted_;
    }
    tn_error error = abi_struct<tn_error>();
    const tn_point after{timeline_->handle, submitted_};
    const tn_point signal{timeline_->handle, submitted_ + 1};
    tn_submission submission = abi_struct<tn_submission>();
    submission.command_count = static_cast<uint32_t>(commands.size());
    submission.command_stride = sizeof(tn_command);
    submission.commands = commands.data();
    submission.wait_count = submitted_ > timeline_->begin ? 1 : 0;
    submission.waits = &after;
    submission.signals = &signal;
    submission.signal_count = 1;
    const int32_t status = plugin_.submit(device_, &submission, &error);
    ++submitted_;
    if (status != TN_OK) {
      // Nothing of it was queued. What came before may still run on this timeline.
      drain(submitted_ - 1);
      if (!failures_.pending()) failures_.add(submitted_, submitted_, status, error);
      failures_.extend(submitted_);
      restart();
    }
    return submitted_;
  }

  bool wait(uint64_t number, std::string& failure, ErrorKind& kind, bool told) override {
    if (number > ended_.load(std::memory_order_acquire)) {
      std::shared_ptr<Timeline> timeline;
      {
        const std::lock_guard lock(mutex_);
        timeline = timeline_;
      }
      if (number > ended_.load(std::memory_order_acquire)) {
        tn_error error = abi_struct<tn_error>();
        const int32_t status = plugin_.timeline_wait(timeline->handle, number, UINT64_MAX, &error);
        const std::lock_guard lock(mutex_);
        settle(timeline, number, status, error);
      }
    }
    const std::lock_guard lock(mutex_);
    if (!failures_.find(number, failure, kind)) return true;
    if (told) failures_.tell(number, submitted_);
    return false;
  }

  void synchronize() override {
    std::string failure;
    ErrorKind kind{};
    wait(submitted(), failure, kind, false);
    const std::lock_guard lock(mutex_);
    failures_.throw_pending();
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

  uint64_t submitted() override {
    const std::lock_guard lock(mutex_);
    return submitted_;
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

  std::shared_ptr<Timeline> make_timeline(uint64_t begin) {
    auto timeline = std::make_shared<Timeline>(Timeline{plugin_, nullptr, begin});
    tn_error error = abi_struct<tn_error>();
    check_status(plugin_.timeline_create(device_, begin, &timeline->handle, &error), error,
                 "timeline", owner_);
    return timeline;
  }

  /// Takes the outcome of a wait or query into account, once a timeline.
  void settle(const std::shared_ptr<Timeline>& timeline, uint64_t reached, int32_t status,
              const tn_error& error) {
    if (timeline != timeline_) return;
    if (status == TN_OK) {
      if (reached > ended_) ended_ = reached < submitted_ ? reached : submitted_;
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
    ended_ = submitted_;
    if (failures_.lost()) return;
    try {
      timeline_ = make_timeline(submitted_);
    } catch (const Error&) {
      tn_error error = abi_struct<tn_error>();
      failures_.add(submitted_ + 1, submitted_ + 1, TN_ERROR_DEVICE_LOST, error);
    }
  }

  const tn_plugin& plugin_;
  tn_device* device_;
  std::string owner_;
  std::mutex mutex_;
  std::shared_ptr<Timeline> timeline_;
  FailureLog failures_;
  uint64_t submitted_ = 0;
  std::atomic<uint64_t> ended_{0};
};

}  // namespace

std::unique_ptr<Queue> make_timeline_queue(const tn_plugin& plugin, tn_device* device,
                                           const std::string& owner) {
  return std::make_unique<TimelineQueue>(plugin, device, owner);
}

}  // namespace tenon
