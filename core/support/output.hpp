// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What programs print. Every text among the arguments is a stranger's until it says otherwise, so
// none reaches the terminal with its control characters; and what could not be written is a fault.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>

#include "core/support/printable.hpp"

namespace tenon {

/// Text with colours of ours; it is printed as it is.
struct Painted {
  std::string text;
};

/// Text of several lines, as a program or a report: line feeds and tabs stay.
struct Lines {
  std::string_view text;
};

/// True where standard output is a terminal and NO_COLOR is not set (no-color.org).
bool use_color();
/// A name in a terminal colour ("32" green, "31" red, "2" dim) if colours are used.
Painted paint(std::string_view text, const char* code);

template <class T>
auto shown(const T& value) {
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

/// Prints on standard output, texts by printable_line().
template <class... Args>
void say(fmt::format_string<decltype(tenon::shown(std::declval<const Args&>()))...> format,
         const Args&... args) {
  write_output(fmt::format(format, tenon::shown(args)...));
}

/// "program: message" on standard error; what follows a line feed is indented, so that no name can
/// begin a line.
void complain(std::string_view program, std::string_view message);

/// To be called first in main(): a standard descriptor that is closed would become the number of
/// the next file, which would then be printed into.
void open_standard_streams();

/// To be called last: `code`, or `fault` with a message if standard output was not written whole
/// and `code` is 0.
int finish_output(std::string_view program, int code, int fault);

}  // namespace tenon
