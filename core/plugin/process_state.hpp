// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Process state that plugins must not change. Probes and the conformance tool compare it before and
// after calls of a plugin.
#pragma once

#include <sched.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

namespace tenon {

struct ProcessState {
  /// The state of the process and of the calling thread.
  static ProcessState now();
  /// The state that is cheap to read: directory, locale, signals, rounding and floating point
  /// control. Other fields are equal in all results.
  static ProcessState of_calls();
  /// Sets umask and signals to their defaults, as a parent passes on ignored and blocked signals.
  static void make_plain();
  /// Restores directory, locale, umask, blocked signals, rounding and floating point control.
  void put_back() const;

  std::string directory, locale;
  unsigned umask = 0;
  std::array<uintptr_t, 12> handlers{};  ///< handlers of signals that belong to the program
  std::array<bool, 65> blocked{};
  cpu_set_t processors{};  ///< on which the thread may run
  int rounding = 0;
  uint64_t float_control = 0;  ///< traps, treatment of subnormals, x87 precision
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

/// Floating point control of the calling thread: traps, rounding, treatment of subnormals, on x86
/// also the x87 precision. 0 if unknown.
uint64_t float_control();
void set_float_control(uint64_t control);

/// The first difference, as "the working directory: expected /a, got /b"; "" if there is none. New
/// environment variables are allowed, unless other code acts upon their names (LD_, LC_, TENON_,
/// ..).
std::string difference(const ProcessState& before, const ProcessState& after);

}  // namespace tenon
