// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Helpers of the templates for SIMD processors.
#pragma once

#include "core/kernel/templates/schedule_builder.hpp"

namespace tenon {

/// Bytes of a row that are taken at a time: a page, within which the hardware prefetches.
inline constexpr int64_t kPageBytes = 4096;

/// Lanes for an axis: a register's, fewer for a short axis, 1 if vectors do not pay.
int64_t lanes_for(const ScheduleBuilder& builder, const Statement& s, int axis);

/// Score of vectorising a statement along an axis, by its strides; below 0: do not.
int vector_score(const ScheduleBuilder& builder, const Statement& s, int axis);

/// Splits an axis into (loop, unrolled copies, lanes). Returns the loop.
int vector_split(ScheduleBuilder& builder, int axis, int64_t lanes, int64_t copies);

/// Binds a loop to workgroups that each move about a private cache of data.
void spread(ScheduleBuilder& builder, int axis);

/// Fuses the outermost axis with the next ones while it has too few iterations for all cores.
int widen(ScheduleBuilder& builder, int axis);

}  // namespace tenon
