// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contractions: sums of products of two operands, as matrix products and convolutions.
#pragma once

#include "core/kernel/templates/schedule_builder.hpp"

namespace tenon {

/// One sum over a perfect nest, of products of two factors. A factor is a load, or is computed from
/// several loads, as quantised weights are. The column operand depends on the innermost parallel
/// axis.
struct Contraction {
  std::vector<int> batch;          ///< parallel axes of both operands or neither, outermost first
  std::vector<int> rows, columns;  ///< parallel axes of one operand
  std::vector<int> sum;            ///< all reduce axes
  KValueRef row, column;           ///< the loads; of several the one that depends on most axes
  KValueRef row_value, column_value;  ///< the factors
};

/// True if a load's index or mask depends on the axis.
bool uses(const ScheduleBuilder& builder, const KValueRef& v, int axis);

std::optional<Contraction> find_contraction(const ScheduleBuilder& builder, const Statement& nest);

/// The largest constant by which an index or mask of the loads divides the axis; 1 if there is
/// none.
int64_t divisor_of(const ScheduleBuilder& builder, const std::vector<KValueRef>& loads, int axis);

enum class Divided { kSum, kColumns };
/// Splits the reduce axes, or the columns, of a contraction by the constants that indices divide
/// them by, as the taps and pixels of a convolution written as a matrix product. `place`: index of
/// the statement in the kernel's body.
void split_divided(ScheduleBuilder& builder, size_t place, Divided which);

/// Rows of a register tile: near `most`, with a small remainder.
int64_t tile_rows(int64_t most, const Expr& extent);

/// Vectorises the copy into the last staged tile: along its source, or in squares that are
/// transposed in registers.
void pack_last_tile(ScheduleBuilder& builder, int64_t lanes);

/// Packs rows and columns for a block of the sum at a time, with lanes along the last column axis.
/// Returns false and does nothing if no part of the result fits the cache.
bool schedule_packed(ScheduleBuilder& builder, const Contraction& c);

/// Convolutions: the column operand is a view of windows that overlap or cross an edge.
bool schedule_convolution(ScheduleBuilder& builder, int axis);

}  // namespace tenon
