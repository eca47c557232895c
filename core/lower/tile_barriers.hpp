// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where threads must meet, as some fill tiles in shared memory that others take.
#pragma once

#include <span>

#include "core/kernel/tree/shared_tiles.hpp"
#include "core/lower/launch_places.hpp"

namespace tenon {

class TileBarriers {
 public:
  TileBarriers(const Kernel& kernel, const LaunchPlaces& places);

  /// Whether a barrier belongs between statements and some that follow them. `around`: the
  /// reduction that the walk is in, if any.
  bool part(std::span<const Statement> before, std::span<const Statement> after,
            const Statement* around) const;
  /// Whether one belongs between an iteration of a loop and the next.
  bool part_iterations(const Statement& loop, const Statement* around) const;

 private:
  const Kernel& kernel_;
  const LaunchPlaces& places_;
  const bool any_;  ///< there are tiles, and threads that share them
};

}  // namespace tenon
