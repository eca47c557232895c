// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What of a process belongs to its program, and no plugin may change. Probes and the conformance
// tool look at it before and after they call a plugin.
#pragma once

#include <sched.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

namespace tenon {

struct ProcessState {
  /// Of the process, and of the thread that asks.
  static ProcessState now();
  /// What costs little to look at: directory, locale, signals, rounding and floating point control.
  /// The rest is as it is in any other of these.
  static ProcessState of_calls();
  /// As a program finds it that nobody has touched: a parent hands down what it ignores.
  static void make_plain();
  /// Puts back directory, locale, umask, blocked signals, rounding and floating point control.
  void put_back() const;

  std::string directory, locale;
  unsigned umask = 0;
  std::array<uintptr_t, 12> handlers{};  ///< of the signals that belong to the program
  std::array<bool, 65> blocked{};
  cpu_set_t processors{};  ///< on which the thread may run
  int rounding = 0;
  uint64_t float_control = 0;  ///< traps, what happens to subnormals, x87 precision
  struct Stream {
    bool is_open = false;
    uint64_t device = 0, file = 0;
    int flags = 0;
    bool operator==(const Stream&) const = default;
  };
  std::array<Stream, 3> streams;       ///< descriptors 0 to 2
  std::vector<std::string> variables;  ///< of the environment, as NAME=value
  bool alarm = false;                  ///< a timer will send SIGALRM
};

/// Of the calling thread: traps, rounding, what happens to subnormals, on x86 also the precision of
/// x87 sums; 0 where it is not known.
uint64_t float_control();
void set_float_control(uint64_t control);

/// The first difference, as "the working directory: expected /a, got /b"; "" if there is none. New
/// variables under a name of the plugin's own are none.
std::string difference(const ProcessState& before, const ProcessState& after);

}  // namespace tenon
