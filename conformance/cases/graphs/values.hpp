// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes the values of inputs: by mode, inside a domain that suits the ops that will read them.
#pragma once

#include "conformance/cases/case.hpp"
#include "conformance/cases/random.hpp"

namespace tenon::conformance::graphs {

/// How a second operand often relates to the first.
enum class Tie : uint8_t {
  kNone,
  kEqual,   ///< the same, or a neighbour: comparisons, max
  kCancel,  ///< minus the first, or minus a neighbour: sums that vanish
  kScale,   ///< products and quotients at the edges of the exponent range
};

/// Where the values of one param lie.
struct Domain {
  double low = -16, high = 16;
  double smallest = 0;      ///< magnitudes below it are not drawn: operands of a reciprocal
  bool bounded = false;     ///< special values stay inside [low, high] too: trip counts
  bool exhaustive = false;  ///< every code of an 8- or 16-bit dtype in order, again and again
  /// Of single-op cells: conditioned values may be any finite ones, as nothing comes after the op.
  bool wide = false;
  /// Special values are a few only: shift counts and divisors that leave something of the rest.
  bool small_share = false;
  bool summed = false;     ///< terms of a reduction: one NaN says as much as many
  bool one_sided = false;  ///< some cases have values of one sign only
  bool odd = false;        ///< integers are: long products of others are zero
  Tie tie = Tie::kNone;
  /// Positions along an axis of so many elements; -1 for ordinary values.
  int64_t positions = -1;
  /// Finite values where the op that reads them is likely to be wrong; lives for ever.
  const std::vector<uint64_t>* edges = nullptr;
};

/// Every code of the array is legal for its dtype (bool holds 0 or 1).
void fill(Array& array, const Domain& domain, ValueMode mode, Random& random);

/// Some elements of the later tied arrays follow from elements of the first one.
void tie(std::vector<Array>& inputs, const std::vector<Domain>& domains, Random& random);

}  // namespace tenon::conformance::graphs
