// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sum of products as dot products of neighbours take it: a reduce loop bound to `dot`, whose
// iterations are one DOT.
#pragma once

#include <optional>

#include "core/ir/capabilities.hpp"
#include "core/kernel/tree/kernel.hpp"

namespace tenon {

/// The reduce axis of a reduction that is bound to dot; -1 if none is.
int dot_axis(const Statement& reduction, const Kernel& kernel);

/// Empty if the iterations of the reduce axis can be one DOT: the step of a sum of products of
/// two narrower loads, whose elements lie side by side along the axis and its lanes after one
/// another; else what was expected.
std::string check_dot(Kernel& kernel, const Statement& reduction, int axis);

/// The loads that a DOT multiplies, of a reduction that check_dot found in order.
struct DotFactors {
  KValueRef x, y;
  /// Both are signed, and the device's x is not: x plus the smallest number's magnitude is
  /// multiplied, and what that adds is taken away.
  bool biased = false;
};
/// Nothing if the device has no such dot product.
std::optional<DotFactors> dot_factors(const Kernel& kernel, const Statement& reduction, int axis,
                                      const Capabilities& capabilities);
/// As for a sum of products of these dtypes, whatever its loops: null if the device has none.
const DotAtom* find_dot(DType x, DType y, const ReduceState& sum, const Capabilities& capabilities);

}  // namespace tenon
