// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a set of cases has tried: one coverage cell for each pair of ops with the one feeding the
// other, dtype between them, layout of the edge, and kind of transform. Cells have numbers, so that
// workers and reports can pass sets of them around.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/cases/case.hpp"

namespace tenon::conformance {

/// How many cells there are that a case can reach.
uint32_t coverage_size();
std::string coverage_name(uint32_t cell);  ///< "add > reduce.max f16 permuted"
/// The cells that a case reaches, ascending.
std::vector<uint32_t> coverage_of(const Case& test);

}  // namespace tenon::conformance
