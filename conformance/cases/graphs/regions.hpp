// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An IF and a LOOP with small regions, for any dtype.
#pragma once

#include "core/ir/build.hpp"

namespace tenon::conformance::graphs {

/// condition ? x + 1 : max(x, 1)
NodeRef branch_on(Builder& build, const NodeRef& condition, const NodeRef& x);
/// x, to which `step` is added so often; if `is_while`, three times at most. Of bools: max.
NodeRef loop_over(Builder& build, const NodeRef& trips, const NodeRef& x, const NodeRef& step,
                  bool is_while);

}  // namespace tenon::conformance::graphs
