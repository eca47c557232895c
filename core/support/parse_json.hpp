// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// JSON that somebody else may have written (nlohmann's types): nested no deeper than what copies,
// prints and compares it by recursion can bear.
#pragma once

#include <string_view>

namespace tenon {

inline constexpr int kMostJsonDepth = 64;

/// Throws kInvalid with the byte where arrays and objects are nested deeper than kMostJsonDepth.
void check_json_depth(std::string_view text);

/// Throws as check_json_depth does, and Json::exception for what is no JSON.
template <class Json>
Json parse_json(std::string_view text) {
  check_json_depth(text);
  return Json::parse(text);
}

}  // namespace tenon
