// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Holds a device's outputs against the error intervals of the reference.
#pragma once

#include <string>
#include <vector>

#include "core/ir/capabilities.hpp"
#include "frontend/cli/inputs.hpp"

namespace tenon::cli {

struct CheckResult {
  bool ok = true;
  double max_ulp = 0;  ///< largest distance from the reference's value, accepted or not
  double max_abs = 0;
  /// What the device's profile allows to the element of max_ulp; infinity where anything goes.
  double allowed_ulp = 0;
  double share = 0;    ///< the largest part of what is allowed to it that an element makes use of
  std::string reason;  ///< the first element that is not accepted
};

CheckResult check_outputs(const Graph& graph, const GraphInputs& inputs,
                          const std::vector<Array>& got, const Capabilities& capabilities);

}  // namespace tenon::cli
