// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text of strangers (names of graphs, plugins, devices and files) made safe to show.
#pragma once

#include <string>
#include <string_view>

namespace tenon {

/// As valid UTF-8: control characters are shown as their pictures (U+2400 and on), bytes that are
/// no UTF-8 and characters that turn the direction of text as U+FFFD. Line feeds stay, and tabs.
std::string printable(std::string_view text);

/// A name, which is on one line: line feeds and tabs are shown as pictures too.
std::string printable_line(std::string_view text);

/// JSON as ASCII text; what is no UTF-8 becomes U+FFFD. Of nlohmann's types.
template <class Json>
std::string json_text(const Json& json, int indent = 2) {
  return json.dump(indent, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}

}  // namespace tenon
