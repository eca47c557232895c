// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/emulated/edit.hpp"

#include <cstdlib>
#include <regex>
#include <sstream>

namespace tenon::emulated {

std::string edited(std::string source) {
  const char* wanted = std::getenv("TENON_EMULATED_EDIT");
  if (!wanted) return source;
  std::istringstream edit(wanted), in(source);
  std::string pattern, replacement, which, line, out;
  std::getline(edit, pattern);
  std::getline(edit, replacement);
  std::getline(edit, which);
  const std::regex fits(pattern);
  const int only = std::atoi(which.c_str());
  for (int found = 0; std::getline(in, line); out += "\n") {
    const bool is_edited = std::regex_search(line, fits) && (++found == only || only == 0);
    out += is_edited ? std::regex_replace(line, fits, replacement) + "  // edited" : line;
  }
  return out;
}

}  // namespace tenon::emulated
