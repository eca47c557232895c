// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A maximum of products and the sums that follow it, as attention has them: what its recipes share.
#pragma once

#include "core/kernel/heuristics/schedule_builder.hpp"

namespace tenon {

struct Chained {
  std::vector<int> batch;
  int queries = -1, keys = -1;
  int query_buffer = -1;
};

/// Nothing where the nest is no such thing.
std::optional<Chained> find_chained(ScheduleBuilder& builder, int axis);

/// The recipes: false where they do not apply, what they did until then to be thrown away.
bool chained_on_vectors(ScheduleBuilder& builder, const Chained& found, int axis);
bool chained_on_threads(ScheduleBuilder& builder, const Chained& found);

/// Axes of the loops of a body.
std::vector<int> nests(const std::vector<Statement>& body);

}  // namespace tenon
