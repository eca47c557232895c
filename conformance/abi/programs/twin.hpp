// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that is another but for one thing: a bit of a constant, an op, the order of operands, a
// buffer for another, the workgroup. What tells programs apart must tell these apart too.
#pragma once

#include <string>

#include "conformance/cases/random.hpp"
#include "sdk/program/builder.hpp"

namespace tenon::conformance::abi::programs {

struct Twin {
  sdk::Program program;  ///< verified; empty where what was drawn is no program
  std::string change;    ///< as "op 7: min for max"
};

Twin draw_twin(const sdk::Program& program, Random& random);

}  // namespace tenon::conformance::abi::programs
