// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One kernel without the names that its graph gave it.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "core/ir/build.hpp"

namespace tenon {

struct CanonicalKernel {
  Graph graph;                                ///< params in0, in1, ..., symbols n0, n1, ...
  std::map<std::string, Expr> symbols;        ///< what n0, n1, ... are called by the kernel
  std::map<std::string, std::string> params;  ///< and in0, in1, ...
};

/// Least and largest values of symbols by their names.
using SymbolRanges = std::map<std::string, std::pair<int64_t, int64_t>>;

/// Kernels that differ in names alone become the very same nodes, so comparing pointers compares
/// structures. `kernel` is a kernel of a schedule: without regions. A symbol that `within` names
/// gets these bounds, or is a constant where they are equal.
CanonicalKernel canonical_kernel(const Graph& kernel, Builder& builder,
                                 const SymbolRanges& within = {});

}  // namespace tenon
