// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of products of two operands: products of matrices, batched, masked, and those of windows.
#pragma once

#include "core/kernel/templates/schedule_builder.hpp"

namespace tenon {

/// One sum over a chain of loops, of two loads, or of products of two factors that loads of their
/// own make, as weights are computed from their bits. The columns are what follows the innermost
/// parallel axis.
struct Contraction {
  std::vector<int> batch;             ///< parallel axes that both operands follow, or neither
  std::vector<int> rows, columns;     ///< parallel axes that one of them follows
  std::vector<int> sum;               ///< reduce axes; all, as all others here, outermost first
  KValueRef row, column;              ///< the loads; of several the one that moves most
  KValueRef row_value, column_value;  ///< the factors that several loads make, else the loads
};

/// Whether what a load reads, or whether it does, varies along an axis.
bool uses(const ScheduleBuilder& builder, const KValueRef& v, int axis);

std::optional<Contraction> find_contraction(const ScheduleBuilder& builder, const Statement& nest);

/// The largest number that an index or a mask of these loads divides the axis by; 1 if none.
int64_t divisor_of(const ScheduleBuilder& builder, const std::vector<KValueRef>& loads, int axis);

enum class Divided { kSum, kColumns };
/// Splits the axes of the sum, or the columns, that an index divides, as the taps and the pixels of
/// a convolution that is written as a product of matrices, into those that it asks for: of the
/// statement at a place of the body.
void split_divided(ScheduleBuilder& builder, size_t place, Divided which);

/// Rows of a tile of accumulators: near the number that fills the registers, with little left over
/// at the end.
int64_t tile_rows(int64_t most, const Expr& extent);

/// The copy into the tile that was staged last, in vectors: along its source, or across it in
/// squares that are turned in registers.
void pack_last_tile(ScheduleBuilder& builder, int64_t lanes);

/// Rows and columns packed for a block of the sum at a time, lanes along the last columns; false,
/// and nothing done, if no part of the result has room for that.
bool schedule_packed(ScheduleBuilder& builder, const Contraction& c);

/// Of schedule_matmul: the operand of the columns is a view of windows, which overlap or reach over
/// an edge.
bool schedule_windows(ScheduleBuilder& builder, int axis);

}  // namespace tenon
