// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of objects that are used at the same time: handles of one device, threads, executables of
// one program, and what is destroyed beside what is in use.
#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>

#include "conformance/abi/at_once.hpp"
#include "conformance/abi/checks/check.hpp"
#include "conformance/abi/checks/probe_programs.hpp"
#include "conformance/abi/sequences/runner.hpp"
#include "conformance/abi/slab.hpp"

namespace tenon::conformance::abi::checks {
namespace {

constexpr uint64_t kGraphBytes = 4096;

/// A slab of a device that is filled and, where it computes, worked on: and what it then holds.
class Work {
 public:
  Work(const OpenDevice& device, uint64_t pattern, int64_t constant)
      : device_(device), memory_(any_memory(device, kGraphBytes)) {
    if (device.computes()) loaded_ = load_kernel(adding(constant), device);
    model_.resize(kGraphBytes);
    commands_.push_back(fill_command(memory_.get(), 0, kGraphBytes, pattern, 4));
    model_.fill(0, kGraphBytes, pattern, 4, 0);
    if (!loaded_) return;
    const auto extent = loaded_->kernel.extent(200);
    commands_.push_back(launch_command(loaded_->kernel, loaded_->executable.get(), extent,
                                       {memory_.get(), 0}, {}, 0, arguments_));
    loaded_->kernel.apply(extent, {}, model_.range(0, kGraphBytes), 0);
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  std::span<const tn_command> commands() const { return commands_; }

  void run() const { device_.run(commands_); }
  void expect_result(const char* when) const {
    std::vector<uint8_t> got(kGraphBytes);
    device_.read(memory_.get(), 0, 0, got);
    model_.compare(0, 0, got, when);
  }

 private:
  const OpenDevice& device_;
  MemoryHandle memory_;
  std::optional<Loaded> loaded_;
  LaunchArguments arguments_{};
  std::vector<tn_command> commands_;
  Slab model_;
};

/// Work that the host holds back; nothing where the device is synchronous.
class Held {
 public:
  Held(const OpenDevice& device, const Work& work) : device_(device) {
    if (!device.is_async()) work.run();
    if (!device.is_async()) return;
    line_ = device.make_timeline(0);
    const tn_point wait{line_.get(), 1}, signal{line_.get(), 2};
    device.submit(submission_of(work.commands(), {&wait, 1}, {&signal, 1}));
    work_.emplace(device, line_.get(), 1);
    work_->ends_with(signal);
  }

  void finish() const {
    if (!line_) return;
    device_.signal(line_.get(), 1);
    device_.wait(line_.get(), 2);
  }

 private:
  const OpenDevice& device_;
  TimelineHandle line_;
  std::optional<Unfinished> work_;
};

void two_handles(const CheckContext& c) {
  const OpenDevice first = c.open();
  need(first.submits(), "the device takes no submissions");
  std::optional<OpenDevice> second(std::in_place, c.subject, c.subject.index,
                                   c.subject.options_or_null());
  {
    const Work here(first, 0x01020304, 5), there(*second, 0x0a0b0c0d, 9);
    here.run();
    there.run();
    here.expect_result("of one of two handles");
    there.expect_result("of the other of two handles");
  }
  {  // one is closed while the other has work in flight
    const Work work(first, 0x11223344, 3);
    const Held held(first, work);
    second.reset();
    held.finish();
    work.expect_result("that was in flight when another handle was closed");
  }
  const Work after(first, 0x55667788, 2);
  after.run();
  after.expect_result("of work after another handle was closed");
}

void handles_in_threads(const CheckContext& c) {
  constexpr int kThreads = 3, kRounds = 4;
  {
    const OpenDevice device = c.open();
    need(device.submits(), "the device takes no submissions");
  }
  at_once(kThreads, [&](int thread) {
    for (int round = 0; round < kRounds; ++round) {
      const OpenDevice device = c.open();
      const uint64_t pattern = uint64_t{0x01010101} * static_cast<uint32_t>(thread + 1);
      const Work work(device, pattern, thread + round);
      work.run();
      work.expect_result("of a handle of one of several threads");
    }
  });
}

/// A handle with a program that goes through shared memory, whose words are its own.
class Sharing {
 public:
  Sharing(const CheckContext& c, uint32_t number) : device_(computing(c)) {
    need(most_threads(device_.properties(), kThreads) == kThreads, "workgroups are small");
    words_ = std::min(device_.properties().max_shared_bytes / 4, 4000u);
    need(words_ > 0, "the device has no shared memory");
    const sdk::Program program = shared_program(words_, 1, kThreads, 1000 * number);
    need(run_probe(device_, program, false), "the device takes no such program");
    executable_ = device_.compile(*program.get()).executable;
    need(executable_ != nullptr, "the device takes such a program once");
    memory_ = any_memory(device_, words_ * kWord);
    alone_ = launch();
  }

