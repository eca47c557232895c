// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/cli/check.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/interval/allowed_ulps.hpp"

namespace tenon::cli {
namespace {

void note(double ulp, double allowed, CheckResult& result) {
  if (ulp == 0) return;
  result.share = std::max(result.share, ulp / allowed);  // infinity where no error is allowed
  if (ulp <= result.max_ulp) return;
  result.max_ulp = ulp;
  result.allowed_ulp = allowed;
}

}  // namespace

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
        note(ulp_distance(value, reference), allowed_ulps(expected[output], i), result);
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
