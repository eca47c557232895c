// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Holds a device's outputs against the error intervals of the reference.
#pragma once

#include <string>
#include <vector>

#include "core/cli/inputs.hpp"
#include "core/ir/capabilities.hpp"

namespace tenon::cli {

struct CheckResult {
  bool ok = true;
  double max_ulp = 0;  ///< largest distance from the reference's value, accepted or not
  double max_abs = 0;
  std::string reason;  ///< the first element that is not accepted
};

CheckResult check_outputs(const Graph& graph, const GraphInputs& inputs,
                          const std::vector<Array>& got, const Capabilities& capabilities);

}  // namespace tenon::cli
