// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Merges kernels that loop over the same shape into kernels with several outputs (producer-consumer
// and sibling fusion), and orders them.
#pragma once

#include <vector>

#include "core/schedule/cut.hpp"

namespace tenon::scheduling {

struct Unit {
  enum class Kind : uint8_t { kKernel, kStore, kCopy, kControl } kind = Kind::kKernel;
  std::vector<int> roots;      ///< nodes it defines; kControl: the IF or LOOP nodes of one call
  std::vector<int> sections;   ///< number of roots of each (horizontal_fusion.hpp); empty: one
  std::vector<CutRead> reads;  ///< materialised nodes, each once
  ReduceClass reduces;
  int size = 1;
  int reductions = 0;
  int level = 0;  ///< higher than that of every unit that it reads
};

struct Units {
  std::vector<Unit> units;   ///< in execution order
  std::vector<int> unit_of;  ///< unit that defines each materialised node; -1: a param or none
};

Units group(const SchedulerInput& input, const Cut& cut);

}  // namespace tenon::scheduling
