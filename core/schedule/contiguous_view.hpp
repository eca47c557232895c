// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Views of buffers on a memory-only device. A contiguous view becomes a copy of that range. Any
// other view is computed on the destination device.
#pragma once

#include "core/schedule/node_analysis.hpp"

namespace tenon::scheduling {

/// True for a reshape, and for a shrink whose elements are contiguous in its source.
bool is_range(const Node& node);

/// The range that a COPY reads: `size(copy)` elements of node `base`'s buffer from `offset` on.
struct CopiedRange {
  int base = -1;
  Expr offset;  ///< elements
};
CopiedRange copied_range(const SchedulerInput& input, int copy);

}  // namespace tenon::scheduling
