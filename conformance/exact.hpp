// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the outputs whose value no order of additions can change: where all terms are multiples of
// one power of two and their sum fits the accumulator. There a reduction must be right to the bit.
#pragma once

#include <vector>

#include "conformance/case.hpp"

namespace tenon::conformance {

/// True if a reduction or an adding store works on floats: else intervals say all there is to say.
bool has_float_sums(const Graph& graph);

/// For each output: is its value pinned? Zeros may differ in sign.
std::vector<bool> pinned_outputs(const Case& test);

}  // namespace tenon::conformance
