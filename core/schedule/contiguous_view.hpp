// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Views of a memory-only device's buffers: consecutive elements are copied alone, the rest computed
// where the data go.
#pragma once

#include "core/schedule/node_analysis.hpp"

namespace tenon::scheduling {

/// A reshape, or a shrink whose elements follow one another in its source.
bool is_range(const Node& node);

/// What a COPY reads: `size(copy)` elements of the buffer of node `base`, from `offset` on.
struct CopiedRange {
  int base = -1;
  Expr offset;  ///< elements
};
CopiedRange copied_range(const SchedulerInput& input, int copy);

}  // namespace tenon::scheduling
