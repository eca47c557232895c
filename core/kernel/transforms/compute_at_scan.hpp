// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sink of a running reduction: the results so far wait in a tile.
#pragma once

#include "core/kernel/transforms/apply.hpp"

namespace tenon {

/// Parallel loops between A and the reduction over R run inside R, over a tile that holds the
/// result so far for each of their positions.
Refused compute_at_scan(const StepOf<transforms::ComputeAt>& step);

}  // namespace tenon
