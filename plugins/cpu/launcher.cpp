// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs kernels, copies and fills over a device's threads, by oneTBB.
#include "plugins/cpu/launcher.hpp"

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <new>
#include <thread>

#include "plugins/cpu/float_state.hpp"
#include "plugins/cpu/thread_sanitizer.hpp"

namespace tenon::cpu {
namespace {

/// Below this a kernel is done before a second thread is awake.
constexpr double kWakeNs = 10'000;
constexpr uint64_t kCopyChunk = 1 << 20;
/// Parts a thread: more even out what runs late, fewer cost less.
constexpr uint64_t kPartsPerThread = 8;

uint64_t workgroups(const uint32_t grid[3]) { return uint64_t{grid[0]} * grid[1] * grid[2]; }

}  // namespace

struct Launcher::Workers {
  tbb::task_arena arena;
  explicit Workers(unsigned threads) : arena(static_cast<int>(threads), 1) {}
#if defined(__SANITIZE_ADDRESS__)
  // LeakSanitizer's tracer falls over threads that end while it looks, and oneTBB's end when they
  // find that its library is going: so they are waited for. Not elsewhere, since where a thread
  // could not be started this waits for ever.
  tbb::task_scheduler_handle handle{tbb::attach()};
  ~Workers() {
    arena.terminate();
    (void)tbb::finalize(handle, std::nothrow);
  }
#endif
};

namespace {

/// False in a child made by fork after oneTBB was used: its threads are not there, and its locks
/// may be held by them.
bool has_workers() {
  static std::atomic<pid_t> process = 0;
  pid_t none = 0;
  return process.compare_exchange_strong(none, getpid()) || none == getpid();
}

}  // namespace

Launcher::Launcher(unsigned threads)
    : threads_(threads),
      workers_(has_workers() ? std::make_unique<Workers>(threads) : nullptr),
      scratch_(threads) {}
Launcher::~Launcher() = default;

void Launcher::run_on_all(const std::function<void(unsigned slot)>& work) {
  if (workers_) {
    workers_->arena.execute([&] {
      tbb::parallel_for(
          tbb::blocked_range<unsigned>(0, threads_, 1),
          [&](const tbb::blocked_range<unsigned>&) {
            work(static_cast<unsigned>(tbb::this_task_arena::current_thread_index()));
          },
          tbb::simple_partitioner());
    });
    return;
  }
  std::vector<std::exception_ptr> errors(threads_);
  const auto guarded = [&](unsigned slot) {
    try {
      work(slot);
    } catch (...) {
      errors[slot] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (unsigned slot = 1; slot < threads_; ++slot) others.emplace_back(guarded, slot);
    guarded(0);
  }
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

std::byte* Launcher::scratch(unsigned slot, uint64_t size) {
  constexpr uint64_t kPage = 4096;
  Scratch& own = scratch_[slot];
  if (own.size < size) {
    const uint64_t rounded = (size + kPage - 1) / kPage * kPage;
    own.size = 0;
    own.bytes = {static_cast<std::byte*>(std::aligned_alloc(kPage, rounded)), std::free};
    if (!own.bytes) throw std::bad_alloc();
    own.size = rounded;
  }
  return own.bytes.get();
}

void Launcher::parallel(uint64_t count, uint64_t smallest, const RangeBody& body) {
  const uint64_t chunk = std::max(smallest, count / (threads_ * kPartsPerThread));
  std::atomic<uint64_t> next{0};
  std::atomic<bool> failed{false};
  HandOver hand_over;
  hand_over.start();
  run_on_all([&](unsigned slot) {
    hand_over.enter();
    const FloatState floats;
    while (!failed.load(std::memory_order_relaxed)) {
      const uint64_t begin = next.fetch_add(chunk, std::memory_order_relaxed);
      if (begin >= count) break;
      try {
        body(begin, std::min(begin + chunk, count), slot);
      } catch (...) {
        failed = true;
        throw;
      }
    }
    hand_over.leave();
  });
  hand_over.finish();
}

void Launcher::launch(const CpuExecutable& executable, const uint32_t grid[3],
                      const sdk::HostArgument* arguments) {
  using Clock = std::chrono::steady_clock;
  const uint64_t count = workgroups(grid);
  if (count == 0) return;
  const KernelEntry entry = executable.entry();
  const uint64_t bytes = executable.scratch_bytes();
  const double expected = estimated_ns(executable, grid);
  const bool alone = threads_ == 1 || count == 1 || expected < kWakeNs;
  const auto start = Clock::now();
  if (alone) {
    const FloatState floats;
    entry(arguments, grid, 0, count, scratch(0, bytes), 0);
  } else {
    parallel(count, 1, [&](uint64_t begin, uint64_t end, unsigned slot) {
      entry(arguments, grid, begin, end, scratch(slot, bytes), slot);
    });
  }
  const std::chrono::duration<double, std::nano> spent = Clock::now() - start;
  const double per_group = spent.count() * (alone ? 1 : threads_) / static_cast<double>(count);
  executable.set_workgroup_ns(static_cast<float>(per_group));
}

void Launcher::copy(std::byte* to, const std::byte* from, uint64_t size) {
  if (size <= 4 * kCopyChunk || threads_ == 1) {
    if (size) std::memmove(to, from, size);
    return;
  }
  parallel(size, kCopyChunk, [&](uint64_t begin, uint64_t end, unsigned) {
    std::memcpy(to + begin, from + begin, end - begin);
  });
}

void Launcher::fill(std::byte* to, uint64_t size, uint64_t pattern, uint32_t pattern_size) {
  if (size == 0) return;
  uint64_t word = 0;
  for (uint32_t at = 0; at < sizeof word; at += pattern_size)
    std::memcpy(reinterpret_cast<std::byte*>(&word) + at, &pattern, pattern_size);
  auto range = [&](uint64_t begin, uint64_t end, unsigned) {
    uint64_t at = begin;
    for (; at + sizeof word <= end; at += sizeof word) std::memcpy(to + at, &word, sizeof word);
    std::memcpy(to + at, &word, end - at);
  };
  // Ranges begin at multiples of the word, so the pattern is in step in each.
  const uint64_t words = size / sizeof word;
  if (size <= 4 * kCopyChunk || threads_ == 1) return range(0, size, 0);
  parallel(words, kCopyChunk / sizeof word, [&](uint64_t begin, uint64_t end, unsigned slot) {
    range(begin * sizeof word, end * sizeof word, slot);
  });
  range(words * sizeof word, size, 0);
}

double Launcher::estimated_ns(const CpuExecutable& executable, const uint32_t grid[3]) {
  const float one = executable.workgroup_ns();
  if (one == 0) return std::numeric_limits<double>::infinity();
  return double{one} * static_cast<double>(workgroups(grid));
}

double Launcher::estimated_copy_ns(uint64_t bytes) { return static_cast<double>(bytes) / 4; }

}  // namespace tenon::cpu
