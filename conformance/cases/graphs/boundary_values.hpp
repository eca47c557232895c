// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values at which implementations go wrong, as bits of their dtype.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ir/dtype.hpp"
#include "core/ir/op.hpp"

namespace tenon::conformance::graphs {

/// The edges of a dtype: zeros, ones, extremes, subnormals, NaN, infinities, powers of two and
/// their neighbours.
const std::vector<uint64_t>& boundary_values(DType dtype);

/// The few of them that matter most, the plainest first: one, zeros, infinities, NaN, extremes, the
/// smallest normal and subnormal.
const std::vector<uint64_t>& core_values(DType dtype);

/// Finite operands at which this op is hard: log2 near one, sine at multiples of pi/2, casts
/// halfway between two values of `other` and at its ends, quotients of the extremes. Empty where
/// the op has none of its own.
const std::vector<uint64_t>& op_edges(Op op, DType dtype, DType other, int operand);

/// The neighbour away from zero, or toward it; zeros, infinities and NaN stay what they are.
uint64_t neighbour(uint64_t bits, DType dtype, bool away);

}  // namespace tenon::conformance::graphs
