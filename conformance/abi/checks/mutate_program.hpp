// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Program blocks that are damaged in one place.
#pragma once

#include <string>

#include "conformance/cases/random.hpp"
#include "sdk/program/builder.hpp"

namespace tenon::conformance::abi::checks {

struct Mutant {
  sdk::Program program;  ///< total_size is never beyond the block
  std::string change;    ///< "op 4: operand 1 is 9000"
};

Mutant mutate_program(const sdk::Program& program, Random& random);

}  // namespace tenon::conformance::abi::checks
