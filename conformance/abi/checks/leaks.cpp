// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks that what is destroyed is gone: the process must not grow with every round.
#include <malloc.h>

#include <algorithm>
#include <filesystem>

#include "conformance/abi/checks/check.hpp"
#include "conformance/abi/counting_host.hpp"
#include "conformance/abi/saved.hpp"
#include "conformance/cases/files.hpp"

namespace tenon::conformance::abi::checks {
namespace {

/// What a process can lose.
struct Footprint {
  int64_t heap = 0;      ///< bytes in use
  int64_t resident = 0;  ///< bytes
  int64_t files = 0, threads = 0;
  int64_t host = 0;  ///< live allocations of tn_host
};

int64_t entries(const char* folder) {
  std::error_code error;
  int64_t count = 0;
  for (auto it = std::filesystem::directory_iterator(folder, error);
       !error && it != std::filesystem::directory_iterator(); it.increment(error))
    ++count;
  return count;
}

Footprint footprint() {
  Footprint f;
  const struct mallinfo2 heap = mallinfo2();
  f.heap = static_cast<int64_t>(heap.uordblks + heap.hblkhd);
  f.resident = static_cast<int64_t>(resident_bytes("self"));
  f.files = entries("/proc/self/fd");
  f.threads = entries("/proc/self/task");
  f.host = host_counts().live;
  return f;
}

/// Caches fill and pools grow at first, so only what grows in every one of several stretches of
/// rounds is a leak. `heap_bytes` is what a round may leave behind: drivers and compilers keep a
/// little, and an object of theirs is more.
void expect_no_growth(const CheckContext& c, int rounds, int64_t heap_bytes, const char* what,
                      const std::function<void()>& round) {
  constexpr int kStretches = 4;
  constexpr int64_t kResidentBytes = int64_t{4} * 4096;  // a round
  const int64_t wrong_releases = host_counts().wrong_releases;
  const auto run = [&] {
    for (int i = 0; i < rounds; ++i) {
      round();
      c.alive();
    }
  };
  run();
  Footprint least;
  least.heap = least.resident = least.files = least.threads = least.host = INT64_MAX;
  Footprint before = footprint();
  for (int stretch = 0; stretch < kStretches; ++stretch) {
    run();
    const Footprint after = footprint();
    least.heap = std::min(least.heap, after.heap - before.heap);
    least.resident = std::min(least.resident, after.resident - before.resident);
    least.files = std::min(least.files, after.files - before.files);
    least.threads = std::min(least.threads, after.threads - before.threads);
    least.host = std::min(least.host, after.host - before.host);
    before = after;
  }
  const auto leak = [&](bool is_leak, int64_t amount, const char* of) {
    if (is_leak)
      find("leak", "{} rounds of {}: expected none to stay, got {} {} more each time", rounds, what,
           amount, of);
  };
  leak(least.host > 0, least.host, "live allocations of the host");
  leak(least.files >= rounds / 2, least.files, "open files");
  leak(least.threads >= rounds / 2, least.threads, "threads");
  leak(least.heap >= rounds * heap_bytes, least.heap, "bytes of heap");
  leak(least.resident >= rounds * std::max(heap_bytes, kResidentBytes), least.resident,
       "bytes of memory");
  if (host_counts().wrong_releases > wrong_releases)
    find("leak",
         "tn_host.release: expected the size and alignment that were allocated, got others");
}

void leak_of_devices(const CheckContext& c) {
  expect_no_growth(c, 12, 16384, "device_open and device_close",
                   [&] { const OpenDevice device = c.open(); });
}

/// Runs commands with one timeline for all rounds, so that what a round leaves is not a timeline.
class Rounds {
 public:
  explicit Rounds(const OpenDevice& device) : device_(device) {
    if (device.is_async()) timeline_ = device.make_timeline(0);
  }
  void run(std::span<const tn_command> commands) {
    tn_submission submission = submission_of(commands);
    if (!timeline_) return device_.submit(submission);
    const tn_point signal{timeline_.get(), ++value_};
    submission.signals = &signal;
    submission.signal_count = 1;
    device_.submit(submission);
    device_.wait(timeline_.get(), value_);
  }

