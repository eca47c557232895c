// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dot-product instructions: a reduce loop bound to `dot` is one DOT of adjacent elements.
#pragma once

#include <optional>

#include "core/ir/capabilities.hpp"
#include "core/kernel/tree/kernel.hpp"

namespace tenon {

/// The reduce axis that is bound to dot; -1 if there is none.
int dot_axis(const Statement& reduction, const Kernel& kernel);

/// Checks that the iterations of the reduce axis can be one DOT: a sum of products of two narrower
/// loads, contiguous along the axis, with the vector lanes next. Returns what was expected, or an
/// empty string.
std::string check_dot(Kernel& kernel, const Statement& reduction, int axis);

/// The operands of a DOT.
struct DotFactors {
  KValueRef x, y;
  /// Both are signed and the device takes an unsigned x: x is biased by -lowest(dtype), and the
  /// bias times y is subtracted.
  bool biased = false;
};
/// For a reduction that passed check_dot. Nothing if the device has no such dot product.
std::optional<DotFactors> dot_factors(const Kernel& kernel, const Statement& reduction, int axis,
                                      const Capabilities& capabilities);
/// The device's dot product for these dtypes, regardless of loops; null if it has none.
const DotAtom* find_dot(DType x, DType y, const ReduceState& sum, const Capabilities& capabilities);

}  // namespace tenon
