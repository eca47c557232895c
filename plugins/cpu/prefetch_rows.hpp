// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds loads that can prefetch the next row. A second loop over a row, as in softmax after its
// maximum, reads the row from cache while memory is idle. Hardware prefetchers stop at page
// boundaries, where a row often ends.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "sdk/program/view.hpp"

namespace tenon::cpu {

/// By TAKE op, one for each cache line: the distance in bytes to the same element of the next row,
/// which the surrounding loop or the grid along x visits next. For rows that are not adjacent,
/// loads of the first loop prefetch.
std::unordered_map<uint32_t, uint64_t> prefetch_rows(const sdk::ProgramView& program);

}  // namespace tenon::cpu
