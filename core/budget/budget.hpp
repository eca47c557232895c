// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel may cost on a device that need not be there: counted from its program, its launch
// and what its compiler said, against the rates that the device's plugin tells.
//
// The time is that of the slowest of: the units of one multiprocessor, its waits where too few
// workgroups hide them, the cache, the memory. docs/budget.md has the model, and how far it was
// from what was measured.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/budget/accesses.hpp"
#include "core/budget/work.hpp"
#include "core/ir/capabilities.hpp"
#include "sdk/program/view.hpp"

namespace tenon {

/// What the compiler made of it. 0: it does not say.
struct CompiledSize {
  uint32_t registers = 0, spills = 0, shared_bytes = 0;
};

struct BudgetLaunch {
  std::array<uint64_t, 3> grid{1, 1, 1};
  std::vector<uint64_t> scalars;  ///< one a param of the program
  CompiledSize compiled;
};

/// Seconds that one resource is busy with the whole launch.
struct Bound {
  std::string name;
  double seconds = 0;
};

struct Budget {
  std::string name;
  std::array<uint64_t, 3> grid{};
  std::array<uint32_t, 3> workgroup{};
  CompiledSize compiled;
  uint32_t resident = 0;    ///< workgroups that a unit holds at once
  std::string resident_by;  ///< what limits that
  double occupancy = 0;     ///< threads of them, of those that a unit holds
  double waves = 0;         ///< workgroups, by those of all units
  Work work;                ///< of one workgroup
  Waits waits;
  std::vector<AccessCost> accesses;
  double cache_bytes = 0, memory_bytes = 0;  ///< of the launch
  std::vector<Bound> bounds;                 ///< the longest first
  double seconds = 0;
};

/// Throws kUnsupported if the device tells no rates.
Budget budget_of(const sdk::ProgramView& program, const BudgetLaunch& launch,
                 const Capabilities& device);

/// Operations a second, at most, of the matrix units on 16-bit floats; a multiply-add is two. 0:
/// unknown.
double matrix_peak(const Capabilities& device);

}  // namespace tenon
