// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Renames the params and symbols of a kernel, so that kernels equal but for names are one.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "core/ir/build.hpp"

namespace tenon {

struct CanonicalKernel {
  Graph graph;                                ///< params in0, in1, ..., symbols n0, n1, ...
  std::map<std::string, Expr> symbols;        ///< n0, n1, ... to the kernel's symbols
  std::map<std::string, std::string> params;  ///< in0, in1, ... to the kernel's params
};

/// Smallest and largest value of each symbol, by name.
using SymbolRanges = std::map<std::string, std::pair<int64_t, int64_t>>;

/// Kernels that differ in names alone give the same nodes: comparing pointers compares structures.
/// `kernel` is a kernel of a schedule, without regions. A symbol in `within` gets those bounds, or
/// becomes a constant if they are equal.
CanonicalKernel canonical_kernel(const Graph& kernel, Builder& builder,
                                 const SymbolRanges& within = {});

}  // namespace tenon