  void launch_again() const {
    const std::vector<uint32_t> got = launch();
    const auto [other, at] = std::ranges::mismatch(got, alone_);
    if (other != got.end())
      find("mismatch",
           "out [{}]: expected {:#x} of shared memory while other handles use theirs, got {:#x}",
           at - alone_.begin(), *at, *other);
  }

 private:
  std::vector<uint32_t> launch() const {
    const tn_argument argument = buffer_argument(memory_.get(), 0, words_ * kWord);
    std::vector<tn_command> commands = {
        fill_command(memory_.get(), 0, words_ * kWord, 0, 4),
        launch_command(executable_.get(), {1, 1, 1}, {}, {&argument, 1})};
    commands[1].block[0] = kThreads;
    device_.run(commands);
    std::vector<uint32_t> got(words_);
    device_.read(memory_.get(), 0, 0, {reinterpret_cast<uint8_t*>(got.data()), words_ * kWord});
    return got;
  }

  static constexpr uint32_t kThreads = 4;
  static constexpr uint64_t kWord = 4;
  OpenDevice device_;
  uint32_t words_ = 0;
  ExecutableHandle executable_;
  MemoryHandle memory_;
  std::vector<uint32_t> alone_;
};

/// Launches of several handles at the same time, and for so long that they meet.
void handles_share_nothing(const CheckContext& c) {
  constexpr int kHandles = 3, kLaunches = 24;
  constexpr auto kLeast = std::chrono::milliseconds(250), kMost = std::chrono::milliseconds(2000);
  std::deque<Sharing> handles;
  for (int i = 0; i < kHandles; ++i) handles.emplace_back(c, i + 1);
  c.alive();
  at_once(kHandles, [&](int i) {
    const auto begin = std::chrono::steady_clock::now();
    const auto used = [&] { return std::chrono::steady_clock::now() - begin; };
    for (int k = 0; used() < (k < kLaunches ? kMost : kLeast); ++k)
      handles[static_cast<size_t>(i)].launch_again();
  });
}

/// Of one program and of another; destroyed while the first is held back, and after it ran.
void destroyed_beside(const CheckContext& c) {
  const OpenDevice device = c.open();
  need(device.submits(), "the device takes no submissions");
  for (const bool is_twin : {true, false}) {
    c.alive();
    const Work work(device, 0x42424242, 6);
    {
      const Held held(device, work);
      { const Work beside(device, 0x13131313, is_twin ? 6 : 7); }
      if (device.is_async()) {
        const TimelineHandle line = device.make_timeline(5);
        device.signal(line.get(), 6);
      }
      held.finish();
    }
    work.expect_result("beside which others were made and destroyed");
    work.run();
    work.expect_result("of work that ran once more after others were destroyed");
  }
}

/// Threads that submit on one device.
void threads_submit(const CheckContext& c) {
  sequences::SequenceRunner runner(c.subject);
  runner.run(parse_sequence("race.submit 0 4 12\nrace.wait 0\nrace.submit 0 8 3\n"), c.alive);
  need(runner.done() > 0, "the device takes no submissions, or the host does not see its memory");
}

}  // namespace

std::span<const CheckRow> together_checks() {
  static constexpr CheckRow kRows[] = {
      {"two_handles", two_handles, 62},
      {"handles_in_threads", handles_in_threads, 62},
      {"handles_share_nothing", handles_share_nothing, 62},
      {"destroyed_beside", destroyed_beside, 62},
      {"threads_submit", threads_submit, 62},
  };
  return kRows;
}

}  // namespace tenon::conformance::abi::checks
