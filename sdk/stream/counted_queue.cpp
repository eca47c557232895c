// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maps points of timelines to numbers of submissions.
#include "sdk/stream/counted_queue.hpp"

#include <algorithm>

namespace tenon::sdk {
namespace {

class Ended : public Event {
 public:
  Ended(CountedQueue& queue, uint64_t number) : queue_(queue), number_(number) {}
  bool is_reached() const override { return queue_.ended() >= number_; }
  void synchronize() const override { queue_.wait_for(number_); }
  const void* queue() const override { return &queue_; }
  uint64_t number() const { return number_; }

 private:
  CountedQueue& queue_;
  const uint64_t number_;
};

/// Reads the counter first, which throws if the device is lost.
class CountedTimeline : public StreamTimeline {
 public:
  CountedTimeline(CountedQueue& queue, StreamScheduler& scheduler, uint64_t value)
      : StreamTimeline(scheduler, value), queue_(queue) {}
  void wait(uint64_t value, uint64_t timeout_ns) override {
    queue_.ended();
    StreamTimeline::wait(value, timeout_ns);
  }
  uint64_t query() override {
    queue_.ended();
    return StreamTimeline::query();
  }
  void signal(uint64_t value) override {
    queue_.ended();
    StreamTimeline::signal(value);
  }
  const CountedQueue* queue() const { return &queue_; }

 private:
  CountedQueue& queue_;
};

}  // namespace

std::unique_ptr<Timeline> CountedQueue::make_timeline(uint64_t value) {
  return std::make_unique<CountedTimeline>(*this, scheduler_, value);
}

StreamPoint CountedQueue::point(const tn_point& from) const {
  const auto& timeline = static_cast<const CountedTimeline&>(*timeline_of(from.timeline));
  if (timeline.queue() != this)
    throw Failure(TN_ERROR_INVALID_ARGUMENT, "submit: expected timelines of this device");
  return {timeline.state(), from.value};
}

void CountedQueue::submit(const Submission& submission, Start start) {
  StreamScheduler::Work work;
  work.owner = this;
  for (uint32_t i = 0; i < submission.wait_count(); ++i)
    work.waits.push_back(point(submission.wait(i)));
  for (uint32_t i = 0; i < submission.signal_count(); ++i)
    work.signals.push_back(point(submission.signal(i)));
  work.start = [this, start = std::move(start)](const StreamScheduler::Work& all) {
    uint64_t after = 0;
    for (const StreamPoint& wait : all.waits) {
      const auto event = wait.state->state_of(wait.value).event;
      if (event) after = std::max(after, static_cast<const Ended&>(*event).number());
    }
    const std::lock_guard lock(mutex_);
    start(++last_, after);
    const auto event = std::make_shared<Ended>(*this, last_);
    for (const StreamPoint& signal : all.signals) signal.state->promise(signal.value, event, {});
  };
  scheduler_.submit(std::move(work));
}

}  // namespace tenon::sdk
