// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long one piece of work may take. On a machine with more work than processors a process that
// is ready to run waits for one, and that time is not its own: the limit moves by it, up to
// kPatience times itself. One that sleeps, or waits for a device, gains nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>

namespace tenon::conformance::worker {

/// Of one thread.
struct ProcessorTime {
  uint64_t ran = 0, waited = 0;  ///< nanoseconds; a wait counts when it ends
  bool is_ready = false;         ///< runs, or waits for a processor
};
/// By thread; nothing where the system does not count.
std::map<int, ProcessorTime> processor_times(int pid);

class Watchdog {
 public:
  static constexpr double kPatience = 4;

  void expect_within(double seconds);
  double seconds_left() const;  ///< until somebody should ask `is_late`
  /// From time to time; the first look at a piece of work that lasts is where counting begins.
  void look(int pid);
  bool is_late(int pid);

 private:
  using Clock = std::chrono::steady_clock;
  double passed() const;

  Clock::time_point begin_, deadline_;
  double limit_ = 0;
  bool counts_ = false;
  std::map<int, ProcessorTime> before_;
};

}  // namespace tenon::conformance::worker
