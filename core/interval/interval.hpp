// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Interval arithmetic on graphs: the accepted results of a correct device, for each element.
//
// The interval of a node is the image of its operands' intervals, widened by the error that the
// device's profile allows the op (docs/conformance.md). An optional op that the device does not
// claim may also be decomposed as the core does. If an operand's interval straddles a boundary (of
// a comparison, a cast to an integer, an index), the element is in doubt, and its range decides.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/ir/capabilities.hpp"
#include "core/ir/node.hpp"
#include "core/reference/reference.hpp"

namespace tenon {

/// The numerics that a device declares.
struct Profile {
  bool strict = true;
  uint32_t numerics = 0;                 ///< Numerics
  std::array<uint64_t, 8> native_ops{};  ///< claimed optional ops; the others may be decomposed
  std::array<bool, 32> arithmetic{};     ///< by dtype: computed in it, not in a wider one
  bool cuts_sums = false;                ///< matrix atoms may truncate f32 sums instead of rounding
  /// By dtype of the factors: dot products flush subnormal factors and sums to zero.
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
  bool any = false;  ///< every value is accepted
};

/// The reference's values and the accepted ranges.
struct IntervalArray {
  Array value;
  /// Empty if every element must have the value's bits (any NaN for NaN).
  std::vector<Interval> range;
  /// For each element, 1 if an integer or bool is accepted by `range` instead of the value's bits.
  /// Floats are always accepted by `range`.
  std::vector<uint8_t> doubt;
  bool rounded =
      false;  ///< a MUL that rounds: a reduction may fuse it (FMA) and skip that rounding

  bool exact() const { return range.empty(); }
  Interval at(int64_t i) const;  ///< of element i, also when exact()
};

/// Evaluates a graph as `evaluate` (core/reference) does, with intervals; throws as it does.
std::vector<IntervalArray> evaluate_intervals(const Graph& graph, const std::vector<Array>& inputs,
                                              const SymbolValues& symbols, const Profile& profile);

/// True if a device with the profile may answer `got` for element i.
bool accepts(const IntervalArray& expected, int64_t i, const Scalar& got, const Profile& profile);

/// Width over magnitude: 0 for one value, infinity if every value is accepted. Above 0.05 a test
/// says little.
double relative_width(const IntervalArray& expected, int64_t i);

/// |got - value| in units in the last place of the dtype; 0 if both are equal or NaN.
double ulp_distance(const Scalar& got, const Scalar& value);

}  // namespace tenon
