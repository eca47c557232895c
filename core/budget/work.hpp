// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The work of one workgroup: instructions by pipe, and latency if no pipe is busy.
#pragma once

#include <cstdint>
#include <map>

#include "core/budget/subgroup_trace.hpp"
#include "core/ir/capabilities.hpp"
#include "sdk/program/op_info.hpp"
#include "sdk/program/view.hpp"

namespace tenon {

/// Sums over the subgroups of a workgroup. Estimates what a compiler leaves: constants are folded,
/// invariants leave loops, addresses stay in few registers.
struct Work {
  double issues = 0;   ///< instructions of a subgroup, on any pipe
  double floats = 0;   ///< arithmetic of a thread on f32 and narrower floats
  double doubles = 0;  ///< on f64
  double integers = 0;
  double specials = 0;   ///< roots, powers, logarithms, angles, quotients
  double exchanges = 0;  ///< shuffles within a subgroup
  double barriers = 0;
  std::map<uint32_t, double>
      atoms;  ///< matrix products, by the atom's id; of several subgroups: once

  Work& operator+=(const Work& other);
};

/// Counts the work of one subgroup.
Work count_work(const sdk::ProgramView& program, const SubgroupTrace& trace,
                const Capabilities& device);

/// Roots, powers, logarithms, angles, quotients.
bool is_special(const sdk::OpInfo& info);

/// Iterations of a loop that overlap: compilers unroll a body without loops and barriers.
double unrolled_trips(const sdk::ProgramView& program, const SubgroupTrace& trace, uint32_t loop,
                      uint32_t close);

/// Clocks that one subgroup takes alone.
struct Waits {
  double path = 0;    ///< the critical path
  double memory = 0;  ///< the part that waits for memory and barriers
};
/// `misses` as in Traffic. `busy`: clocks for which its workgroup and concurrent ones keep the
/// pipes busy, during which earlier asynchronous copies arrive.
Waits longest_path(const sdk::ProgramView& program, const SubgroupTrace& trace, const Rates& rates,
                   const std::map<uint32_t, double>& misses, double busy);

}  // namespace tenon
