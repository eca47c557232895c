// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints and parses sequences.
#include "conformance/cases/abi/sequence.hpp"

#include <sstream>

#include "core/support/error.hpp"
#include "sdk/support/scanner.hpp"

namespace tenon::conformance::abi {

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
  sdk::Scanner words(line);
  const std::string verb(words.word());
  if (verb.empty()) return;
  if (verb == "check") {
    sequence.check = words.word();
    return;
  }
  SequenceStep step{verb, {}};
  while (!words.at_end()) {
    const auto number = sdk::number_of<int64_t>(words.word());
    TN_REQUIRE(number, "[sequence] expected a verb and numbers, got \"{}\"", line);
    step.numbers.push_back(*number);
  }
  sequence.steps.push_back(std::move(step));
}

Sequence parse_sequence(std::string_view text) {
  Sequence out;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) parse_line(line, out);
  return out;
}

}  // namespace tenon::conformance::abi
