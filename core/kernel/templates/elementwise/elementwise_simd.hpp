// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the recipes for nests on processors with vector registers share.
#pragma once

#include "core/kernel/templates/schedule_builder.hpp"

namespace tenon {

/// Bytes of a row that are taken at a time: a page, in which the processor reads ahead.
inline constexpr int64_t kPageBytes = 4096;

/// Lanes for an axis: a register's, fewer for a short axis, 1 where vectors do not pay.
int64_t lanes_for(const ScheduleBuilder& builder, const Statement& s, int axis);

/// How well the accesses below a statement suit lanes along an axis; below 0: not at all.
int vector_score(const ScheduleBuilder& builder, const Statement& s, int axis);

/// Splits an axis into (loop, copies, lanes); gives the loop.
int vector_split(ScheduleBuilder& builder, int axis, int64_t lanes, int64_t copies);

/// Spreads a loop over workgroups that each move what a private cache holds.
void spread(ScheduleBuilder& builder, int axis);

/// The outermost axis, made longer by the next ones while it cannot feed every core.
int widen(ScheduleBuilder& builder, int axis);

}  // namespace tenon
