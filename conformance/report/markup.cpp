// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/report/markup.hpp"

#include "core/support/error.hpp"

namespace tenon::conformance {

std::string escape_markup(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  return out;
}

std::string identifier(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.';
    out += plain ? std::string(1, c) : fmt::format("~{:02x}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace tenon::conformance
