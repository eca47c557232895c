// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A maximum of products and the sums that follow it, as attention has them: what its recipes share.
#pragma once

#include "core/kernel/templates/schedule_builder.hpp"

namespace tenon {

/// A maximum over keys of products of queries and keys.
struct AttentionAxes {
  std::vector<int> batch;  ///< parallel axes that the keys follow too
  std::vector<int> rows;   ///< those that the queries follow alone: positions, heads of a group
  int keys = -1;
};

/// Nothing where the nest is no such thing.
std::optional<AttentionAxes> find_attention(ScheduleBuilder& builder, int axis);

/// The recipes: false where they do not apply, what they did until then to be thrown away.
bool attention_on_vectors(ScheduleBuilder& builder, const AttentionAxes& found, int axis);
bool attention_on_matrix_units(ScheduleBuilder& builder, const AttentionAxes& found);
bool attention_on_threads(ScheduleBuilder& builder, const AttentionAxes& found);
/// Of processors, for fewer queries than lanes, as when a model writes word by word.
bool schedule_few_queries(ScheduleBuilder& builder, const AttentionAxes& found, int64_t lanes);

/// The last of the rows with at least so many positions, to be split; -1: none has.
int queries_of(const ScheduleBuilder& builder, const AttentionAxes& found, int64_t least);
/// The other loops around, outermost first.
std::vector<int> loops_around(const AttentionAxes& found, int queries);

/// A workgroup for each tile of the queries and each of the loops around.
void bind_workgroups(ScheduleBuilder& builder, int tiles, const std::vector<int>& around);

/// Whether what a load reads depends on the axis.
bool follows(const KValueRef& v, const KernelAxis& axis);

/// Axes of the loops of a body.
std::vector<int> nests(const std::vector<Statement>& body);

/// Loops before and after those over blocks, the loop over blocks, and what stands in it: the
/// scores, the maxima, the powers, then the sums with loops of their own.
struct AttentionParts {
  std::vector<int> ends;
  int blocks = -1;
  std::vector<const Statement*> inside;
};
AttentionParts attention_parts(ScheduleBuilder& builder, int at);

/// The first reduction in a part; null if there is none.
const Statement* reduction_in(const Statement& part);

/// The largest block of up to `most` that leaves nothing over, in multiples of `unit`; else `most`.
int64_t block_of(const Expr& extent, int64_t most, int64_t unit);

/// Vectors of an axis, shorter ones where it is short; as many as divide it, up to `most`, are
/// unrolled. Gives the loop around them.
int vectors_of(ScheduleBuilder& builder, int axis, int64_t lanes, int64_t most);

/// Stores along the innermost loops of a part before or after the blocks.
void schedule_attention_end(ScheduleBuilder& builder, int axis, int64_t lanes);

}  // namespace tenon
