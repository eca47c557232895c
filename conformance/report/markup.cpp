// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/report/markup.hpp"

#include "core/support/error.hpp"

namespace tenon::conformance::report {

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

}  // namespace tenon::conformance::report
