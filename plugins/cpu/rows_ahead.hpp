// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which loads leave time to fetch the next row. A loop that goes over a row again, as softmax does
// after its maximum, has it from the nearest cache and computes, while memory has nothing to do:
// the processor's own prefetchers end at a page, and often a row does too.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "sdk/program/view.hpp"

namespace tenon::cpu {

/// Rows that lie apart are fetched by the first loop over them. By TAKE, one for each line of a
/// cache: bytes from what it loads to the same of the row that the loop around, or the grid along
/// x, has next.
std::unordered_map<uint32_t, uint64_t> rows_ahead(const sdk::ProgramView& program);

}  // namespace tenon::cpu
