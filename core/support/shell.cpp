// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/support/shell.hpp"

namespace tenon {

std::string shell_word(const std::string& word) {
  if (!word.empty() && word.find_first_of(" \t\n\"'\\$&|;<>()*?[]{}#~`!") == word.npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace tenon
