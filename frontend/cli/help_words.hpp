// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// "help" and "help COMMAND" are other words for "--help" and "COMMAND --help".
#pragma once

#include <string_view>
#include <vector>

namespace tenon::cli {

/// The words of a command line, the program's first, as CLI::App::parse takes them.
inline std::vector<const char*> with_help_words(int argc, char** argv) {
  std::vector<const char*> words(argv, argv + argc);
  if (words.size() < 2 || std::string_view(words[1]) != "help") return words;
  words.erase(words.begin() + 1);
  words.push_back("--help");
  return words;
}

}  // namespace tenon::cli
