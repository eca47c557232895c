// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One rule for numbers on command lines, of every program: CLI11 alone takes "-1" for 2^64 - 1,
// "010" for 8, what is too large for the largest there is, and NaN for a positive number.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>

#include "sdk/support/scanner.hpp"

namespace tenon::cli {

/// A check for options of integers: decimal digits without a sign, from `least` to `most`.
inline CLI::Validator whole_number(uint64_t least = 0, uint64_t most = UINT64_MAX) {
  return CLI::Validator(
      [=](std::string& text) -> std::string {
        const auto value = sdk::number_of<uint64_t>(text);
        if (value && *value >= least && *value <= most) {
          text = std::to_string(*value);  // CLI11 reads a leading 0 as octal
          return {};
        }
        return fmt::format("expected a whole number from {} to {}, got \"{}\"", least, most, text);
      },
      "");
}

/// Of as many as the integer `T` that it is read into has.
template <class T>
CLI::Validator whole_number_of(uint64_t least = 0) {
  return whole_number(least, static_cast<uint64_t>(std::numeric_limits<T>::max()));
}

/// A check for options of seconds and factors: a decimal number above 0, from `least` to `most`
/// (of seconds: thirty years).
inline CLI::Validator positive_number(double least = 0, double most = 1e9) {
  return CLI::Validator(
      [=](std::string& text) -> std::string {
        const auto value = sdk::number_of<double>(text);
        if (value && *value > 0 && *value >= least && *value <= most) return {};
        return fmt::format("expected a number {} {}, at most {}, got \"{}\"",
                           least > 0 ? "of at least" : "above", least, most, text);
      },
      "");
}

}  // namespace tenon::cli
