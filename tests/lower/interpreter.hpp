// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a program one op at a time with the threads of a workgroup in lockstep. For tests: every
// access is checked against its buffer, a barrier that not all threads meet is an error, and
// fresh memory is poisoned.
#pragma once

#include <map>

#include "core/lower/lower.hpp"
#include "core/reference/reference.hpp"

namespace tenon::test {

/// Inputs in the order of graph.params; gives the outputs. Throws std::runtime_error on any access
/// that a device need not survive. `most_trips`: of one thread's loops, the looks at their ends
/// too.
std::vector<Array> run(const LoweredKernel& kernel, const Graph& graph,
                       const std::vector<int>& alias, const std::vector<Array>& inputs,
                       const SymbolValues& symbols, const std::vector<MatrixAtom>& atoms = {},
                       int64_t* most_trips = nullptr);

}  // namespace tenon::test
