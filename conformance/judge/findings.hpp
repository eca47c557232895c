// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a report shows of a comparison: wrong elements one by one, and errors over the operand.
#pragma once

#include "conformance/judge/compare.hpp"

namespace tenon::conformance::judge {

/// The first wrong elements, as Outcome::diff says.
std::string diff_of(const Expectation& expectation, const std::vector<Array>& got,
                    const Profile& profile);

/// Of a unary float op or cast between floats right on its input: the worst errors, at most one a
/// bucket of the operand, of elements without the reference's bits. Empty for any other case.
std::vector<UlpSample> worst_ulps(const Case& test, const Expectation& expectation,
                                  const std::vector<Array>& got);

}  // namespace tenon::conformance::judge
