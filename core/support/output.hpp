// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Output of programs. Text arguments are untrusted unless marked, so control characters never reach
// the terminal. A failed write is an error.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>

#include "core/support/printable.hpp"

namespace tenon {

/// Trusted text with colour codes, printed as it is.
struct Painted {
  std::string text;
};

/// Text of several lines: line feeds and tabs stay.
struct Lines {
  std::string_view text;
};

/// True where standard output is a terminal and NO_COLOR is not set (no-color.org).
bool use_color();
/// A name in a terminal colour ("32" green, "31" red, "2" dim) if colours are used.
Painted paint(std::string_view text, const char* code);

template <class T>
auto to_printable(const T& value) {
  if constexpr (std::same_as<T, Painted>) {
    return value.text;
  } else if constexpr (std::same_as<T, Lines>) {
    return printable(value.text);
  } else if constexpr (std::convertible_to<const T&, std::string_view>) {
    return printable_line(value);
  } else {
    return value;
  }
}

void write_output(std::string_view text);

/// Prints on standard output. Text arguments go through printable_line().
template <class... Args>
void say(fmt::format_string<decltype(tenon::to_printable(std::declval<const Args&>()))...> format,
         const Args&... args) {
  write_output(fmt::format(format, tenon::to_printable(args)...));
}

/// Prints "program: message" on standard error. Further lines are indented, so that untrusted text
/// cannot begin a line.
void complain(std::string_view program, std::string_view message);

/// Call first in main(). Opens standard descriptors that are closed; else the next file opened
/// would get such a number and be printed into.
void open_standard_streams();

/// Call last in main(). Returns `code`, or prints a message and returns `fault` if `code` is 0 and
/// standard output was not fully written.
int finish_output(std::string_view program, int code, int fault);

}  // namespace tenon
