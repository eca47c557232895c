// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints and parses sequences.
#include "conformance/cases/sequence.hpp"

#include <sstream>

#include "core/support/error.hpp"

namespace tenon::conformance {

std::string print(const Sequence& sequence) {
  std::string text;
  if (!sequence.check.empty()) text += "check " + sequence.check + "\n";
  for (const SequenceStep& step : sequence.steps) {
    text += step.verb;
    for (const int64_t number : step.numbers) text += fmt::format(" {}", number);
    text += "\n";
  }
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
