// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text of strangers made safe for HTML and XML.
#pragma once

#include <string>
#include <string_view>

namespace tenon::conformance {

/// As valid UTF-8: control characters are shown as their pictures (U+2400 and on), bytes that are
/// no UTF-8 and characters that turn the direction of text as U+FFFD. Line feeds stay, and tabs.
std::string printable(std::string_view text);

/// printable, with &, <, > and both quotes as HTML and XML want them.
std::string escape_markup(std::string_view text);

/// As an id or a word of a class: letters, digits, '-', '_' and '.', the rest by its code.
std::string identifier(std::string_view text);

}  // namespace tenon::conformance