 private:
  const OpenDevice& device_;
  TimelineHandle timeline_;
  uint64_t value_ = 0;
};

void leak_of_memory(const CheckContext& c) {
  const OpenDevice device = c.open();
  Rounds rounds(device);
  expect_no_growth(c, 64, 512, "memory_allocate and memory_free", [&] {
    const MemoryHandle memory = any_memory(device, 1 << 16);
    if (!device.submits())
      return device.write(memory.get(), 0, 0, std::vector<uint8_t>(1 << 16, 1));
    const tn_command fill = fill_command(memory.get(), 0, 1 << 16, 1, 4);
    rounds.run({&fill, 1});
  });
}

void leak_of_executables(const CheckContext& c) {
  const OpenDevice device = c.open();
  const Loaded kept = any_kernel(device);
  const sdk::Program program = kept.kernel.build();
  // Some drivers destroy what they may at the next work only.
  const MemoryHandle memory = any_memory(device, 256);
  const tn_command fill = fill_command(memory.get(), 0, 256, 1, 4);
  Rounds rounds(device);
  expect_no_growth(c, 20, 768, "compile and executable_destroy", [&] {
    rounds.run({&fill, 1});
    const CompileAnswer answer = device.compile(*program.get());
    expect(answer.executable != nullptr, "compile: expected the program taken as before, got {}",
           answer.text);
  });
}

void leak_of_timelines(const CheckContext& c) {
  const OpenDevice device = c.open();
  need(device.is_async(), "the device is synchronous");
  expect_no_growth(c, 64, 96, "timeline_create and timeline_destroy", [&] {
    const TimelineHandle timeline = device.make_timeline(1);
    device.signal(timeline.get(), 2);
  });
}

void leak_of_submissions(const CheckContext& c) {
  const OpenDevice device = c.open();
  need(device.submits(), "the device takes no submissions");
  const MemoryHandle memory = any_memory(device, 4096), input = any_memory(device, 4096);
  std::vector<tn_command> commands(4, fill_command(memory.get(), 0, 4096, 3, 4));
  LaunchArguments arguments;
  std::optional<Loaded> loaded;
  if (device.computes()) {
    loaded = any_kernel(device);
    commands.push_back(launch_command(loaded->kernel, loaded->executable.get(),
                                      loaded->kernel.extent(64), {memory.get(), 0},
                                      {input.get(), 0}, 0, arguments));
  }
  Rounds rounds(device);
  expect_no_growth(c, 64, 128, "submit", [&] { rounds.run(commands); });
}

void leak_after_errors(const CheckContext& c) {
  const OpenDevice device = c.open();
  sdk::Program broken;
  std::vector<uint8_t> damaged;
  if (device.computes()) {
    const Loaded loaded = any_kernel(device);
    broken = loaded.kernel.build();
    const_cast<tn_program*>(broken.get())->magic = 0;
    if (can_save(device)) damaged = save(device, loaded.executable.get());
    if (!damaged.empty()) damaged[damaged.size() / 2] ^= 0x10;
  }
  const tn_target target = device.target();
  tn_target unknown = abi_struct<tn_target>();
  unknown.name = "no-such-target-is-known";
  expect_no_growth(c, 48, 96, "calls that fail", [&] {
    tn_error error = abi_struct<tn_error>();
    tn_device* opened = nullptr;
    c.table().device_open(c.subject.index, "no_such_option_is_known=1", &opened, &error);
    const tn_properties* properties = nullptr;
    c.table().properties(&unknown, &properties, &error);
    tn_executable* made = nullptr;
    if (!broken.empty()) c.table().compile(&target, broken.get(), nullptr, &made, &error);
    if (!damaged.empty())
      c.table().executable_load(&target, damaged.data(), damaged.size(), &made, &error);
    if (opened || made) find("error", "expected nothing written after an error, got an object");
  });
}

}  // namespace

std::span<const CheckRow> leak_checks() {
  static constexpr CheckRow kRows[] = {
      {"leak_of_devices", leak_of_devices, 15},
      {"leak_of_memory", leak_of_memory, 15},
      {"leak_of_executables", leak_of_executables, 15},
      {"leak_of_timelines", leak_of_timelines, 15},
      {"leak_of_submissions", leak_of_submissions, 15},
      {"leak_after_errors", leak_after_errors, 13},
  };
  return kRows;
}

}  // namespace tenon::conformance::abi::checks
