// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Predicts the cost of a kernel on a device that need not be present. Counts the program, its
// launch and the compiler's report, and compares them with the rates in the properties of the
// device.
//
// The predicted time is the largest of four bounds: the pipes of a multiprocessor, latency that too
// few workgroups hide, the cache, and memory. docs/budget.md describes the model and its errors.
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

/// Resources of a compiled kernel, as its compiler reports them. 0: unknown.
struct CompiledSize {
  uint32_t registers = 0, spills = 0, shared_bytes = 0;
};

struct BudgetLaunch {
  std::array<uint64_t, 3> grid{1, 1, 1};
  std::vector<uint64_t> scalars;  ///< one for each param of the program
  CompiledSize compiled;
};

/// Seconds for which the launch keeps one resource busy.
struct Bound {
  std::string name;
  double seconds = 0;
};

struct Budget {
  std::string name;
  std::array<uint64_t, 3> grid{};
  std::array<uint32_t, 3> workgroup{};
  CompiledSize compiled;
  uint32_t resident = 0;    ///< workgroups resident on a multiprocessor
  std::string resident_by;  ///< the resource that limits them
  double occupancy = 0;     ///< resident threads, as a share of the maximum
  double waves = 0;         ///< workgroups divided by all resident ones
  Work work;                ///< of one workgroup
  Waits waits;
  std::vector<AccessCost> accesses;
  double cache_bytes = 0, memory_bytes = 0;  ///< of the launch
  std::vector<Bound> bounds;                 ///< the longest first
  double seconds = 0;
};

/// Throws kUnsupported if the properties of the device have no rates.
Budget budget_of(const sdk::ProgramView& program, const BudgetLaunch& launch,
                 const Capabilities& device);

/// Peak rate of the matrix units on 16-bit floats, in operations a second; a multiply-add counts as
/// two. 0: unknown.
double matrix_peak(const Capabilities& device);

}  // namespace tenon
