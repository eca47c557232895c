// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs kernels, copies and fills over a device's threads.
#include "plugins/cpu/launcher.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "sdk/support/float_state.hpp"

namespace tenon::cpu {
namespace {

/// Shorter work ends before a second thread is awake.
constexpr double kWakeNs = 20'000;
/// Shorter work ends before another awake thread takes its share.
constexpr double kShareNs = 2'000;
constexpr uint64_t kCopyChunk = 1 << 20, kLargeCopy = 4 * kCopyChunk;
/// Parts for each thread: more balance the load, fewer cost less.
constexpr uint64_t kPartsPerThread = 8;

constexpr double kCopyBytesPerNs = 4;

uint64_t workgroups(const uint32_t grid[3]) { return uint64_t{grid[0]} * grid[1] * grid[2]; }

double expected_ns(const CpuExecutable& executable, const uint32_t grid[3]) {
  const float one = executable.workgroup_ns();
  if (one == 0) return std::numeric_limits<double>::infinity();
  return double{one} * static_cast<double>(workgroups(grid));
}

bool is_for_many(const sdk::HostCommand& command) {
  if (command.kind != TN_COMMAND_LAUNCH) return command.size > kLargeCopy;
  return workgroups(command.grid) > 1 &&
         expected_ns(executable_of(command), command.grid) >= kShareNs;
}

}  // namespace

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

template <class Body>
void Launcher::parallel(uint64_t count, uint64_t smallest, const Body& body) {
  team_.run(count, std::max(smallest, count / (team_.threads() * kPartsPerThread)), body);
}

void Launcher::announce(std::span<const sdk::HostCommand> commands) {
  if (team_.threads() == 1 || team_.is_awake()) return;
  double shared = 0;
  for (const sdk::HostCommand& command : commands)
    if (is_for_many(command)) shared += estimated_ns(command);
  if (shared >= kWakeNs) team_.wake();
}

void Launcher::launch(const CpuExecutable& executable, const uint32_t grid[3],
                      const sdk::HostArgument* arguments) {
  using Clock = std::chrono::steady_clock;
  const uint64_t count = workgroups(grid);
  if (count == 0) return;
  const KernelEntry entry = executable.entry();
  const uint64_t bytes = executable.scratch_bytes();
  const double expected = expected_ns(executable, grid);
  const double least = team_.is_awake() ? kShareNs : kWakeNs;
  const bool alone = team_.threads() == 1 || count == 1 || expected < least;
  const auto start = Clock::now();
  const sdk::FloatState floats;
  if (alone) {
    entry(arguments, grid, 0, count, scratch(0, bytes), 0);
  } else {
    parallel(count, 1, [&](uint64_t begin, uint64_t end, unsigned slot) {
      entry(arguments, grid, begin, end, scratch(slot, bytes), slot);
    });
  }
  const std::chrono::duration<double, std::nano> spent = Clock::now() - start;
  const double per_group =
      spent.count() * (alone ? 1 : team_.threads()) / static_cast<double>(count);
  executable.set_workgroup_ns(static_cast<float>(per_group));
}

void Launcher::copy(std::byte* to, const std::byte* from, uint64_t size) {
  if (size <= kLargeCopy || team_.threads() == 1) {
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
  // Ranges begin at multiples of the word, so each starts with the whole pattern.
  const uint64_t words = size / sizeof word;
  if (size <= kLargeCopy || team_.threads() == 1) return range(0, size, 0);
  parallel(words, kCopyChunk / sizeof word, [&](uint64_t begin, uint64_t end, unsigned slot) {
    range(begin * sizeof word, end * sizeof word, slot);
  });
  range(words * sizeof word, size, 0);
}

double Launcher::estimated_ns(const sdk::HostCommand& command) {
  return command.kind == TN_COMMAND_LAUNCH ? expected_ns(executable_of(command), command.grid)
                                           : static_cast<double>(command.size) / kCopyBytesPerNs;
}

}  // namespace tenon::cpu
