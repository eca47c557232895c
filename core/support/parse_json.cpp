// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/support/parse_json.hpp"

#include "core/support/error.hpp"

namespace tenon {

void check_json_depth(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string) {
      if (c == '\\') ++at;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      TN_REQUIRE(++depth <= kMostJsonDepth,
                 "[json] byte {}: expected arrays and objects at most {} deep, got more", at,
                 kMostJsonDepth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
}

}  // namespace tenon
