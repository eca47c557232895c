// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/cli/check.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/reference/interval.hpp"

namespace tenon::cli {

CheckResult check_outputs(const Graph& graph, const GraphInputs& inputs,
                          const std::vector<Array>& got, const Capabilities& capabilities) {
  CheckResult result;
  const Profile profile = Profile::of(capabilities);
  const std::vector<IntervalArray> expected =
      evaluate_intervals(graph, inputs.arrays, inputs.symbols, profile);
  for (size_t output = 0; output < expected.size(); ++output) {
    for (int64_t i = 0; i < got[output].count(); ++i) {
      const Scalar value = got[output].at(i);
      const Scalar reference = expected[output].value.at(i);
      const double distance = std::abs(value.as_double() - reference.as_double());
      if (std::isfinite(distance)) {
        result.max_ulp = std::max(result.max_ulp, ulp_distance(value, reference));
        result.max_abs = std::max(result.max_abs, distance);
      }
      if (accepts(expected[output], i, value, profile)) continue;
      if (result.ok) {
        const Interval range = expected[output].at(i);
        result.reason =
            fmt::format("output {} element {}: expected {} in [{}, {}], got {}", output, i,
                        to_string(reference), range.low, range.high, to_string(value));
      }
      result.ok = false;
    }
  }
  return result;
}

}  // namespace tenon::cli
