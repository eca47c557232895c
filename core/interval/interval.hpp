// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a correct device may answer: an interval for each element, propagated through a graph.
//
// The interval of a node is the image of its operands' intervals, widened by the error that the
// device's profile allows to the op (docs/conformance.md). An optional op that the device does not
// claim may also be computed as the core decomposes it. Where an operand's interval straddles a
// boundary (a comparison, a cast to an integer, an index) the element is in doubt, and says what it
// may be.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/ir/capabilities.hpp"
#include "core/ir/node.hpp"
#include "core/reference/reference.hpp"

namespace tenon {

/// What a device declares about its numbers.
struct Profile {
  bool strict = true;
  uint32_t numerics = 0;                 ///< Numerics
  std::array<uint64_t, 8> native_ops{};  ///< claimed optional ops; the others may be decomposed
  std::array<bool, 32> arithmetic{};     ///< by dtype: computed in it, not in a wider one
  bool cuts_sums = false;                ///< an atom truncates: sums in f32 may be cut, not rounded
  /// By dtype of the factors: dot products count subnormal ones, and subnormal sums, as zero.
  std::array<bool, 32> dots_flush{};

  bool has(Op op) const {
    const auto code = static_cast<uint32_t>(op);
    return code < 512 && (native_ops[code >> 6] >> (code & 63) & 1);
  }
  static Profile of(const Capabilities& capabilities);
};

/// An accepted set of values: the numbers of [low, high], and NaN if `nan`. Empty if low > high.
/// Zeros keep their sign: [-0, -0] is only -0.
struct Interval {
  double low = 0, high = 0;
  bool nan = false;
  bool any = false;  ///< nothing is known: every value is accepted
};

/// The reference's values and what may stand in their place.
struct IntervalArray {
  Array value;
  /// Empty where every element must have the value's bits (any NaN for NaN): then nothing was in
  /// doubt.
  std::vector<Interval> range;
  /// By element, parallel to `range`: 1 where an integer or bool is not pinned, so that `range`
  /// and not the value's bits decides. Floats always go by `range`.
  std::vector<uint8_t> doubt;
  bool rounded = false;  ///< a MUL that rounded: a reduction may fuse it and skip that rounding

  bool exact() const { return range.empty(); }
  Interval at(int64_t i) const;  ///< of element i, also when exact()
};

/// Runs a graph as `evaluate` does, and throws as it does. Symbols as there.
std::vector<IntervalArray> evaluate_intervals(const Graph& graph, const std::vector<Array>& inputs,
                                              const SymbolValues& symbols, const Profile& profile);

/// Whether a device that declares the profile may answer `got` for element i.
bool accepts(const IntervalArray& expected, int64_t i, const Scalar& got, const Profile& profile);

/// Width over magnitude: 0 for one value, infinity where anything goes. Over 0.05 a test says
/// little.
double relative_width(const IntervalArray& expected, int64_t i);

/// |got - value| in units in the last place of the array's dtype; 0 for equal and for NaN both.
double ulp_distance(const Scalar& got, const Scalar& value);

}  // namespace tenon
