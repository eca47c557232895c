// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What of a process belongs to its program, and no plugin may change.
#pragma once

#include <array>
#include <csignal>
#include <cstdint>
#include <string>

namespace tenon::conformance {

struct ProcessState {
  /// Of the process, and of the thread that asks.
  static ProcessState now();
  /// As a program finds it that nobody has touched: a parent hands down what it ignores.
  static void make_plain();

  std::string directory, locale;
  unsigned umask = 0;
  std::array<uintptr_t, 12> handlers{};  ///< of the signals that belong to the program
  std::array<bool, 65> blocked{};
  int rounding = 0;
  uint64_t float_control = 0;  ///< traps, and what happens to subnormals
};

/// The first difference, as "the working directory: expected /a, got /b"; "" if there is none.
std::string difference(const ProcessState& before, const ProcessState& after);

}  // namespace tenon::conformance
