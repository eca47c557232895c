// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compute_at of a running reduction: a tile holds the prefix results.
#pragma once

#include "core/kernel/transforms/apply.hpp"

namespace tenon {

/// Moves the parallel loops between A and the running reduction over R inside R. A tile holds the
/// prefix result of each of their positions.
Refused compute_at_scan(const StepOf<transforms::ComputeAt>& step);

}  // namespace tenon
