// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What one workgroup of a kernel does: instructions by the unit that runs them, and how long it
// takes where nothing waits for a unit.
#pragma once

#include <cstdint>
#include <map>

#include "core/budget/subgroup_trace.hpp"
#include "core/ir/capabilities.hpp"
#include "sdk/program/op_info.hpp"
#include "sdk/program/view.hpp"

namespace tenon {

/// Sums over the subgroups of a workgroup. Estimated from the program: a compiler folds constants,
/// moves what does not change out of loops and keeps addresses in few registers, and so is counted
/// what it leaves.
struct Work {
  double issues = 0;   ///< instructions of a subgroup, of any unit
  double floats = 0;   ///< arithmetic of a thread on f32 and narrower floats
  double doubles = 0;  ///< on f64
  double integers = 0;
  double specials = 0;   ///< roots, powers, logarithms, angles, quotients
  double exchanges = 0;  ///< of a subgroup's values among its threads
  double barriers = 0;
  std::map<uint32_t, double>
      atoms;  ///< matrix products, by the atom's id; of several subgroups: once

  Work& operator+=(const Work& other);
};

/// Of one subgroup.
Work count_work(const sdk::ProgramView& program, const SubgroupTrace& trace,
                const Capabilities& device);

/// Roots, powers, logarithms, angles, quotients.
bool is_special(const sdk::OpInfo& info);

/// How many trips of a loop start together: compilers unroll a body without loops and barriers in
/// it.
double unrolled_trips(const sdk::ProgramView& program, const SubgroupTrace& trace, uint32_t loop,
                      uint32_t close);

/// Clocks that one subgroup takes alone.
struct Waits {
  double path = 0;    ///< the longest chain of values
  double memory = 0;  ///< of it, waiting for memory and barriers, which its neighbours see too
};
/// `misses`: as in Traffic. `busy`: clocks that the units are busy with its workgroup and those
/// that run beside it, in which copies that were begun early arrive.
Waits longest_path(const sdk::ProgramView& program, const SubgroupTrace& trace, const Rates& rates,
                   const std::map<uint32_t, double>& misses, double busy);

}  // namespace tenon
