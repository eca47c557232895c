// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a lowered kernel in the conformance tool's model of programs, which refuses races, accesses
// outside of buffers and barriers that not all threads reach; here with matrix atoms, dot products
// and asynchronous copies too.
#pragma once

#include "core/lower/lower.hpp"
#include "core/reference/reference.hpp"

namespace tenon::test {

/// Inputs in the order of graph.params; gives the outputs. Throws Error (kInvalid) on any access
/// that a device need not survive. `most_trips`: of one thread's loops, the looks at their ends
/// too.
std::vector<Array> run(const LoweredKernel& kernel, const Graph& graph,
                       const std::vector<int>& alias, const std::vector<Array>& inputs,
                       const SymbolValues& symbols, const std::vector<MatrixAtom>& atoms = {},
                       int64_t* most_trips = nullptr);

}  // namespace tenon::test
