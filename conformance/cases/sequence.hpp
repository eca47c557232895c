// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layer 4: a sequence of calls of the plugin ABI, or one named check of its rules.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/cases/choices.hpp"

namespace tenon::conformance {

/// One call with its numbers; what they mean is the verb's affair.
struct SequenceStep {
  std::string verb;  ///< "allocate", "fill", "copy", "launch", "map", "signal", "wait", "free", ...
  std::vector<int64_t> numbers;
};

struct Sequence {
  std::string check;  ///< a named check of the ABI's rules; "" for steps
  std::vector<SequenceStep> steps;
};

/// Names of the checks, in a fixed order: cells "api.<name>".
const std::vector<std::string>& abi_checks();

Sequence draw_sequence(Choices& choices);

/// One line a step, and back. Parsing throws kInvalid with the line.
std::string print(const Sequence& sequence);
Sequence parse_sequence(std::string_view text);

}  // namespace tenon::conformance
