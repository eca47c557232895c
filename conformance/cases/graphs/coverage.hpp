// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a set of cases has tried. A coverage cell is an edge of a graph (one op feeds another: which
// two, the dtype between them, the layout of the edge), or two ops of which one feeds the other
// under a kind of transform. Cells have numbers, so that workers and reports can pass sets of them
// around.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/cases/case.hpp"

namespace tenon::conformance::graphs {

/// How many cells there are that a case can reach.
uint32_t coverage_size();
std::string coverage_name(uint32_t cell);  ///< "add > reduce.max f16 permuted", "add > mul, split"
/// The cells that a case reaches, ascending. The kinds of transforms are read from
/// Case::transforms: of a case whose transforms come from a seed, whoever drew them writes them
/// there first.
std::vector<uint32_t> coverage_of(const Case& test);

/// The cell that graph number `ordinal` aims at: an edge, another one for each number until all
/// have had their turn. The next three that follow from it are aimed at too.
uint32_t coverage_aim(uint64_t seed, uint64_t ordinal);
inline constexpr uint32_t kAims = 4;
uint32_t next_aim(uint32_t cell);

}  // namespace tenon::conformance::graphs
