// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Places barriers between accesses of threads to tiles in shared memory.
#pragma once

#include <span>

#include "core/kernel/tree/shared_tiles.hpp"
#include "core/lower/launch_dims.hpp"

namespace tenon {

class TileBarriers {
 public:
  TileBarriers(const Kernel& kernel, const LaunchDims& launch);

  /// True if a barrier is needed between two groups of statements. `around`: the enclosing
  /// reduction, if any.
  bool needed(std::span<const Statement> before, std::span<const Statement> after,
              const Statement* around) const;
  /// True if a barrier is needed between iterations of a loop.
  bool needed_between_iterations(const Statement& loop, const Statement* around) const;

 private:
  const Kernel& kernel_;
  const LaunchDims& launch_;
  const bool any_;  ///< there are shared tiles and more than one thread
};

}  // namespace tenon
