// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints and parses sequences.
#include "conformance/cases/abi/sequence.hpp"

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
    std::istringstream lines(step.text);
    for (std::string line; std::getline(lines, line);) text += "| " + line + "\n";
  }
  return text;
}

void parse_line(const std::string& line, Sequence& sequence) {
  if (line.starts_with("|")) {
    TN_REQUIRE(!sequence.steps.empty(), "[sequence] expected a step before \"{}\"", line);
    sequence.steps.back().text += line.substr(line.starts_with("| ") ? 2 : 1) + "\n";
    return;
  }
  std::istringstream words(line);
  std::string verb;
  if (!(words >> verb)) return;
  if (verb == "check") {
    words >> sequence.check;
    return;
  }
  SequenceStep step{verb, {}};
  for (int64_t number; words >> number;) step.numbers.push_back(number);
  TN_REQUIRE(words.eof(), "[sequence] expected a verb and numbers, got \"{}\"", line);
  sequence.steps.push_back(std::move(step));
}

Sequence parse_sequence(std::string_view text) {
  Sequence out;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) parse_line(line, out);
  return out;
}

}  // namespace tenon::conformance
