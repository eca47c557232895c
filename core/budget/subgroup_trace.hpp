// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the threads of one subgroup have as integers, so as addresses and conditions, when every
// loop is in the middle of its trips: where a kernel spends its time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sdk/program/view.hpp"

namespace tenon {

struct LaneValues {
  bool is_known = false;       ///< not what memory says, and not a vector
  std::vector<uint64_t> bits;  ///< one a lane, zero-extended
};

struct SubgroupTrace {
  uint32_t subgroup = 0, width = 0;
  std::vector<LaneValues> values;  ///< of each op
  std::vector<uint64_t> active;    ///< lanes that run it, as bits
  std::vector<double> times;       ///< how often it runs: the trips of the loops around it
  std::vector<double> trips;       ///< of a LOOP, each time that it is met

  /// A value as a signed number; `lane` is one that is active.
  int64_t number(const sdk::ProgramView& program, uint32_t value, uint32_t lane) const;
};

/// Where a workgroup stands, by its number.
std::array<uint64_t, 3> place_of(uint64_t number, const std::array<uint64_t, 3>& grid);

/// Which subgroup, of at most 64 threads.
struct SubgroupPlace {
  std::array<uint64_t, 3> workgroup{};
  uint32_t subgroup = 0, width = 32;
  uint32_t advanced = UINT32_MAX;  ///< this loop is one trip further than in the middle
};

/// `scalars` has a value for each param of the program, of use where it is a SCALAR.
SubgroupTrace trace_subgroup(const sdk::ProgramView& program, const SubgroupPlace& place,
                             const std::vector<uint64_t>& scalars);

}  // namespace tenon
