// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs kernels, copies and fills over a device's threads. One caller at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "plugins/cpu/executable.hpp"

namespace tenon::cpu {

class Launcher {
 public:
  /// Never runs on more than `threads` threads, the caller's among them.
  explicit Launcher(unsigned threads);
  ~Launcher();

  void launch(const CpuExecutable& executable, const uint32_t grid[3],
              const sdk::HostArgument* arguments);
  void copy(std::byte* to, const std::byte* from, uint64_t size);
  void fill(std::byte* to, uint64_t size, uint64_t pattern, uint32_t pattern_size);

  /// An upper guess of the time; infinity where nothing is known.
  static double estimated_ns(const CpuExecutable& executable, const uint32_t grid[3]);
  static double estimated_copy_ns(uint64_t bytes);

 private:
  struct Workers;
  struct Scratch {
    std::unique_ptr<std::byte, void (*)(void*)> bytes{nullptr, nullptr};
    uint64_t size = 0;
  };
  using RangeBody = std::function<void(uint64_t begin, uint64_t end, unsigned slot)>;

  std::byte* scratch(unsigned slot, uint64_t size);
  /// work(slot) on all threads, each with a slot of its own, until all have returned.
  void run_on_all(const std::function<void(unsigned slot)>& work);
  /// Ranges of [0, count) in any order; small ones go to whichever thread is free.
  void parallel(uint64_t count, uint64_t smallest, const RangeBody& body);

  unsigned threads_;
  std::unique_ptr<Workers> workers_;  ///< none: threads are started each time
  std::vector<Scratch> scratch_;      ///< by slot in the arena
};

}  // namespace tenon::cpu
