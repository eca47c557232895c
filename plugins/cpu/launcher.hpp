// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs kernels, copies and fills over a device's threads. One caller at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "plugins/cpu/executable.hpp"
#include "plugins/cpu/team.hpp"

namespace tenon::cpu {

class Launcher {
 public:
  /// Uses at most `threads` threads, including the caller.
  Launcher(unsigned threads, std::function<void()> before_sleep)
      : team_(threads, std::move(before_sleep)), scratch_(threads) {}

  /// Whether some thread is awake and will call before_sleep.
  bool is_awake() const { return team_.is_awake(); }

  /// Announces the next commands: wakes threads if that pays.
  void announce(std::span<const sdk::HostCommand> commands);
  void launch(const CpuExecutable& executable, const uint32_t grid[3],
              const sdk::HostArgument* arguments);
  void copy(std::byte* to, const std::byte* from, uint64_t size);
  void fill(std::byte* to, uint64_t size, uint64_t pattern, uint32_t pattern_size);

  /// An estimated upper bound of the time; infinity if unknown.
  static double estimated_ns(const sdk::HostCommand& command);

 private:
  struct Scratch {
    std::unique_ptr<std::byte, void (*)(void*)> bytes{nullptr, nullptr};
    uint64_t size = 0;
  };

  std::byte* scratch(unsigned slot, uint64_t size);
  /// Runs `body` on ranges of [0, count) in any order, none smaller than `smallest`.
  template <class Body>
  void parallel(uint64_t count, uint64_t smallest, const Body& body);

  Team team_;
  std::vector<Scratch> scratch_;  ///< by slot in the team
};

}  // namespace tenon::cpu
