// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a case should give, and whether what came is one of the right answers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conformance/cases/case.hpp"
#include "core/interval/interval.hpp"

namespace tenon::conformance::judge {

using Expectation = std::vector<IntervalArray>;  ///< of each output

Expectation expect(const Case& test, const Profile& profile);

/// Why the case would say little: a quarter of its elements in wide intervals, or nine in ten zero
/// (bools: all of them false). Empty if it says enough. A mismatch is a failure all the same.
std::string vacuity(const Expectation& expectation);

struct Comparison {
  std::optional<std::string> mismatch;  ///< "output 0 [3, 4]: expected ..., got ... (n of m wrong)"
  double worst_ulp = 0;
  int64_t worst_index = -1;  ///< flat, of output 0; -1 if every element has the value's bits
};
Comparison compare(const Expectation& expectation, const std::vector<Array>& got,
                   const Profile& profile);

bool is_right(const IntervalArray& expected, int64_t i, const Scalar& mine, const Profile& profile);
/// A value, and the byte of a bool that is neither true nor false.
std::string got_text(const Scalar& mine);
/// Wrong elements, of all outputs, in which every byte is what memory was filled with.
int64_t still_poisoned(const Expectation& expectation, const std::vector<Array>& got,
                       const Profile& profile, uint8_t poison);

/// Empty if both runs gave the same bits.
std::string first_difference(const std::vector<Array>& a, const std::vector<Array>& b);

/// "[3, 4]" of a flat index.
std::string position_text(int64_t index, const std::vector<int64_t>& shape);

}  // namespace tenon::conformance::judge
