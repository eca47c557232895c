// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/selftest/plugin/work_queue.hpp"

#include <algorithm>
#include <cfenv>
#include <chrono>

namespace tenon::planted {
namespace {

using namespace std::chrono_literals;

constexpr auto kLatency = 500us;  ///< of a launch, where a variant makes it matter
constexpr auto kSlow = 3ms;

bool overlap(const std::byte* a, uint64_t a_size, const std::byte* b, uint64_t b_size) {
  return a_size && b_size && a < b + b_size && b < a + a_size;
}

/// Whether a job touches the bytes in one way; arguments by the access that the program declares.
bool touches(const Job& job, const std::byte* begin, uint64_t size, uint32_t access) {
  return std::ranges::any_of(job.work.commands, [&](const sdk::HostCommand& c) {
    if (c.kind != TN_COMMAND_LAUNCH)
      return overlap(access == TN_ACCESS_READ ? c.source : c.destination,
                     access == TN_ACCESS_READ && !c.source ? 0 : c.size, begin, size);
    const auto arguments = job.work.arguments_of(c);
    for (size_t i = 0; i < arguments.size(); ++i)
      if ((c.executable->signature().arguments[i].access & access) &&
          overlap(arguments[i].data, arguments[i].size, begin, size))
        return true;
    return false;
  });
}

/// Calls `use` with each range that a job touches in one way.
void each_range(const Job& job, uint32_t access,
                const std::function<void(const std::byte*, uint64_t)>& use) {
  for (const sdk::HostCommand& c : job.work.commands) {
    if (c.kind != TN_COMMAND_LAUNCH) {
      const std::byte* begin = access == TN_ACCESS_READ ? c.source : c.destination;
      if (begin) use(begin, c.size);
      continue;
    }
    const auto arguments = job.work.arguments_of(c);
    for (size_t i = 0; i < arguments.size(); ++i)
      if (c.executable->signature().arguments[i].access & access)
        use(arguments[i].data, arguments[i].size);
  }
}

}  // namespace

bool Job::reads(const std::byte* begin, uint64_t size) const {
  return touches(*this, begin, size, TN_ACCESS_READ);
}
bool Job::writes(const std::byte* begin, uint64_t size) const {
  return touches(*this, begin, size, TN_ACCESS_WRITE);
}

bool Job::signals_one_of(const Job& waiting) const {
  return std::ranges::any_of(signals, [&](const auto& signal) {
    return std::ranges::any_of(waiting.waits,
                               [&](const auto& wait) { return wait.first == signal.first; });
  });
}

bool Job::only_overwrites(const Job& earlier) const {
  bool overwrites = false, uses = false;
  each_range(*this, TN_ACCESS_WRITE, [&](const std::byte* begin, uint64_t size) {
    overwrites |= earlier.reads(begin, size);
    uses |= earlier.writes(begin, size);
  });
  each_range(*this, TN_ACCESS_READ,
             [&](const std::byte* begin, uint64_t size) { uses |= earlier.writes(begin, size); });
  return overwrites && !uses;
}

WorkQueue::WorkQueue(Variant variant, sdk::LaunchFunction launch)
    : variant_(variant),
      launch_(std::move(launch)),
      rounding_(rounding_of_opener),
      thread_([this] { serve(); }) {}

WorkQueue::~WorkQueue() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void WorkQueue::push(Job job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  wake_.notify_one();
}

bool WorkQueue::any_pending(const std::function<bool(const Job&)>& question) {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(jobs_, question);
}

void WorkQueue::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return stop_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const Job& job = jobs_.front();  // a deque keeps it in place
    lock.unlock();
    run(job);
    lock.lock();
    jobs_.pop_front();
  }
}

void WorkQueue::run(const Job& job) {
  try {
    for (const auto& [timeline, value] : job.waits) timeline->wait(value, UINT64_MAX);
    if (variant_ == Variant::slow_queue) std::this_thread::sleep_for(kSlow);
    if (variant_ == Variant::write_after_read) std::this_thread::sleep_for(kLatency);
    if (variant_ == Variant::signalled_early && job.work.commands.size() > 1) {
      run_late(job);
      return;
    }
    if (variant_ == Variant::rounding_of_opener) std::fesetround(rounding_);
    if (variant_ == Variant::copies_read_first)
      run_snapshots(job.work);
    else
      sdk::run_work(job.work, launch_);
  } catch (...) {
    const sdk::Failure failure = sdk::current_failure();
    for (const auto& [timeline, value] : job.signals) timeline->fail(failure);
    return;
  }
  for (const auto& [timeline, value] : job.signals) timeline->signal(value);
}

/// Of copies in a row all sources are read first.
void WorkQueue::run_snapshots(const sdk::HostWork& work) {
  std::vector<std::vector<std::byte>> sources;
  sdk::HostWork some = work;
  const auto is_copy = [](const sdk::HostCommand& c) { return c.kind == TN_COMMAND_COPY; };
  for (auto begin = work.commands.begin(); begin != work.commands.end();) {
    const auto end = std::find_if(begin + 1, work.commands.end(),
                                  [&](const auto& c) { return is_copy(c) != is_copy(*begin); });
    some.commands.assign(begin, end);
    for (sdk::HostCommand& command : some.commands) {
      if (!is_copy(command) || !command.source) continue;
      sources.emplace_back(command.source, command.source + command.size);
      command.source = sources.back().data();
    }
    sdk::run_work(some, launch_);
    begin = end;
  }
}

/// The last command is under way when the signals rise, and its bytes come some time later.
void WorkQueue::run_late(const Job& job) {
  sdk::HostWork last = job.work, others = job.work;
  last.commands.assign(1, job.work.commands.back());
  others.commands.pop_back();
  sdk::run_work(others, launch_);
  for (const auto& [timeline, value] : job.signals) timeline->signal(value);
  std::this_thread::sleep_for(kLatency);
  try {
    sdk::run_work(last, launch_);
  } catch (...) {  // nobody is told any more
  }
}

}  // namespace tenon::planted
