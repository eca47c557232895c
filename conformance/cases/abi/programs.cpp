// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/cases/abi/programs.hpp"

#include <algorithm>

#include "conformance/cases/abi/patterns/made_program.hpp"
#include "core/support/error.hpp"
#include "sdk/program/text.hpp"

namespace tenon::conformance::abi {

Sequence draw_programs(Choices& choices) {
  Sequence out;
  const int64_t count = choices.between(1, 4);
  for (int64_t i = 0; i < count; ++i) {
    const Choices::Scope scope(choices, Part::kNode);
    out.steps.push_back(draw_program(choices, i == 0));
  }
  return out;
}

bool is_made_program(const SequenceStep& step) { return find_atom_family(step.verb) != nullptr; }

bool is_programs(const Sequence& sequence) {
  return !sequence.steps.empty() &&
         std::ranges::all_of(sequence.steps, [](const SequenceStep& step) {
           return is_program(step) || is_made_program(step);
         });
}

sdk::Program program_of(const SequenceStep& step) {
  std::string error;
  sdk::Program program = sdk::parse_program(step.text, error);
  TN_REQUIRE(error.empty(), "[program] expected a program: {}", error);
  return program;
}

}  // namespace tenon::conformance::abi
