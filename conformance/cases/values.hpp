// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes the values of inputs: by mode, inside a domain that suits the ops that will read them.
#pragma once

#include "conformance/cases/case.hpp"
#include "conformance/cases/random.hpp"

namespace tenon::conformance {

/// Where the conditioned values of one param lie.
struct Domain {
  double low = -16, high = 16;
  double smallest = 0;      ///< magnitudes below it are not drawn: operands of a reciprocal
  bool bounded = false;     ///< special values stay inside [low, high] too: indices, shift counts
  bool tied = false;        ///< often equal to a value of the other tied operand: comparisons
  bool exhaustive = false;  ///< every code of an 8- or 16-bit dtype in order, again and again
};

/// Every code of the array is legal for its dtype (bool holds 0 or 1).
void fill(Array& array, const Domain& domain, ValueMode mode, Random& random);

/// The edges of a dtype: zeros, ones, extremes, subnormals, NaN, infinities, powers of two and
/// their neighbours.
const std::vector<uint64_t>& lattice(DType dtype);

}  // namespace tenon::conformance
