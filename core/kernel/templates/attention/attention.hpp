// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention: helpers that its templates share.
#pragma once

#include "core/kernel/templates/schedule_builder.hpp"

namespace tenon {

/// Axes of a maximum, over keys, of products of queries and keys.
struct AttentionAxes {
  std::vector<int> batch;  ///< parallel axes that the keys depend on
  std::vector<int> rows;   ///< parallel axes of the queries alone: positions, heads of a group
  int keys = -1;
};

/// Nothing if the nest is not attention.
std::optional<AttentionAxes> find_attention(ScheduleBuilder& builder, int axis);

/// Templates. They return false if they do not apply; the caller discards their steps.
bool attention_on_vectors(ScheduleBuilder& builder, const AttentionAxes& found, int axis);
bool attention_on_matrix_units(ScheduleBuilder& builder, const AttentionAxes& found);
bool attention_on_threads(ScheduleBuilder& builder, const AttentionAxes& found);
/// For SIMD processors and fewer queries than lanes, as in decoding word by word.
bool schedule_few_queries(ScheduleBuilder& builder, const AttentionAxes& found, int64_t lanes);

/// The last of the row axes with at least `least` positions; -1 if there is none.
int queries_of(const ScheduleBuilder& builder, const AttentionAxes& found, int64_t least);
/// The other parallel loops, outermost first.
std::vector<int> loops_around(const AttentionAxes& found, int queries);

/// Binds a workgroup to each tile of queries and each iteration of the loops around.
void bind_workgroups(ScheduleBuilder& builder, int tiles, const std::vector<int>& around);

/// True if a load's index or mask depends on the axis.
bool depends_on(const KValueRef& v, const KernelAxis& axis);

/// Axes of the loops of a body.
std::vector<int> nests(const std::vector<Statement>& body);

/// The loops that online_softmax made: those before and after the loop over blocks, that loop, and
/// its body (scores, maxima, powers, then the sums with own loops).
struct AttentionParts {
  std::vector<int> ends;
  int blocks = -1;
  std::vector<const Statement*> block_parts;
};
AttentionParts attention_parts(ScheduleBuilder& builder, int at);

/// The first reduction in a statement; null if there is none.
const Statement* reduction_in(const Statement& part);

/// The largest block in [most / 2, most], a multiple of `unit`, that divides the extent; else
/// `most`.
int64_t block_of(const Expr& extent, int64_t most, int64_t unit);

/// Vectorises an axis, with fewer lanes if it is short, and unrolls up to `most` vectors that
/// divide it. Returns the loop around them.
int vectors_of(ScheduleBuilder& builder, int axis, int64_t lanes, int64_t most);

/// Vectorises the innermost loops of a part before or after the blocks.
void schedule_attention_end(ScheduleBuilder& builder, int axis, int64_t lanes);

}  // namespace tenon
