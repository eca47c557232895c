// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The words that name cells: what a line of expectations may say.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace tenon::conformance::graphs {

/// Every Cell::op that a case may have: ops, "cast.i8", "reduce.max", "graph", "api.*", "memory.*".
const std::set<std::string, std::less<>>& cell_ops();
/// Whether a Cell::dtype may be it: a dtype, or "-" of cells without one.
bool is_cell_dtype(std::string_view name);

}  // namespace tenon::conformance::graphs
