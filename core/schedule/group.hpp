// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Merges kernels that loop over one shape into kernels with several outputs, and orders all input.
#pragma once

#include <vector>

#include "core/schedule/cut.hpp"

namespace tenon::scheduling {

struct Unit {
  enum class Kind : uint8_t { kKernel, kStore, kCopy, kControl } kind = Kind::kKernel;
  std::vector<int> roots;      ///< nodes it defines; kControl: the IF or LOOP nodes of one call
  std::vector<int> sections;   ///< roots of each section (side_by_side.hpp); empty: one
  std::vector<CutRead> reads;  ///< nodes with buffers, each once
  ReduceClass reduces;
  int size = 1;
  int reductions = 0;
  int level = 0;  ///< above every unit that it reads
};

struct Units {
  std::vector<Unit> units;   ///< in the order to run
  std::vector<int> unit_of;  ///< of each node with a buffer of its own; -1: a param or none
};

Units group(const SchedulerInput& input, const Cut& cut);

}  // namespace tenon::scheduling
