// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes a synchronous plugin asynchronous: a thread submits.
#include <condition_variable>
#include <deque>
#include <thread>

#include "core/device/plugin_queue.hpp"
#include "core/device/process_end.hpp"
#include "core/plugin/abi_struct.hpp"
#include "core/plugin/status.hpp"

namespace tenon {
namespace {

constexpr size_t kMostJobs = 256;  ///< then submit waits, which bounds memory

struct Job {
  uint64_t number = 0;
  CommandList list;
  HostJob host;  ///< instead of commands
};

class WorkerQueue final : public PluginQueue {
 public:
  WorkerQueue(const tn_plugin& plugin, tn_device* device, const std::string& owner)
      : PluginQueue(plugin, device, owner), thread_([this] { work(); }) {}

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
    job.list.copy_from(commands);
    return push(std::move(job));
  }

  uint64_t run(HostJob host) override {
    Job job = spare_job();
    job.list.commands.clear();
    job.host = std::move(host);
    return push(std::move(job));
  }

  void make_room() override {
    std::unique_lock lock(mutex_);
    ended_changed_.wait(lock, [&] { return jobs_.size() < kMostJobs; });
  }

  uint64_t ended() override {
    const std::lock_guard lock(mutex_);
    return ended_;
  }

 private:
  uint64_t push(Job job) {
    uint64_t number = 0;
    {
      const std::lock_guard lock(mutex_);
      number = ++submitted_;
      job.number = number;
      jobs_.push_back(std::move(job));
    }
    wake_.notify_one();
    return number;
  }

  Job spare_job() {
    const std::lock_guard lock(mutex_);
    if (spare_.empty()) return {};
    Job job = std::move(spare_.back());
    spare_.pop_back();
    return job;
  }

  void work() {
    always_in_use();
    const WithinForkHold within;  // fork waits for the queue
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return stop_ || !jobs_.empty(); });
      if (jobs_.empty()) return;  // stopped, and all is done
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      const bool skipped = failures_.pending() || failures_.covers(job.number);
      if (failures_.pending()) failures_.extend(job.number);
      lock.unlock();
      tn_error error = abi_struct<tn_error>();
      int32_t status = TN_OK;
      std::exception_ptr thrown;
      if (!skipped && job.host) {
        try {
          job.host();
        } catch (...) {
          thrown = std::current_exception();
        }
      } else if (!skipped) {
        status = complete(job.list.commands, error);
      }
      job.host = nullptr;
      lock.lock();
      if (thrown) failures_.add(job.number, job.number, thrown);
      if (status != TN_OK) failures_.add(job.number, job.number, status, error);
      ended_ = job.number;
      if (spare_.size() < 4) spare_.push_back(std::move(job));
      ended_changed_.notify_all();
    }
  }

  void await(uint64_t number) override {
    std::unique_lock lock(mutex_);
    ended_changed_.wait(lock, [&] { return ended_ >= number; });
  }

  int32_t complete(const std::vector<tn_command>& commands, tn_error& error) override {
    const std::lock_guard lock(plugin_mutex_);
    const tn_submission submission = submission_of(commands);
    return plugin_.submit(device_, &submission, &error);
  }

  std::mutex plugin_mutex_;  ///< one submission at a time
  std::condition_variable wake_, ended_changed_;
  std::deque<Job> jobs_;
  std::vector<Job> spare_;
  uint64_t ended_ = 0;
  bool stop_ = false;
  std::thread thread_;  ///< last member: it starts when the others exist
};

}  // namespace

std::unique_ptr<Queue> make_worker_queue(const tn_plugin& plugin, tn_device* device,
                                         const std::string& owner) {
  return std::make_unique<WorkerQueue>(plugin, device, owner);
}

}  // namespace tenon
