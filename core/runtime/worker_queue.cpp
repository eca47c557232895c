// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gives a synchronous plugin the look of an asynchronous one.
#include <condition_variable>
#include <deque>
#include <thread>

#include "core/runtime/abi_struct.hpp"
#include "core/runtime/queue.hpp"

namespace tenon {
namespace {

constexpr size_t kMostJobs = 256;  ///< then submit waits, so that a long loop takes no memory

/// A submission with everything it points to.
struct Job {
  uint64_t number = 0;
  std::vector<tn_command> commands;
  std::vector<tn_argument> arguments;

  void copy_from(const std::vector<tn_command>& source) {
    commands.assign(source.begin(), source.end());
    size_t count = 0;
    for (const tn_command& c : source) count += c.argument_count;
    arguments.clear();
    arguments.reserve(count);  // so that the pointers below stay
    for (tn_command& c : commands) {
      if (c.argument_count == 0) continue;
      const size_t first = arguments.size();
      for (uint32_t i = 0; i < c.argument_count; ++i)
        arguments.push_back(abi_element(c.arguments, c.argument_stride, i));
      c.arguments = arguments.data() + first;
      c.argument_stride = sizeof(tn_argument);
    }
  }
};

class WorkerQueue final : public Queue {
 public:
  WorkerQueue(const tn_plugin& plugin, tn_device* device, const std::string& owner)
      : plugin_(plugin), device_(device), failures_(owner), thread_([this] { work(); }) {}

  ~WorkerQueue() override {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }

  uint64_t submit(const std::vector<tn_command>& commands) override {
    Job job = spare_job();
    job.copy_from(commands);
    uint64_t number = 0;
    {
      std::unique_lock lock(mutex_);
      ended_changed_.wait(lock, [&] { return jobs_.size() < kMostJobs; });
      number = ++submitted_;
      job.number = number;
      jobs_.push_back(std::move(job));
    }
    wake_.notify_one();
    return number;
  }

  bool wait(uint64_t number, std::string& failure, ErrorKind& kind, bool told) override {
    std::unique_lock lock(mutex_);
    ended_changed_.wait(lock, [&] { return ended_ >= number; });
    if (!failures_.find(number, failure, kind)) return true;
    if (told) failures_.tell(number, submitted_);
    return false;
  }

  void synchronize() override {
    std::unique_lock lock(mutex_);
    const uint64_t number = submitted_;
    ended_changed_.wait(lock, [&] { return ended_ >= number; });
    failures_.throw_pending();
  }

  uint64_t ended() override {
    const std::lock_guard lock(mutex_);
    return ended_;
  }
  uint64_t submitted() override {
    const std::lock_guard lock(mutex_);
    return submitted_;
  }

 private:
  Job spare_job() {
    const std::lock_guard lock(mutex_);
    if (spare_.empty()) return {};
    Job job = std::move(spare_.back());
    spare_.pop_back();
    return job;
  }

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return stop_ || !jobs_.empty(); });
      if (jobs_.empty()) return;  // stopped, and all is done
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      if (failures_.pending()) {
        failures_.extend(job.number);
      } else if (!failures_.covers(job.number)) {
        lock.unlock();
        tn_error error = abi_struct<tn_error>();
        const int32_t status = run(job, error);
        lock.lock();
        if (status != TN_OK) failures_.add(job.number, job.number, status, error);
      }
      ended_ = job.number;
      if (spare_.size() < 4) spare_.push_back(std::move(job));
      ended_changed_.notify_all();
    }
  }

  int32_t run(const Job& job, tn_error& error) {
    tn_submission submission = abi_struct<tn_submission>();
    submission.command_count = static_cast<uint32_t>(job.commands.size());
    submission.command_stride = sizeof(tn_command);
    submission.commands = job.commands.data();
    return plugin_.submit(device_, &submission, &error);
  }

  const tn_plugin& plugin_;
  tn_device* device_;
  std::mutex mutex_;
  std::condition_variable wake_, ended_changed_;
  std::deque<Job> jobs_;
  std::vector<Job> spare_;
  FailureLog failures_;
  uint64_t submitted_ = 0, ended_ = 0;
  bool stop_ = false;
  std::thread thread_;  ///< last: it starts when the rest is there
};

}  // namespace

std::unique_ptr<Queue> make_worker_queue(const tn_plugin& plugin, tn_device* device,
                                         const std::string& owner) {
  return std::make_unique<WorkerQueue>(plugin, device, owner);
}

}  // namespace tenon
