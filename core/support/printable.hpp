// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes untrusted text (names of graphs, plugins, devices and files) safe to print.
#pragma once

#include <string>
#include <string_view>

namespace tenon {

/// Valid UTF-8. Control characters become their pictures (from U+2400), invalid bytes and
/// characters that change the direction of text become U+FFFD. Line feeds and tabs stay.
std::string printable(std::string_view text);

/// The same for one line: line feeds and tabs become pictures too.
std::string printable_line(std::string_view text);

/// The first `most` bytes, less where they would cut a character, with "..." where there is more.
std::string shortened_text(std::string_view text, size_t most);

/// JSON (nlohmann) as ASCII text. Invalid UTF-8 becomes U+FFFD.
template <class Json>
std::string json_text(const Json& json, int indent = 2) {
  return json.dump(indent, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}

}  // namespace tenon
