// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A compiled kernel of a schedule: the arguments and the grid of its launches.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/device/device.hpp"
#include "core/lower/lower.hpp"
#include "core/schedule/canonical.hpp"
#include "core/schedule/schedule.hpp"

namespace tenon {

struct CompiledKernel {
  LoweredKernel lowered;
  ExecutableRef executable;
};

/// One tn_argument: a buffer of the schedule, or a scalar computed from the symbols.
struct ArgumentPlan {
  int buffer = -1;  ///< -1: `value`
  Expr value;
  uint32_t bytes = 8;  ///< of the scalar
};

struct KernelPlan {
  std::string name;  ///< of the program
  ExecutableRef executable;
  std::array<Expr, 3> grid{Expr(1), Expr(1), Expr(1)};
  std::array<uint32_t, 3> block{1, 1, 1};
  std::vector<ArgumentPlan> arguments;
  std::vector<IndexBound> index_bounds;
  std::optional<LoopBound> loop_bound;
};

/// The plan of a kernel that was compiled under canonical names.
KernelPlan kernel_plan(const CompiledKernel& kernel, const CanonicalKernel& names,
                       const KernelCall& call);

}  // namespace tenon
