// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluates the integers of one subgroup, and so its addresses and conditions, with every loop at
// its middle iteration, which is typical.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sdk/program/view.hpp"

namespace tenon {

struct LaneValues {
  bool is_known = false;       ///< neither a loaded value nor a vector
  std::vector<uint64_t> bits;  ///< one a lane, zero-extended
};

struct SubgroupTrace {
  uint32_t subgroup = 0, width = 0;
  std::vector<LaneValues> values;  ///< of each op
  std::vector<uint64_t> active;    ///< lanes that run it, as bits
  std::vector<double> times;       ///< how often it runs: the trips of the loops around it
  std::vector<double> trips;       ///< of a LOOP, each time it runs

  /// A value as a signed number, for an active lane.
  int64_t number(const sdk::ProgramView& program, uint32_t value, uint32_t lane) const;
};

/// Coordinates of a workgroup by its linear index.
std::array<uint64_t, 3> place_of(uint64_t number, const std::array<uint64_t, 3>& grid);

/// Selects a subgroup of at most 64 threads.
struct SubgroupPlace {
  std::array<uint64_t, 3> workgroup{};
  uint32_t subgroup = 0, width = 32;
  uint32_t advanced = UINT32_MAX;  ///< this loop is one iteration past its middle
};

/// `scalars` has one entry for each param of the program; only those of SCALAR params are used.
SubgroupTrace trace_subgroup(const sdk::ProgramView& program, const SubgroupPlace& place,
                             const std::vector<uint64_t>& scalars);

}  // namespace tenon
