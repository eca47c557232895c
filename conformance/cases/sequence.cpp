// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Draws, prints and parses sequences.
#include "conformance/cases/sequence.hpp"

#include <sstream>

#include "core/support/error.hpp"

namespace tenon::conformance {

const std::vector<std::string>& abi_checks() {
  static const std::vector<std::string> names;
  return names;
}

Sequence draw_sequence(Choices&) { return {}; }

std::string print(const Sequence& sequence) {
  std::string text;
  if (!sequence.check.empty()) text += "check " + sequence.check + "\n";
  for (const SequenceStep& step : sequence.steps)
    text += fmt::format("{} {}\n", step.verb, fmt::join(step.numbers, " "));
  return text;
}

Sequence parse_sequence(std::string_view text) {
  Sequence out;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string verb;
    if (!(words >> verb)) continue;
    if (verb == "check") {
      words >> out.check;
      continue;
    }
    SequenceStep step{verb, {}};
    for (int64_t number; words >> number;) step.numbers.push_back(number);
    TN_REQUIRE(words.eof(), "[sequence] expected a verb and numbers, got \"{}\"", line);
    out.steps.push_back(std::move(step));
  }
  return out;
}

}  // namespace tenon::conformance
